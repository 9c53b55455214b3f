"""The outline: every entry of a session as a flat list with depth, ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from .content import Content, TextBlock, ThinkingBlock, ToolCallBlock
from .errors import InvalidValue, TapefoldError
from .events import Event
from .kernel import State
from .nodes import MARK, AnyNode, MessageNode, Version
from .normalise import bash_line
from .tree import LEAF, LeafRef, born, children, path, resolve_leaf
from .view import Bodies, Tapes, labels_of

PREVIEW: Final = 72
"""Longest preview. Unit: characters."""


@dataclass(frozen=True)
class OutlineNode:
    """One entry. (session_id, position) is the event that made it.

    `parent_id` is the nearest ancestor that is an entry; `depth` counts those. `struck` tells a
    message that was retracted, `calls` the names of the tools that it calls.
    """

    session_id: str
    entry_id: str
    parent_id: str | None
    position: int
    kind: str
    role: str | None
    status: str | None
    depth: int
    label: str | None
    on_path: bool
    preview: str
    struck: bool = False
    calls: tuple[str, ...] = ()
    is_leaf: bool = False


@dataclass(frozen=True)
class OutlineFork:
    """A child session, and where it left: it goes on from `entry_id` (None: from the root, or
    from nothing) as this session was at `position`. `receipt` is the position of the event that
    tells of it; `inherits` is false for a child that began empty."""

    session_id: str
    fork_id: str | None
    entry_id: str | None
    position: int
    inherits: bool
    receipt: int


@dataclass(frozen=True)
class Outline:
    """All entries, each after its parent, siblings in the order of the tape; and the forks that
    left from here, where the caller supplied them."""

    session_id: str
    position: int
    leaf: str | None
    nodes: tuple[OutlineNode, ...]
    forks: tuple[OutlineFork, ...] = ()


class _Told(NamedTuple):
    """What tells of an entry: the event that is shown, and of a message its version there."""

    seq: int
    version: Version | None = None
    struck: bool = False


class _Shown(NamedTuple):
    """What is kept of an event's body."""

    preview: str
    calls: tuple[str, ...]


def build_outline(
    state: State, tapes: Tapes, leaf: LeafRef = LEAF, preview: int = PREVIEW
) -> Outline:
    """The outline of a session, its basis included, with previews of at most `preview`
    characters. Linear in the number of entries; of the bodies no more is held than that."""
    at = resolve_leaf(state, leaf)
    on_path = {node.entry_id for node in path(state, at)}
    entries = dict(state.entries.items())
    told = {key: _told(state, node) for key, node in entries.items() if node.kind != MARK}
    shown = _shown(state, tapes, (found.seq for found in told.values()), preview)
    bodies = Bodies(state, tapes)
    bodies.fetch(fact.seq for fact in state.labels.values() if not fact.cleared)
    labels = labels_of(state, bodies)
    below = children(state)
    rows: list[OutlineNode] = []
    todo: list[tuple[str, str | None, int]] = [
        (key, None, 0) for key in reversed(below.get(None, []))
    ]
    while todo:
        key, parent, depth = todo.pop()
        if key not in told:  # a mark is walked through
            inner = (parent, depth)
        else:
            node, (seq, version, struck) = entries[key], told[key]
            if seq not in shown:
                raise _missing(state, seq)
            session_id, position = state.locate(born(node))
            rows.append(
                OutlineNode(
                    session_id=session_id,
                    entry_id=key,
                    parent_id=parent,
                    position=position,
                    kind=node.kind,
                    role=None if version is None else version.role,
                    status=None if version is None else version.status,
                    depth=depth,
                    label=labels.get(key),
                    on_path=key in on_path,
                    preview=shown[seq].preview,
                    struck=struck,
                    calls=() if version is None else shown[seq].calls,
                    is_leaf=key == at,
                )
            )
            inner = (key, depth + 1)
        todo.extend((child, *inner) for child in reversed(below.get(key, [])))
    return Outline(state.session_id, state.position, at, tuple(rows))


def _told(state: State, node: AnyNode) -> _Told:
    """Of a message its newest winner tells, or what it was; of another entry its own event."""
    message = state.message(node.message_id) if isinstance(node, MessageNode) else None
    if message is None:
        return _Told(node.seq)
    version = message.winner(include_pending=True) or message.latest
    return _Told(version.seq, version, message.struck)


def _shown(state: State, tapes: Tapes, seqs: Iterable[int], preview: int) -> dict[int, _Shown]:
    """Order number to what is shown of that event, one request a tape."""
    wanted: dict[str, dict[int, int]] = {}
    for seq in seqs:
        session_id, position = state.locate(seq)
        wanted.setdefault(session_id, {})[position] = seq
    found: dict[int, _Shown] = {}
    for session_id, positions in wanted.items():
        for event in tapes.events_at(session_id, sorted(positions)):
            content = getattr(event.body, "content", None) or ()
            calls = tuple(b.name for b in content if isinstance(b, ToolCallBlock))
            found[positions[event.position]] = _Shown(cut(preview_of(event), preview), calls)
    return found


def _missing(state: State, seq: int) -> TapefoldError:
    session_id, position = state.locate(seq)
    return TapefoldError(
        f"session {session_id!r}: the event at position {position} is not in the store; "
        "check the store, and the tape that was attached"
    )


def narrow_outline(outline: Outline, only: str) -> Outline:
    """The entries that a filter (a key of FILTERS) keeps, each under its nearest ancestor that
    is kept, which `depth` counts; forks likewise. Linear. Raises `InvalidValue` for a filter
    that is none."""
    keeps = FILTERS.get(only)
    if keeps is None:
        raise InvalidValue(f"{only!r} is no filter of the tree; there are {', '.join(FILTERS)}")
    above: dict[str, tuple[str | None, int]] = {}
    rows: list[OutlineNode] = []
    for node in outline.nodes:
        parent, depth = (None, 0) if node.parent_id is None else above[node.parent_id]
        if keeps(node):
            rows.append(replace(node, parent_id=parent, depth=depth))
            above[node.entry_id] = (node.entry_id, depth + 1)
        else:
            above[node.entry_id] = (parent, depth)
    forks = tuple(
        replace(fork, entry_id=above.get(fork.entry_id, (None, 0))[0])
        if fork.entry_id is not None
        else fork
        for fork in outline.forks
    )
    return replace(outline, nodes=tuple(rows), forks=forks)


def _is_no_tool(node: OutlineNode) -> bool:
    """Neither a result nor an answer of calls alone, whose preview is the calls' names."""
    if node.role == "tool_result":
        return False
    calls = " ".join(calls_preview(node.calls).split())
    return not calls or not calls.startswith(node.preview.removesuffix("…"))


FILTERS: Final[Mapping[str, Callable[[OutlineNode], bool]]] = {
    "all": lambda node: True,
    "labelled": lambda node: node.label is not None,
    "user": lambda node: node.role == "user",
    "no-tools": _is_no_tool,
}
"""Which entries of a tree are shown, by name."""


def preview_of(event: Event) -> str:
    """One line of text that tells an entry from others, not cut."""
    body = event.body
    summary = getattr(body, "summary", None)
    if isinstance(summary, str):
        return summary
    content = getattr(body, "content", None)
    if content is not None:
        said = content_preview(content)
        return with_command(event.head.role, getattr(body, "details", None), said)
    for name in ("model", "level", "namespace", "problem", "reason", "raw"):
        value: Any = getattr(body, name, None)
        if isinstance(value, str) and value:
            return value
    return ""


def with_command(role: str | None, details: object, said: str) -> str:
    """What a message says; of a shell command first the command, then what came out of it."""
    command = bash_line(role, details)
    return "\n".join(part for part in (command, said) if part)


def content_preview(content: Content) -> str:
    """The text of content; without any, its calls, or what else it is made of."""
    parts = [block.text for block in content if isinstance(block, TextBlock)]
    if not any(part.strip() for part in parts):
        calls = [b.name for b in content if isinstance(b, ToolCallBlock)]
        parts = [calls_preview(calls)] if calls else []
    if not parts:
        parts = [b.thinking for b in content if isinstance(b, ThinkingBlock)]
    if not parts:
        parts = [f"[{block.TYPE}]" for block in content]
    return " ".join(parts)


def calls_preview(names: Iterable[str]) -> str:
    """Calls alone, by the names of their tools."""
    return " ".join(f"[{name}]" for name in names)


def cut(text: str, width: int = PREVIEW) -> str:
    """`text` on one line, white space collapsed, cut to `width` characters with an ellipsis."""
    line = " ".join(text[: width * 8].split())
    return line if len(line) <= width else line[: width - 1] + "…"
