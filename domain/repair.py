"""What a repair of broken tool history would append. Pure; nothing is written here.

Providers want each call answered by exactly one result, directly after the message that calls,
in call order. The view pairs calls and results by Tau's rule (`calls.py`); where the messages of
the context do not stand in the order that follows from it, a repair appends them anew, in that
order, as a branch of its own. What lies before the first difference is shared. The context needs
none of this: it sets every result beside its call when it is built. A repair makes the tape
itself read well, for tools that replay it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from .calls import NEVER_CALLED
from .events import Event
from .nodes import ANCHORS, BRANCH_SUMMARY, CONTEXT_EDIT, CUSTOM, MARK, MODEL, THINKING
from .order import sort_rows
from .selection import select
from .view import Call, Item, Message, View, order_key

NAMESPACE: Final = "tapefold.session-history-repair"
"""Namespace of the custom entry that a repaired branch begins with."""

_MARKERS: Final = frozenset({NAMESPACE, "tau.session-history-repair"})

COPIED: Final = ANCHORS | {BRANCH_SUMMARY, CONTEXT_EDIT, CUSTOM, MODEL, THINKING}
"""Kinds of entries behind the first difference that are appended again, beside messages."""


@dataclass(frozen=True)
class Step:
    """One entry to append. `item`: a copy of this one; `call`: the result of a call of
    `item`'s, from `result` or (both None) a fact or an interruption."""

    item: Item
    call: Call | None = None
    result: Message | None = None


@dataclass(frozen=True)
class Repair:
    """What a repair appends, and why.

    `parent`: where the branch begins (None: the root), `start`: index on the path of what lies
    behind it. Counts of results: `synthesized` calls
    that had none, `reordered` ones that stood elsewhere, `orphans` that no call of the context
    asked for, `duplicates` of a call that has another one. `dropped`: entries of these two.
    """

    parent: str | None
    start: int
    steps: tuple[Step, ...]
    synthesized: int = 0
    reordered: int = 0
    orphans: int = 0
    duplicates: int = 0
    dropped: tuple[str, ...] = field(default=())

    def counts(self) -> dict[str, Any]:
        """The counts by name."""
        return {
            "synthesized": self.synthesized,
            "reordered": self.reordered,
            "orphans": self.orphans,
            "duplicates": self.duplicates,
        }


def plan_repair(view: View, event_at: Callable[[int], Event]) -> Repair | None:
    """What would mend the tool history at a view's leaf; None where there is nothing to mend.

    `event_at` gives the event with an order number: custom entries are not in a view.
    """
    assert view.state is not None
    kept = select(view.state, view.items, anchored=True).kept
    shown = [item for item in kept if item.message is not None]
    on_path = sorted(shown, key=lambda item: item.index)
    rows = sort_rows(shown, order_key)
    by_id = {item.entry_id: item for item in view.items if item.message is not None}
    wanted = _wanted(rows, by_id)
    have = [item.entry_id for item in rows]
    want = [_entry(step) for step in wanted if not _is_fact(step)]
    if have == want:
        return None
    same = 0
    while same < min(len(on_path), len(want)) and on_path[same].entry_id == want[same]:
        same += 1
    start = on_path[same - 1].index + 1 if same else (on_path[0].index if on_path else 0)
    parent = next(
        (i.entry_id for i in reversed(view.items[:start]) if i.kind != MARK and _is_there(i)), None
    )
    rowed = [step for step in wanted if not _is_fact(step)]
    first = list(takewhile(lambda step: step.call is not None, rowed[same:]))
    counts = _counts(view, rows, wanted)
    steps = [*first, *_steps(view, start, wanted, counts["dropped"], event_at)]
    return Repair(parent, start, tuple(_with_edits(view, start, steps, event_at)), **counts)


def _is_there(item: Item) -> bool:
    return item.message is not None or item.kind != "message"


def _wanted(rows: Sequence[Item], by_id: dict[str, Item]) -> list[Step]:
    """The messages as a provider wants them: each caller followed by its results."""
    wanted: list[Step] = []
    for item in rows:
        message = item.message
        assert message is not None
        if message.role == "tool_result":
            continue
        wanted.append(Step(item))
        for call in message.calls:
            found = call.result
            result = None
            if found is not None and found.entry_id is not None:
                result = by_id[found.entry_id].message
            wanted.append(Step(item, call, result))
    return wanted


def _is_fact(step: Step) -> bool:
    """A result that is a fact has no row, and needs none."""
    return step.call is not None and step.call.result is not None and step.result is None


def _entry(step: Step) -> str | None:
    """The entry that is wanted there; None: one that does not exist."""
    if step.call is None:
        return step.item.entry_id
    return None if step.result is None else step.result.entry_id


def _counts(view: View, rows: Sequence[Item], wanted: Sequence[Step]) -> dict[str, Any]:
    at = {item.entry_id: n for n, item in enumerate(rows)}
    used: set[str] = set()
    synthesized = reordered = 0
    k = 0
    for step in wanted:
        k = 0 if step.call is None else k + 1
        if step.call is None or _is_fact(step):
            continue
        if step.result is None:
            synthesized += 1
            continue
        used.add(step.result.entry_id)
        reordered += at.get(step.result.entry_id) != at[step.item.entry_id] + k
    dropped = [
        item
        for item in rows
        if item.message is not None
        and item.message.role == "tool_result"
        and item.entry_id not in used
    ]
    called = {c.call_id for item in rows if item.message is not None for c in item.message.calls}
    orphans = 0
    for item in dropped:
        assert item.message is not None
        mid = item.message.message_id
        owner = view.pairing.owner_of.get(mid)
        never = view.pairing.left_over.get(mid) == NEVER_CALLED
        orphans += never or (owner is not None and owner[1] not in called)
    return {
        "synthesized": synthesized,
        "reordered": reordered,
        "orphans": orphans,
        "duplicates": len(dropped) - orphans,
        "dropped": tuple(item.entry_id for item in dropped),
    }


def _steps(
    view: View,
    start: int,
    wanted: Sequence[Step],
    gone: Container[str],
    event_at: Callable[[int], Event],
) -> list[Step]:
    """Everything behind the parent, in the order in which it is read, results at their calls."""
    results: dict[str, list[Step]] = {}
    for step in wanted:
        if step.call is not None:
            results.setdefault(step.item.entry_id, []).append(step)
    said = {item.entry_id: item.message for item in view.items if item.message is not None}
    last = _last_edits(view)
    wanted_rows = {step.item.entry_id for step in wanted}
    behind = {item.entry_id for item in view.items[start:]}
    later = {
        step.result.entry_id
        for caller, row in results.items()
        for step in row
        if step.result is not None and caller in behind
    }
    waiting: dict[str, list[Step]] = {}
    steps: list[Step] = []
    for item in sort_rows(view.items[start:], order_key):
        if item.message is not None:
            if item.entry_id in wanted_rows and item.message.role != "tool_result":
                answers = results.get(item.entry_id, ())
                steps += [Step(item), *answers]
                for result in (s.result for s in answers if s.result is not None):
                    later.discard(result.entry_id)
                    steps += waiting.pop(result.entry_id, ())
        elif item.kind in COPIED and _counts_still(item, said, last, gone, event_at):
            target = _target(item)
            if target in later and said[target].role == "tool_result":
                waiting.setdefault(target, []).append(Step(item))  # an edit follows its target
            else:
                steps.append(Step(item))
    return steps


def _with_edits(
    view: View, start: int, steps: Sequence[Step], event_at: Callable[[int], Event]
) -> Iterator[Step]:
    """The steps; a result that is taken from before the branch brings its edit along."""
    said = {item.entry_id: item.message for item in view.items if item.message is not None}
    last = _last_edits(view)
    edits = {
        _target(item): item
        for item in view.items[:start]
        if item.kind == CONTEXT_EDIT and _counts_still(item, said, last, (), event_at)
    }
    for step in steps:
        yield step
        edit = None if step.result is None else edits.get(step.result.entry_id)
        if edit is not None:
            yield Step(edit)


def _last_edits(view: View) -> dict[str, str]:
    """Target to the last edit of it on the path."""
    return {_target(item): item.entry_id for item in view.items if item.kind == CONTEXT_EDIT}


def _target(item: Item) -> str:
    """What an edit is about; empty for any other entry."""
    is_edit = item.kind == CONTEXT_EDIT and item.event is not None
    return next(iter(item.event.head.targets), "") if is_edit and item.event else ""


def _counts_still(
    item: Item,
    said: Mapping[str, Message],
    last: Mapping[str, str],
    gone: Container[str],
    event_at: Callable[[int], Event],
) -> bool:
    """Whether an entry without a message says something on the new branch."""
    if item.kind == CUSTOM:
        return event_at(item.node.seq).body.namespace not in _MARKERS
    if item.kind != CONTEXT_EDIT or item.event is None:
        return True
    target = _target(item)
    if last.get(target) != item.entry_id:
        return False  # a later edit has won over it, even if that one does not count
    message = said.get(target)
    # A later version has won over the edit; behind a copy of it the edit would win.
    superseded = (
        message is not None and item.event.body.content is not None and message.seq > item.node.seq
    )
    return not superseded and target not in gone
