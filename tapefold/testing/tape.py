"""The scripted tape: any event, any shape, any order; with forks, and with all that reads it."""

from __future__ import annotations

from typing import Any, Self

from ..domain.context import Context, build_context
from ..domain.digests import mark_digest
from ..domain.events import SessionStarted
from ..domain.heads import DIRECTORY, Head, Origin
from ..domain.identifiers import Defaults
from ..domain.kernel import State
from ..domain.outline import Outline, build_outline
from ..domain.policies import Policy
from ..domain.session import Session
from ..domain.tree import LEAF, CurrentLeaf, LeafRef
from ..domain.view import View, build_view
from .defaults import counted_defaults
from .memory import MemoryTapes
from .recording import Recording
from .script import Script


class Tape(Script):
    """A tape in memory, written by short methods (`user`, `assistant`, `retract` …).

    Position 1 is a `SessionStarted`, unless `start` is false; its fields may be given.
    `tapes` holds this tape and its relatives: parents and forks.
    """

    def __init__(
        self,
        session_id: str = "s",
        *,
        start: bool = True,
        tapes: MemoryTapes | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(session_id, tapes)
        self.parent: Tape | None = None
        self._inherited_leaf: str | None = None
        self._inherited: dict[str, Head] = {}
        if start:
            if fields.get("title") is not None:
                fields.setdefault(
                    "digest", mark_digest(SessionStarted.BODY.build(title=fields["title"]))
                )
            if fields.get("directory") is not None:
                fields.setdefault("name", DIRECTORY)
            self.add(SessionStarted, **fields)

    @property
    def origin(self) -> Origin | None:
        """Where this tape was forked off, as its first event says."""
        return self.events[0].head.origin if self.events else None

    def copy(self) -> Self:
        """A tape of its own with the same past; parents and forks stay as they are."""
        other = type(self)(self.session_id, start=False, tapes=self.tapes.without(self.session_id))
        other.parent, other._count = self.parent, self._count
        other.leaf = other._inherited_leaf = self._inherited_leaf
        other._known, other._inherited = dict(self._inherited), self._inherited
        for event in self.events:
            other.append(event)
        return other

    # -- forks -----------------------------------------------------------------------------

    def fork(
        self,
        child_id: str | None = None,
        *,
        at: int | None = None,
        leaf: LeafRef = LEAF,
        inherit: bool = True,
        receipt: bool = True,
        **fields: Any,
    ) -> Self:
        """A child of this tape at position `at` (left out: the last), beginning at `leaf`
        (left out: this tape's leaf there). `receipt` writes the `Forked` event here, too.

        `fields` are those of the child's first event.
        """
        position = self.position if at is None else at
        then = self._replayed(position)
        start = then.leaf if isinstance(leaf, CurrentLeaf) else leaf
        child_id = child_id or f"{self.session_id}.{self.position + 1}"
        child = type(self)(child_id, start=False, tapes=self.tapes)
        child.parent = self
        child._count = self._count
        if inherit:
            child.leaf = child._inherited_leaf = start
            child._known, child._inherited = then._known, dict(then._known)
        if receipt:
            self.forked(child_id, position, leaf=start, inherit=inherit)
        origin = Origin(self.session_id, position, start, inherit)
        child.add(SessionStarted, **{"origin": origin, **fields})
        return child

    def leaf_at(self, position: int) -> str | None:
        """The leaf after the event at a position, as the builder keeps it."""
        return self._replayed(position).leaf

    def _replayed(self, position: int) -> Recording:
        then = Recording(self.session_id)
        then.leaf, then._known = self._inherited_leaf, dict(self._inherited)
        for event in self.events[:position]:
            then.append(event)
        return then

    def lineage(self, at: int | None = None) -> list[tuple[Tape, int]]:
        """(tape, last position that counts) from the oldest ancestor to this tape."""
        chain: list[tuple[Tape, int]] = [(self, self.position if at is None else at)]
        tape: Tape = self
        while tape.parent is not None and tape.origin is not None and tape.origin.inherit:
            chain.append((tape.parent, tape.origin.position))
            tape = tape.parent
        chain.reverse()
        return chain

    # -- reading ---------------------------------------------------------------------------

    @property
    def basis(self) -> State | None:
        """The frozen state that a fork inherits; None where it inherits nothing."""
        chain = self.lineage()[:-1]
        return _fold(chain) if chain else None

    def state(self, at: int | None = None) -> State:
        """The kernel's state after position `at` (left out: the last)."""
        return _fold(self.lineage(at)).copy()

    def view(
        self, leaf: LeafRef = LEAF, *, at: int | None = None, include_pending: bool = False
    ) -> View:
        """The view at a leaf and a position."""
        return build_view(self.state(at), self.tapes, leaf, include_pending)

    def context(
        self, policy: Policy | str = "anchored", *, leaf: LeafRef = LEAF, at: int | None = None
    ) -> Context:
        """The context at a leaf and a position."""
        return build_context(self.view(leaf, at=at), policy)

    def outline(self, leaf: LeafRef = LEAF, *, at: int | None = None) -> Outline:
        """The tree of this tape, drawn from a leaf."""
        return build_outline(self.state(at), self.tapes, leaf)

    def session(self, *, at: int | None = None, defaults: Defaults | None = None) -> Session:
        """The aggregate, rebuilt from this tape; new ids are counted on from the tape's."""
        return Session.from_events(
            self.session_id,
            self.events[:at],
            basis=self.basis,
            defaults=defaults or counted_defaults(self.made + 1),
            tapes=self.tapes,
        )


def _fold(chain: list[tuple[Tape, int]]) -> State:
    basis: State | None = None
    for tape, upto in chain:
        state = State(tape.session_id)
        state.inherit(basis)
        for event in tape.events[:upto]:
            state.apply(event)
        basis = state.freeze()
    assert basis is not None
    return basis
