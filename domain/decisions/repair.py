"""Repair of broken tool history: appended once, as a branch of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from ..aggregate import BODY_META, Aggregate, Meta
from ..content import ToolCallBlock
from ..context import INTERRUPTED
from ..errors import InvalidValue
from ..events import Event
from ..heads import Head
from ..repair import NAMESPACE, Repair, Step, plan_repair
from ..tree import LEAF, LeafRef, is_draft
from ..view import View, Warning
from .marks import MarkDecisions
from .messages import MessageDecisions
from .tree import TreeDecisions

VERSION = 1
"""Version of the data in the entry that a repaired branch begins with."""


@dataclass(frozen=True)
class Repaired:
    """What a repair did.

    `position` is that of the last event, `entry_id` the leaf. `parent_id`: where the branch
    begins, `appended`: how many entries it has. `synthesized`, `reordered`, `orphans`,
    `duplicates` count results, see `domain/repair.py`.
    """

    session_id: str
    position: int
    entry_id: str | None
    changed: bool
    parent_id: str | None = None
    appended: int = 0
    synthesized: int = 0
    reordered: int = 0
    orphans: int = 0
    duplicates: int = 0
    dropped: tuple[str, ...] = ()
    warnings: tuple[Warning, ...] = field(default=())


class RepairDecisions(MessageDecisions, TreeDecisions, MarkDecisions, Aggregate):
    """Mends the order of calls and results, for those who replay the tape as it is."""

    if TYPE_CHECKING:

        def view(self, leaf: LeafRef = LEAF, *, include_pending: bool = False) -> View:
            """The session's own."""

    def repair(self, **meta: Unpack[Meta]) -> Repaired:
        """Append the messages from the first one that stands wrong, in the order that providers
        want, as a branch that takes the leaf; with them the summaries, settings and custom
        entries that lie behind. Nothing old is touched. Again: nothing happens.

        The new events have the source `repair`; the messages keep their times. Needs the tape.
        """
        self._check_usable()
        if meta.get("key") is not None:
            raise InvalidValue("a repair takes no provenance key: done again, it changes nothing")
        view = self.view()
        found = plan_repair(view, self._event_at)
        if found is None:
            return Repaired(self.id, self.state.position, self.state.leaf, False)
        said: Meta = {**meta, "source": "repair"}
        self.move_leaf(found.parent, reason="repair", **said)
        data = {"version": VERSION, **found.counts()}
        self.record_custom(NAMESPACE, data, under=found.parent, **said)
        copying = _Copying(self, view, found.start, said)
        for step in found.steps:
            copying.append(step)
        return Repaired(
            self.id,
            self.state.position,
            self.state.leaf,
            True,
            found.parent,
            copying.appended + 1,
            **found.counts(),
            dropped=found.dropped,
            warnings=_drafts(self, view, found),
        )


def _drafts(session: Aggregate, view: View, found: Repair) -> tuple[Warning, ...]:
    left = tuple(i.entry_id for i in view.items[found.start :] if is_draft(session.state, i.node))
    if not left:
        return ()
    text = f"{len(left)} unfinished message(s) stay on the branch that was left"
    return (Warning("draft_left", text, left),)


class _Copying:
    """Appends copies one under the other, and knows which entry became which."""

    def __init__(self, session: RepairDecisions, view: View, start: int, meta: Meta) -> None:
        self.session = session
        self.view = view
        self.meta = meta
        self.appended = 0
        self.new: dict[str, str] = {}
        """Entry to its copy, or (passed over) to what was appended next: where a boundary goes."""
        self.copies: dict[str, str] = {}
        """Entry to its own copy."""
        self._next = start
        self._owners: dict[str, str] = {}

    def append(self, step: Step) -> None:
        """Append one entry."""
        if step.call is not None:
            entry_id = self._result(step)
        elif step.item.message is not None:
            entry_id = self._message(step)
        else:
            entry_id = self._other(step)
        self.appended += 1
        source = step.item.entry_id if step.call is None else None
        if step.result is not None:
            source = step.result.entry_id
        if source is not None:
            self.copies[source] = entry_id
        items = self.view.items
        while self._next < len(items) and items[self._next].index <= step.item.index:
            self.new.setdefault(items[self._next].entry_id, entry_id)
            self._next += 1

    def _message(self, step: Step) -> str:
        message = step.item.message
        assert message is not None
        beside = [call for call in message.calls if not call.in_content]
        content = (
            *message.content,
            *(
                ToolCallBlock(call_id=c.call_id, name=c.name or "unknown", arguments=c.arguments)
                for c in beside
            ),
        )
        outcome = self.session.finalize(
            message.role,
            content,
            status=message.status,
            under=self.session.state.leaf,
            **_fields(message.body),
            **self._meta(message.timestamp),
        )
        self._owners[message.message_id] = str(outcome.message_id)
        return str(outcome.entry_id)

    def _result(self, step: Step) -> str:
        caller, call = step.item.message, step.call
        assert caller is not None
        assert call is not None
        how: dict[str, Any] = {
            "under": self.session.state.leaf,
            "for_call": call.call_id,
            "for_message_id": self._owners.get(caller.message_id, caller.message_id),
        }
        if step.result is not None:
            interruption = call.status == "interrupted"
            made = self.session.finalize(
                "tool_result",
                step.result.content,
                status=step.result.status,
                interruption=interruption,
                **_fields(step.result.body),
                **self._meta(step.result.timestamp),
                **how,
            )
        elif call.result is not None:
            made = self.session.finalize(
                "tool_result",
                call.result.content,
                tool_name=call.name,
                is_error=call.result.is_error,
                **self._meta(None),
                **how,
            )
        else:
            made = self.session.finalize(
                "tool_result",
                INTERRUPTED,
                tool_name=call.name,
                is_error=True,
                interruption=True,
                **self._meta(None),
                **how,
            )
        return str(made.entry_id)

    def _other(self, step: Step) -> str:
        session = self.session
        event: Event = session._event_at(step.item.node.seq)
        head: Head = event.head
        entry_id = session._new_entry_id(None)
        values = {"source": "repair", "extra": _extra(event.body)}
        first = head.first_kept
        session._trigger(
            type(event),
            event.body.model_copy(update=values),
            self._meta(head.timestamp),
            entry_id=entry_id,
            parent_id=session.state.leaf,
            takes_leaf=True,
            targets=tuple(self.copies.get(target, target) for target in head.targets),
            cleared=head.cleared,
            name=head.name,
            first_kept=None if first is None else self._kept(first, step.item.entry_id, entry_id),
            replaces=None
            if head.replaces is None
            else tuple(self.copies.get(one, one) for one in head.replaces),
            cumulative=head.cumulative,
            digest=head.digest,
        )
        return entry_id

    def _kept(self, first: str, old: str, new: str) -> str:
        """A boundary on the new branch; an anchor that keeps nothing names itself."""
        return new if first == old else self.new.get(first, first)

    def _meta(self, timestamp: Any) -> Meta:
        meta: Meta = {**self.meta}
        if timestamp is not None:
            meta["timestamp"] = timestamp
        return meta


def _extra(body: Any) -> dict[str, Any]:
    """What a copy keeps of `extra`: it is no record of a file any more."""
    return {key: value for key, value in body.extra.items() if key not in ("pi", "tau")}


def _fields(body: Any) -> dict[str, Any]:
    """The fields of a version's body that its copy has."""
    given = {name: getattr(body, name) for name in body.to_json() if name not in BODY_META}
    given.pop("content", None)
    extra = _extra(body)
    return {**given, "extra": extra} if extra else given
