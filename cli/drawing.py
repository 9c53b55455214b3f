"""A tree drawn in text: the longest branch runs straight down, others stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from tapefold.domain.nodes import MESSAGE
from tapefold.domain.outline import Outline, OutlineFork, OutlineNode

from .paper import Glyphs, Paper, Span
from .visible import one_line
from .words import short_ids

WITHOUT_ID = 60
"""Below this many columns an entry of the session's own tape is named by its position alone.
Unit: columns."""


class Drawn(Protocol):
    """What a node needs to be laid out."""

    @property
    def entry_id(self) -> str: ...
    @property
    def parent_id(self) -> str | None: ...
    @property
    def on_path(self) -> bool: ...
    @property
    def position(self) -> int: ...


N = TypeVar("N", bound=Drawn)


def print_tree(outline: Outline, *, total: int | None = None, fork_of: str = "") -> None:
    """Print all entries, a line each. `total`: how many there are without the filter; `fork_of`:
    what is said of a fork's parent."""
    paper = Paper()
    between = paper.glyphs.between
    counted = entries_text(len(outline.nodes))
    if total is not None:
        counted = f"{len(outline.nodes):,} of {entries_text(total)}"
    paper.cut_line(Span(outline.session_id, "bold"), Span(f"{between}{counted}", "dim"))
    if fork_of:
        paper.cut_line(Span(fork_of, "dim"))
    drawing = Drawing(outline, paper.glyphs, paper.width)
    for prefix, row in drawing.rows():
        paper.cut_line(*drawing.line(prefix, row))
    if outline.leaf is None:
        paper.block("the leaf is none: the next entry begins at the root", style="dim")


def entries_text(number: int) -> str:
    """`1 entry`, `2 entries`."""
    return "1 entry" if number == 1 else f"{number:,} entries"


def layout(nodes: Sequence[N], branch: str, down: str) -> Iterator[tuple[str, N]]:
    """Each node with what is drawn in front of it, from the roots down."""
    for first, _, node in placed(nodes, branch, down):
        yield first, node


def placed(nodes: Sequence[N], branch: str, down: str) -> Iterator[tuple[str, str, N]]:
    """Each node with what is drawn in front of it, and in front of what goes on below it.

    A node's children but the longest come first, each one step to the right; the longest goes
    on in the node's own column. So a chain is never indented, and the nesting of a tree of n
    entries stays below the square root of 2n.
    """
    children: dict[str | None, list[N]] = {}
    known = {node.entry_id for node in nodes}
    for node in nodes:
        children.setdefault(node.parent_id if node.parent_id in known else None, []).append(node)
    longest = _longest(nodes)
    todo = [(node, "", "") for node in reversed(children.get(None, []))]
    while todo:
        node, first, rest = todo.pop()
        yield first, rest, node
        below = children.get(node.entry_id, [])
        if not below:
            continue
        straight = max(below, key=lambda n: (longest[n.entry_id], n.on_path, n.position))
        todo.append((straight, rest, rest))
        beside = [child for child in below if child is not straight]
        todo.extend((child, rest + branch, rest + down) for child in reversed(beside))


def _longest(nodes: Iterable[N]) -> dict[str, int]:
    """Entry id to the length of the longest chain that begins there. Parents stand first."""
    longest: dict[str, int] = {}
    for node in reversed(list(nodes)):
        own = longest.setdefault(node.entry_id, 1)
        if node.parent_id is not None:
            longest[node.parent_id] = max(longest.get(node.parent_id, 1), own + 1)
    return longest


Row = OutlineNode | OutlineFork


class Drawing:
    """The rows of an outline as lines; `width` None: as long as they are."""

    def __init__(self, outline: Outline, glyphs: Glyphs, width: int | None) -> None:
        self.outline = outline
        self.glyphs = glyphs
        self.width = width
        self._short = {node.entry_id: node.entry_id for node in outline.nodes}
        if width is not None:
            self._short = short_ids(self._short)
        on_path = [node.entry_id for node in outline.nodes if node.on_path]
        self._tip = on_path[-1] if on_path and outline.leaf is not None else None
        """The entry that is nearest to the leaf, among those that are drawn."""

    def rows(self) -> Iterator[tuple[str, Row]]:
        """What is drawn in front of each row, and the row: entries, and forks below theirs."""
        glyphs = self.glyphs
        left: dict[str | None, list[OutlineFork]] = {}
        for fork in self.outline.forks:
            left.setdefault(fork.entry_id, []).append(fork)
        parents = {node.parent_id for node in self.outline.nodes} if left else set()
        known = {node.entry_id for node in self.outline.nodes} if left else set()
        for entry_id, forks in left.items():
            if entry_id not in known:
                yield from (("", fork) for fork in forks)
        for first, rest, node in placed(self.outline.nodes, glyphs.branch, glyphs.down):
            yield first, node
            forks = left.get(node.entry_id, [])
            for n, fork in enumerate(forks):
                is_last = n == len(forks) - 1 and node.entry_id not in parents
                yield rest + (glyphs.elbow if is_last else glyphs.branch), fork

    def line(self, prefix: str, row: Row) -> Iterator[Span | str]:
        """One row, not cut."""
        yield Span(self._narrowed(prefix), "dim")
        yield from self._fork(row) if isinstance(row, OutlineFork) else self._entry(row)

    def _fork(self, fork: OutlineFork) -> Iterator[Span | str]:
        glyphs = self.glyphs
        yield Span(f"{glyphs.arrow} fork ", "mark")
        yield fork.session_id
        how = f"at #{fork.position}" if fork.inherits else f"begun empty at #{fork.receipt}"
        yield Span(f"{glyphs.between}{how}", "dim")

    def _entry(self, node: OutlineNode) -> Iterator[Span | str]:
        glyphs = self.glyphs
        if node.struck:
            yield Span(glyphs.cross, "bad")
        else:
            style = "good" if node.on_path else "dim"
            yield Span(glyphs.dot if node.on_path else glyphs.ring, style)
        is_own = node.session_id == self.outline.session_id
        named = "mark" if node.on_path else "dim"
        yield Span(f" #{node.position}{'' if is_own else '^'}", "dim")
        if self.width is None or self.width >= WITHOUT_ID or not is_own:
            yield Span(f" {self._short[node.entry_id]}", named)
        name = node.role or node.kind if node.kind == MESSAGE else node.kind.replace("_", " ")
        yield Span(f" {name}", node.role or "mark")
        if node.entry_id == self._tip:
            mark = "<-" if glyphs.arrow == "->" else "◀"
            below = "" if node.entry_id == self.outline.leaf else " below"
            yield Span(f" {mark} leaf{below}", "good")
        if node.label is not None:
            yield Span(f" [{node.label}]", "label")
        if node.struck:
            yield Span(" (struck out)", "bad")
        elif node.status == "pending":
            yield Span(" (unfinished)", "warning")
        elif node.status == "error":
            yield Span(" (error)", "bad")
        yield Span(f"  {said(node)}", "" if node.on_path else "dim")

    def _narrowed(self, prefix: str) -> str:
        """A prefix that leaves room for the entry: of deep nesting the end is drawn."""
        if self.width is None or len(prefix) <= self.width // 2:
            return prefix
        kept = self.width // 2
        return self.glyphs.ellipsis + prefix[-kept:]


def said(node: OutlineNode) -> str:
    """What an entry says, on one line: its first words and the tools that it calls."""
    text = one_line(node.preview)
    if node.calls:
        calls = " ".join(f"[{name}]" for name in node.calls)
        text = text if text == calls else f"{text} {calls}"
    return text


def fork_text(parent: str | None, position: int | None) -> str:
    """What a fork's tree says of where it comes from; empty for a session that is no fork."""
    if parent is None:
        return ""
    return f"a fork of {parent} at #{position}; ^ marks what it inherits, at positions there"
