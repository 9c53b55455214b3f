"""Labels, name, model, thinking level, usage, custom state."""

from __future__ import annotations

from typing import Any, Unpack

from ..aggregate import Aggregate, Meta, place_said
from ..bodies import (
    BodyBase,
    CustomBody,
    InfoBody,
    LabelBody,
    ModelBody,
    ThinkingBody,
    UsageBody,
    title_line,
)
from ..digests import mark_digest
from ..errors import InvalidValue
from ..events import (
    CustomRecorded,
    Event,
    Labelled,
    ModelChanged,
    SessionInfoChanged,
    ThinkingLevelChanged,
    UsageRecorded,
)
from ..heads import DIRECTORY
from ..nodes import Fact
from ..outcome import Outcome
from ..tree import LEAF, LeafRef, require_target


class MarkDecisions(Aggregate):
    """Small facts about entries and the session."""

    def label(self, target: str, text: str | None, **meta: Unpack[Meta]) -> Outcome:
        """Label an entry (or message), on whatever branch. None, or blank text, clears it.

        The newest label of an entry counts; the same again changes nothing.
        """
        self._check_usable()
        entry_id = require_target(self.state, target)
        if text is not None and not isinstance(text, str):
            raise InvalidValue("a label is text, or None to clear it")
        text = (text or "").strip() or None
        body = self._body(LabelBody, meta, label=text)
        current = self.state.labels.get(entry_id)
        return self._mark(
            Labelled, body, meta, current, text is None, entry_id, targets=(entry_id,)
        )

    def set_title(self, title: str | None, **meta: Unpack[Meta]) -> Outcome:
        """Name the session. None, or blank text, takes the name away; line breaks become spaces."""
        self._check_usable()
        text = title_line(title)
        body = self._body(InfoBody, meta, title=text)
        return self._mark(SessionInfoChanged, body, meta, self.state.name, text is None)

    def _mark(
        self,
        event: type[Event],
        body: BodyBase,
        meta: Meta,
        current: Fact | None,
        cleared: bool,
        entry_id: str | None = None,
        **head: Any,
    ) -> Outcome:
        """A mark of which only the newest counts."""
        digest = mark_digest(body)
        identities = {"entry_id": entry_id}
        repeated = self._repeated(event, meta, identities, digest)
        if repeated is not None:
            return repeated
        absent = cleared and (current is None or current.cleared)
        same = current is not None and not current.cleared and current.digest == digest
        if (absent or same) and meta.get("key") is None:
            return self._unchanged(entry_id, seq=current.seq if current else None)
        outcome = self._trigger(
            event, body, meta, identities, digest, digest=digest, cleared=cleared, **head
        )
        return Outcome(outcome.session_id, outcome.position, entry_id)

    def set_info(
        self, *, directory: str | None = None, data: Any = None, **meta: Unpack[Meta]
    ) -> Outcome:
        """Record other information on the session: its directory, data of the host's."""
        self._check_usable()
        body = self._body(InfoBody, meta, directory=directory, data=data)
        said = mark_digest(body)
        repeated = self._repeated(SessionInfoChanged, meta, {"info": True}, said)
        if repeated is not None:
            return repeated
        name = None if directory is None else DIRECTORY
        return self._trigger(SessionInfoChanged, body, meta, {"info": True}, said, name=name)

    def set_model(
        self,
        model: str,
        provider: str | None = None,
        *,
        under: LeafRef = LEAF,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """From here on, on this path, another model answers."""
        self._check_usable()
        if not isinstance(model, str) or not model:
            raise InvalidValue("a model's name is text, and not empty")
        body = self._body(ModelBody, meta, model=model, provider=provider)
        return self._setting(ModelChanged, body, under, meta)

    def set_thinking_level(
        self, level: str | None, *, under: LeafRef = LEAF, **meta: Unpack[Meta]
    ) -> Outcome:
        """From here on, on this path, the model thinks at this level; None: unset."""
        self._check_usable()
        body = self._body(ThinkingBody, meta, level=level)
        return self._setting(ThinkingLevelChanged, body, under, meta)

    def record_custom(
        self, namespace: str, data: Any = None, *, under: LeafRef = LEAF, **meta: Unpack[Meta]
    ) -> Outcome:
        """State of an extension, as an entry; never sent to a model."""
        self._check_usable()
        if not isinstance(namespace, str) or not namespace:
            raise InvalidValue("a namespace is text, and not empty")
        body = self._body(CustomBody, meta, namespace=namespace, data=data)
        return self._setting(CustomRecorded, body, under, meta)

    def _setting(self, event: type[Event], body: BodyBase, under: LeafRef, meta: Meta) -> Outcome:
        digest = mark_digest(body)
        identities = {"under": place_said(under)}
        repeated = self._repeated(event, meta, identities, digest)
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        return self._trigger(
            event,
            body,
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            digest=digest,
        )

    def record_usage(
        self,
        usage: Any,
        *,
        purpose: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        note: str | None = None,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Tokens or money spent outside the messages; counted, never shown to a model."""
        self._check_usable()
        body = self._body(
            UsageBody, meta, usage=usage, purpose=purpose, model=model, provider=provider, note=note
        )
        said = mark_digest(body)
        repeated = self._repeated(UsageRecorded, meta, {}, said)
        if repeated is not None:
            return repeated
        return self._trigger(UsageRecorded, body, meta, {}, said, digest=said)
