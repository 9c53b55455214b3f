"""What one event does to the view, and to the context behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tapefold.domain.calls import Owned, PairRow
from tapefold.domain.events import Event
from tapefold.domain.heads import DIRECTORY, PENDING_RANK
from tapefold.domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MODEL,
    NODE_KINDS,
    RESET,
    THINKING,
)

from .look import Look

EFFECTS = {
    "started": "the session begins; of a fork: with what it inherits",
    "added": "a message shows for the first time",
    "draft": "an unfinished version is kept; it does not show (`view --pending` shows it)",
    "finished": "an unfinished message is finished, and shows for the first time",
    "revised": "a message that shows has a later version",
    "restored": "a message that was struck out shows again",
    "struck": "a message is struck out",
    "stays_struck": "a version came for a message that is struck out; it stays so",
    "left": "messages are no longer on the path of the leaf: their branch was left",
    "entered": "messages are on the path of the leaf now",
    "hidden": "a result message is hidden, because its call is gone",
    "unhidden": "a result message that was hidden shows again",
    "called": "a call shows that its message did not show before",
    "uncalled": "a call does not show any more, and its message does",
    "answered": "a call has a result, or another one",
    "unanswered": "a call has lost its result",
    "beside": "something on another branch; the view does not change",
    "leaf_moved": "the leaf was moved",
    "context_hidden": "messages that show are not in the context: an anchor hides them",
    "context_shown": "messages are in the context again",
    "summarised": "a summary is put in the context",
    "reset": "no summary that stands before it is in the context any more",
    "edited": "the context has other content for an entry, or leaves it out",
    "edit_superseded": "an entry has a later version, which wins over the edit in the context",
    "labelled": "an entry has a label; without text: it has none any more",
    "named": "the session has another name; without text: none",
    "directory": "the session has another directory; without text: none",
    "model": "another model is set",
    "thinking": "another thinking level is set",
    "forked": "a child session begins here",
    "merged": "a fork was merged back",
    "discarded": "a fork was given up",
    "linked": "the session of a sub-agent belongs here",
    "recorded": "something is on the tape that changes nothing in the view",
}
"""Every code of an effect, and what it means."""


@dataclass(frozen=True)
class Effect:
    """One change. `code` is a key of EFFECTS; the rest is set where it says something.

    `entries` are the entries of several messages that changed alike, in path order.
    """

    code: str
    entry_id: str | None = None
    message_id: str | None = None
    call_id: str | None = None
    role: str | None = None
    entries: tuple[str, ...] = ()
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The shape: `effect`, then what is set."""
        out: dict[str, Any] = {"effect": self.code}
        for name in ("entry_id", "message_id", "call_id", "role", "entries", "text"):
            value = getattr(self, name)
            if value not in (None, ()):
                out[name] = list(value) if isinstance(value, tuple) else value
        return out


def differences(old: Look, new: Look, own: str | None, comes: str) -> Iterator[Effect]:
    """What shows otherwise in `new`, and how, in path order.

    `own` is the entry of the message that the event makes or is a version of, `comes` the code
    if it shows now, and did not before.
    """
    before, after = old.shown, new.shown
    old_shown, new_shown = in_path_order(old, before), in_path_order(new, after)
    left = [e for e in old_shown if e not in new.index]
    if left:
        yield Effect("left", entries=tuple(left))
    for entry_id in old_shown:
        if entry_id in new.index and entry_id not in after:
            code = "hidden" if entry_id in new.hidden else "struck"
            yield row_effect(code, _row(new, entry_id))
    entered = [e for e in new_shown if e not in old.index and e != own]
    if entered:
        yield Effect("entered", entries=tuple(entered))
    for entry_id in new_shown:
        row = _row(new, entry_id)
        if entry_id in before:
            if before[entry_id] != after[entry_id]:
                yield row_effect("revised", row)
        elif entry_id in old.hidden:
            yield row_effect("unhidden", row)
        elif entry_id == own:
            yield row_effect(comes, row)
    yield from _calls(old, new, own)


def in_path_order(look: Look, entry_ids: Iterable[str]) -> list[str]:
    """Entries of the path, root first."""
    return sorted(entry_ids, key=lambda entry_id: look.index.get(entry_id) or 0)


def _row(look: Look, entry_id: str) -> PairRow:
    row = look.rows.get(entry_id)
    assert row is not None
    return row


def row_effect(code: str, row: PairRow) -> Effect:
    """An effect on one message."""
    return Effect(code, row.node.entry_id, row.node.message_id, role=role_of(row))


def role_of(row: PairRow) -> str | None:
    """The role of a message, shown or not."""
    return (row.winner or row.state.latest).role


def unseen(row: PairRow) -> Effect:
    """The effect of a version that changes nothing that shows."""
    code = "recorded"
    if row.state.struck:
        code = "stays_struck"
    elif row.winner is None and row.state.latest.rank == PENDING_RANK:
        code = "draft"
    return row_effect(code, row)


def _calls(old: Look, new: Look, own: str | None) -> Iterator[Effect]:
    """Calls that came, went, or have another result, of messages that show before and after."""
    entry_of = {row.node.message_id: key for key, row in new.rows.items()}
    before, after = old.calls, new.calls
    place = new.index.get
    for owned, result in sorted(after.items(), key=lambda c: place(entry_of[c[0][0]]) or 0):
        entry_id = entry_of[owned[0]]
        if owned not in before:
            if old.shows(entry_id):
                yield call_effect("called", entry_id, owned)
            if result is not None and (entry_id in old.index or entry_id == own):
                yield call_effect("answered", entry_id, owned)
        elif before[owned] != result:
            code = "unanswered" if result is None else "answered"
            yield call_effect(code, entry_id, owned)
    for owned in before:
        shows = entry_of.get(owned[0])
        if owned not in after and shows is not None and new.shows(shows):
            yield call_effect("uncalled", shows, owned)


def call_effect(code: str, entry_id: str, owned: Owned) -> Effect:
    """An effect on one call, at its message's entry."""
    return Effect(code, entry_id, owned[0], owned[1])


def entry_effect(event: Event, entry_id: str | None) -> Effect:
    """What an entry that is no message says by itself."""
    head, body = event.head, event.body
    kind = NODE_KINDS[head.kind]
    if kind == RESET:
        return Effect("reset", entry_id)
    if kind == BRANCH_SUMMARY or kind in ANCHORS:
        return Effect("summarised", entry_id, text=body.summary)
    if kind == CONTEXT_EDIT:
        target = head.targets[0] if head.targets else None
        return Effect("edited", target, text="left out" if body.content is None else "replaced")
    if kind == MODEL:
        return Effect("model", entry_id, text=body.model)
    if kind == THINKING:
        return Effect("thinking", entry_id, text=body.level)
    return Effect("recorded", entry_id)


_CHILDREN = {
    "forked": "forked",
    "fork_merged": "merged",
    "fork_discarded": "discarded",
    "subagent_linked": "linked",
}
"""Kinds of events about another session, with the code of their effect."""


def mark_effect(event: Event) -> Effect:
    """The effect of a mark that is about no message."""
    head, body = event.head, event.body
    if head.kind == "session_started":
        return Effect("started", text=None if head.origin is None else head.origin.session_id)
    if head.kind == "labelled":
        return Effect("labelled", head.targets[0] if head.targets else None, text=body.label)
    if head.kind == "session_info_changed":
        # The kernel's rule: a name goes before a directory.
        if head.digest is not None or head.cleared:
            return Effect("named", text=body.title)
        if head.name == DIRECTORY:
            return Effect("directory", text=body.directory)
    if head.kind in _CHILDREN:
        return Effect(_CHILDREN[head.kind], text=body.child)
    return Effect("recorded", head.entry_id)
