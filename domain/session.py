"""The Session aggregate: the kernel plus decisions.

Embed it in an application of your own and save it beside your own aggregates, or use `Sessions`.
The decisions stand by topic in `decisions/`; the fold is the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, Unpack

from .aggregate import BODY_META, Meta, check_meta
from .bodies import StartBody, title_line
from .context import Context, build_context
from .decisions.anchors import AnchorDecisions
from .decisions.calls import CallDecisions
from .decisions.forks import ForkDecisions
from .decisions.marks import MarkDecisions
from .decisions.messages import MessageDecisions
from .decisions.repair import RepairDecisions
from .decisions.retraction import RetractionDecisions
from .decisions.tree import TreeDecisions
from .digests import mark_digest
from .errors import InvalidValue
from .events import Event
from .identifiers import Defaults
from .kernel import State
from .policies import Policy
from .tree import LEAF, LeafRef
from .view import Tapes, View, build_view


class Session(
    RepairDecisions,
    MessageDecisions,
    RetractionDecisions,
    CallDecisions,
    AnchorDecisions,
    TreeDecisions,
    MarkDecisions,
    ForkDecisions,
):
    """One session. Every command answers with an `Outcome`, or raises a `TapefoldError`."""

    @classmethod
    def start(
        cls,
        session_id: str | None = None,
        *,
        title: str | None = None,
        directory: str | None = None,
        owner: str | None = None,
        persist: bool = False,
        defaults: Defaults | None = None,
        tapes: Tapes | None = None,
        **meta: Unpack[Meta],
    ) -> Self:
        """A new session. Nothing is written before its first final message, anchor, fork or
        import; what is set before is held back and written with it. `persist` writes at once.
        """
        check_meta(meta)
        chosen = defaults or Defaults()
        title = title_line(title)
        if session_id is None:
            session_id = chosen.new_session_id()
        said = StartBody.build(title=title)
        values = {
            "title": title,
            "directory": directory,
            "owner": owner,
            "incarnation": chosen.new_incarnation(),
            **{name: value for name, value in meta.items() if name in BODY_META},
        }
        body = StartBody.build(**{k: v for k, v in values.items() if v is not None})
        head: dict[str, Any] = {} if title is None else {"digest": mark_digest(said)}
        session = cls._begin(
            session_id,
            body,
            head,
            meta,
            None,
            chosen,
            tapes,
        )
        session._worthy = persist
        return session

    @classmethod
    def from_events(
        cls,
        session_id: str,
        events: Iterable[Event],
        *,
        basis: State | None = None,
        defaults: Defaults | None = None,
        tapes: Tapes | None = None,
    ) -> Self:
        """A session rebuilt from its tape, in order, on a fork's `basis`."""
        session = cls(session_id, basis=basis, defaults=defaults, tapes=tapes)
        for event in events:
            session.apply(event)
        return session

    @classmethod
    def of_state(
        cls,
        state: State,
        basis: State | None,
        *,
        defaults: Defaults | None = None,
        tapes: Tapes | None = None,
    ) -> Self:
        """A session that goes on from a folded state; the state becomes its own."""
        session = cls(state.session_id, defaults=defaults, tapes=tapes)
        session.state = state
        session._basis = basis
        session._worthy = True
        return session

    def view(self, leaf: LeafRef = LEAF, *, include_pending: bool = False) -> View:
        """What the session says at a leaf. Needs the tape: see `tapes`. Raises `BasisMissing`."""
        if self._basis_error is not None:
            raise self._basis_error
        return build_view(self.state, _Own(self), leaf, include_pending)

    def context(self, policy: Policy | str = "anchored", leaf: LeafRef = LEAF) -> Context:
        """What a model is sent at a leaf."""
        return build_context(self.view(leaf), policy)


class _Own:
    """A session's own pending events, then the store."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def events_at(self, session_id: str, positions: Iterable[int]) -> Iterable[Event]:
        recent = self._session._recent if session_id == self._session.id else {}
        missing = []
        for position in positions:
            if position in recent:
                yield recent[position]
            else:
                missing.append(position)
        if missing:
            if self._session.tapes is None:
                raise InvalidValue(
                    f"session {session_id!r}: its tape is not attached; load the session with "
                    "Sessions or load_session()"
                )
            yield from self._session.tapes.events_at(session_id, missing)
