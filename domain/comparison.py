"""Comparing two views: what differs between two positions, two leaves or two sessions."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .alignment import align, longest_rising
from .content import content_json, plain_text
from .nodes import ANCHORS, BRANCH_SUMMARY, CONTEXT_EDIT
from .order import sort_rows
from .outline import with_command
from .textdiff import Piece, diff_texts
from .view import Call, Item, Message, View, order_key

ONLY_A: Final = "only_a"
ONLY_B: Final = "only_b"
CHANGED: Final = "changed"
STRUCK: Final = "struck"
RESTORED: Final = "restored"

TEXT: Final = "text"
CONTENT: Final = "content"
CALLS: Final = "calls"
PLACE: Final = "place"
FIELDS: Final = ("role", "status", "model", "error")

_COMPARED: Final = ANCHORS | {BRANCH_SUMMARY, CONTEXT_EDIT}
"""Entries beside the messages that are compared. Settings are told by their result."""


@dataclass(frozen=True)
class CallDifference:
    """A call that only one side has, or whose name, arguments, status or result differ."""

    call_id: str
    a: Call | None
    b: Call | None


@dataclass(frozen=True)
class Difference:
    """One entry that differs.

    `op`: `only_a`, `only_b`; `struck`: it shows in A and is struck out in B, `restored`: the
    other way round; `changed`: both have it, and `changes` names what differs: `text`, `content`
    (blocks that are no text), `calls`, `place` (it stands elsewhere among the others), or a
    field of the message. `text`: the pieces of both texts, where they differ.
    `in_its_call`: a result that the difference of its call tells of as well.
    """

    op: str
    a: Item | None
    b: Item | None
    changes: tuple[str, ...] = ()
    text: tuple[Piece, ...] = ()
    calls: tuple[CallDifference, ...] = ()
    in_its_call: bool = False

    @property
    def item(self) -> Item:
        """The entry, of the newer side that has it."""
        found = self.b or self.a
        assert found is not None
        return found


@dataclass(frozen=True)
class Comparison:
    """What differs between the views `a` and `b`, in their order.

    `common`: how many messages are the same before the first difference; `same`: how many in
    all. `settings`, `labels` (by entry id) and `title` (empty key) hold (A's, B's) where those
    differ. `related`: both sessions share history, so that ids say what is the same message;
    otherwise role and content do.
    """

    a: View
    b: View
    related: bool
    common: int
    same: int
    differences: tuple[Difference, ...]
    settings: dict[str, tuple[str | None, str | None]]
    labels: dict[str, tuple[str | None, str | None]]
    title: tuple[str | None, str | None] | None

    def __bool__(self) -> bool:
        return bool(self.differences or self.settings or self.labels or self.title)


def compare_views(a: View, b: View) -> Comparison:
    """What differs. Near linear in the number of messages and the length of their texts."""
    related = _are_related(a, b)
    rows_a, rows_b = _rows(a), _rows(b)
    pairs, moved = _matched(rows_a, rows_b, related)
    paths = {item.entry_id for item in a.items}, {item.entry_id for item in b.items}
    differences: list[Difference] = []
    common, same = 0, 0
    for x, y in _merged(len(rows_a), len(rows_b), pairs, moved):
        one = None if x is None else rows_a[x]
        other = None if y is None else rows_b[y]
        if one is not None and other is not None:
            found = _changed(one, other, (x, y) in moved)
        else:
            found = _one_sided((a, paths[0]), (b, paths[1]), one, other, related)
        if found is None:
            if one is not None and one.message is not None:
                same += 1
                common += not differences
            continue
        differences.append(found)
    return Comparison(
        a,
        b,
        related,
        common,
        same,
        tuple(_with_results_marked(differences)),
        _pairs_that_differ(_settings(a), _settings(b)),
        _pairs_that_differ(a.labels, b.labels),
        None if a.name == b.name else (a.name, b.name),
    )


def _are_related(a: View, b: View) -> bool:
    lines = [
        {session_id for session_id, _ in view.state.lineage} if view.state else {view.session_id}
        for view in (a, b)
    ]
    return bool(lines[0] & lines[1])


def _rows(view: View) -> list[Item]:
    """What is compared, as it is read."""
    return [
        item
        for item in sort_rows(view.items, order_key)
        if item.message is not None or (item.kind in _COMPARED and item.event is not None)
    ]


# -- matching ----------------------------------------------------------------------------------


def _matched(
    a: Sequence[Item], b: Sequence[Item], related: bool
) -> tuple[list[tuple[int, int]], set[tuple[int, int]]]:
    """The pairs of rows that are the same entry, and those of them that stand elsewhere."""
    if not related:
        return align([_print(item) for item in a], [_print(item) for item in b]), set()
    place = {_identity(item): n for n, item in enumerate(b)}
    pairs = [(n, place[_identity(item)]) for n, item in enumerate(a) if _identity(item) in place]
    moved = set(pairs) - set(longest_rising(pairs))
    return pairs, moved


def _identity(item: Item) -> Hashable:
    return ("e", item.entry_id) if item.message is None else ("m", item.message.message_id)


def _print(item: Item) -> Hashable:
    """What an entry says, whoever says it: equal where two sessions say the same."""
    message = item.message
    if message is not None:
        return message.role, _json(content_json(message.content))
    body = None if item.event is None else item.event.body
    return item.kind, getattr(body, "summary", None) or item.entry_id


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _merged(
    a: int, b: int, pairs: Iterable[tuple[int, int]], moved: set[tuple[int, int]]
) -> Iterator[tuple[int | None, int | None]]:
    """All rows in one order: what only A has before what only B has; a moved row stands where
    B has it."""
    to_b = dict(pairs)
    to_a = {y: x for x, y in to_b.items()}
    at = 0
    waiting: list[tuple[int | None, int]] = []
    for y in range(b):
        x = to_a.get(y)
        if x is None or (x, y) in moved:
            waiting.append((x, y))
            continue
        yield from ((n, None) for n in range(at, x) if n not in to_b)
        yield from waiting
        waiting.clear()
        yield x, y
        at = x + 1
    yield from ((n, None) for n in range(at, a) if n not in to_b)
    yield from waiting


# -- one entry ---------------------------------------------------------------------------------


def _one_sided(
    a: tuple[View, set[str]],
    b: tuple[View, set[str]],
    one: Item | None,
    other: Item | None,
    related: bool,
) -> Difference | None:
    """`a`, `b`: the views, and the entries on their paths."""
    if one is not None:
        struck = related and _is_struck(*b, one)
        return Difference(STRUCK if struck else ONLY_A, one, None)
    if other is not None:
        struck = related and _is_struck(*a, other)
        return Difference(RESTORED if struck else ONLY_B, None, other)
    return None


def _is_struck(view: View, on_path: set[str], item: Item) -> bool:
    """Whether a message of the other side stands on this view's path, struck out."""
    if item.message is None or view.state is None:
        return False
    known = view.state.message(item.message.message_id)
    return known is not None and known.struck and known.entry_id in on_path


def _changed(one: Item, other: Item, is_moved: bool) -> Difference | None:
    a, b = one.message, other.message
    changes: list[str] = []
    pieces: tuple[Piece, ...] = ()
    calls: tuple[CallDifference, ...] = ()
    if a is not None and b is not None:
        if (a.session_id, a.position) != (b.session_id, b.position):
            old, new = _text(a), _text(b)
            if old != new:
                changes.append(TEXT)
                pieces = diff_texts(old, new)
            if _other_blocks(a) != _other_blocks(b):
                changes.append(CONTENT)
            changes.extend(name for name in FIELDS if _field(a, name) != _field(b, name))
        calls = tuple(_calls(a, b))
        if calls:
            changes.append(CALLS)
    if is_moved:
        changes.append(PLACE)
    return Difference(CHANGED, one, other, tuple(changes), pieces, calls) if changes else None


def _text(message: Message) -> str:
    """What a message says; of a shell command the command, too."""
    return with_command(message.role, message.body.details, plain_text(message.content))


def _field(message: Message, name: str) -> Any:
    return getattr(message if name in ("role", "status") else message.body, name)


def _other_blocks(message: Message) -> list[str]:
    blocks = [block for block in message.content if block.TYPE not in ("text", "tool_call")]
    return [_json(shape) for shape in content_json(tuple(blocks))]


def _calls(a: Message, b: Message) -> Iterator[CallDifference]:
    before = {call.call_id: call for call in a.calls}
    after = {call.call_id: call for call in b.calls}
    for call_id in dict.fromkeys((*before, *after)):
        old, new = before.get(call_id), after.get(call_id)
        if old is None or new is None or not _are_alike(old, new):
            yield CallDifference(call_id, old, new)


def _are_alike(old: Call, new: Call) -> bool:
    if (old.name, old.status) != (new.name, new.status):
        return False
    if old.arguments is not new.arguments and _json(old.arguments) != _json(new.arguments):
        return False
    x, y = old.result, new.result
    if x is None or y is None:
        return x is y
    if (x.session_id, x.position) == (y.session_id, y.position):
        return True
    return x.is_error == y.is_error and content_json(x.content) == content_json(y.content)


# -- the rest ----------------------------------------------------------------------------------


def _with_results_marked(differences: Sequence[Difference]) -> Iterator[Difference]:
    """The same; those that the calls of another difference tell of are `in_its_call`."""
    told: set[str | None] = set()
    for difference in differences:
        calls = [call for found in difference.calls for call in (found.a, found.b)]
        if difference.op != CHANGED and difference.item.message is not None:
            calls.extend(difference.item.message.calls)
        told.update(c.result.message_id for c in calls if c is not None and c.result is not None)
    for difference in differences:
        message = difference.item.message
        inside = message is not None and message.message_id in told
        # A call tells what its result says, not where that stands or by whom it is.
        inside = inside and {TEXT, CONTENT}.issuperset(difference.changes)
        yield replace(difference, in_its_call=True) if inside else difference


def _settings(view: View) -> dict[str, str | None]:
    return dict(vars(view.settings))


def _pairs_that_differ(
    a: Mapping[str, str | None], b: Mapping[str, str | None]
) -> dict[str, tuple[str | None, str | None]]:
    keys = dict.fromkeys((*a, *b))
    return {key: (a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key)}
