"""A tree drawn in text: the longest branch runs straight down, others stand beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tapefold.domain.nodes import MESSAGE
from tapefold.domain.outline import Outline, OutlineNode

from .paper import Paper, Span
from .words import first_line, short_ids


def print_tree(outline: Outline) -> None:
    """Print all entries, a line each."""
    paper = Paper()
    short = {node.entry_id: node.entry_id for node in outline.nodes}
    if paper.width is not None:
        short = short_ids(short)
    paper.cut_line(
        Span(outline.session_id, "bold"),
        Span(f"{paper.glyphs.between}{_entries(len(outline.nodes))}", "dim"),
    )
    for prefix, node in layout(outline.nodes, paper.glyphs.branch, paper.glyphs.down):
        paper.cut_line(*_line(paper, prefix, node, short[node.entry_id], outline))
    if outline.leaf is None:
        paper.line(Span("the leaf is none: the next entry begins at the root", "dim"))


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number:,} entries"


def layout(
    nodes: Sequence[OutlineNode], branch: str, down: str
) -> Iterator[tuple[str, OutlineNode]]:
    """Each node with what is drawn in front of it, from the roots down.

    A node's children but the longest come first, each one step to the right; the longest goes
    on in the node's own column. So a chain is never indented, and the nesting of a tree of n
    entries stays below the square root of 2n.
    """
    children: dict[str | None, list[OutlineNode]] = {}
    known = {node.entry_id for node in nodes}
    for node in nodes:
        children.setdefault(node.parent_id if node.parent_id in known else None, []).append(node)
    longest = _longest(nodes)
    todo = [(node, "", "") for node in reversed(children.get(None, []))]
    while todo:
        node, first, rest = todo.pop()
        yield first, node
        below = children.get(node.entry_id, [])
        if not below:
            continue
        straight = max(below, key=lambda n: (longest[n.entry_id], n.on_path, n.position))
        todo.append((straight, rest, rest))
        beside = [child for child in below if child is not straight]
        todo.extend((child, rest + branch, rest + down) for child in reversed(beside))


def _longest(nodes: Iterable[OutlineNode]) -> dict[str, int]:
    """Entry id to the length of the longest chain that begins there. Parents stand first."""
    longest: dict[str, int] = {}
    for node in reversed(list(nodes)):
        own = longest.setdefault(node.entry_id, 1)
        if node.parent_id is not None:
            longest[node.parent_id] = max(longest.get(node.parent_id, 1), own + 1)
    return longest


def _line(
    paper: Paper, prefix: str, node: OutlineNode, short: str, outline: Outline
) -> Iterator[Span | str]:
    glyphs = paper.glyphs
    yield Span(_narrowed(paper, prefix), "dim")
    if node.struck:
        yield Span(glyphs.cross, "bad")
    else:
        yield Span(glyphs.dot if node.on_path else glyphs.ring, "good" if node.on_path else "dim")
    yield Span(f" {short}", "mark" if node.on_path else "dim")
    name = node.role or node.kind if node.kind == MESSAGE else node.kind.replace("_", " ")
    yield Span(f" {name}", node.role or "mark")
    if node.entry_id == outline.leaf:
        yield Span(" <- leaf" if glyphs.arrow == "->" else " ◀ leaf", "good")
    if node.label is not None:
        yield Span(f" [{node.label}]", "label")
    if node.struck:
        yield Span(" (struck out)", "bad")
    elif node.status == "pending":
        yield Span(" (unfinished)", "warning")
    elif node.status == "error":
        yield Span(" (error)", "bad")
    text = first_line(node.preview)
    if node.calls:
        calls = " ".join(f"[{name}]" for name in node.calls)
        text = text if text == calls else f"{text} {calls}"
    yield Span(f"  {text}", "" if node.on_path else "dim")


def _narrowed(paper: Paper, prefix: str) -> str:
    """A prefix that leaves room for the entry: of deep nesting the end is drawn."""
    if paper.width is None or len(prefix) <= paper.width // 2:
        return prefix
    return paper.glyphs.ellipsis + prefix[-(paper.width // 2) :]
