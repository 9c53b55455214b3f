"""What a summary should cover, as text for a person or a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapefold.domain.content import ThinkingBlock, ToolCallBlock
from tapefold.domain.context import Context, Row, build_context
from tapefold.domain.nodes import MessageNode
from tapefold.domain.tokens import estimate_tokens
from tapefold.domain.tree import entry_of, path
from tapefold.domain.view import build_view

from .words import arguments_text, content_lines

if TYPE_CHECKING:
    from tapefold.domain.kernel import State
    from tapefold.domain.view import Tapes


@dataclass(frozen=True)
class Covered:
    """What a summary should cover: rows of the context, in their order.

    `position` and `leaf` are those of the tape when it was read; `kept` is the entry after
    which (branch), or from which on (compaction), nothing is covered. `moved` says that this
    boundary was moved back.
    """

    session_id: str
    position: int
    leaf: str | None
    rows: tuple[Row, ...]
    kept: str | None
    moved: bool = False

    @property
    def text(self) -> str:
        """All rows, nothing cut."""
        return "\n\n".join(_texts(self.rows, self.session_id))

    @property
    def tokens(self) -> int:
        """The estimate for the rows: characters / 4."""
        return sum(estimate_tokens(row.content) for row in self.rows)


def rows_of(context: Context, entry_ids: Iterable[str]) -> tuple[Row, ...]:
    """The rows of some entries; a row that no entry made belongs to the one before it."""
    wanted = set(entry_ids)
    rows = []
    inside = False
    for row in context.rows:
        inside = inside if row.entry_id is None else row.entry_id in wanted
        if inside:
            rows.append(row)
    return tuple(rows)


def _texts(rows: Sequence[Row], session_id: str) -> Iterator[str]:
    tools: dict[str, str] = {}
    for row in rows:
        where = ""
        if row.position is not None:
            own = row.session_id == session_id
            where = f" #{row.position}" if own else f" {row.session_id}#{row.position}"
        tool = "" if row.call_id is None else f" {tools.get(row.call_id, row.call_id)}"
        failed = " failed" if row.is_error else ""
        who = row.role if row.kind in ("message", "synthetic") else row.kind.replace("_", " ")
        lines = [f"[{who}{tool}{failed}{where}]"]
        for block in row.content:
            if isinstance(block, ToolCallBlock):
                tools[block.call_id] = block.name
                lines.append(f"(calls {block.name}: {arguments_text(block.arguments)})")
            elif isinstance(block, ThinkingBlock):
                if block.thinking.strip():
                    lines.append(f"(thinks: {block.thinking.strip()})")
            else:
                lines.append(content_lines((block,)).strip("\r\n"))
        yield "\n".join(line for line in lines if line)


# -- a branch that is left -----------------------------------------------------------------------


def abandoned_entries(state: State, goal: str | None) -> list[str]:
    """The nodes on the way from the leaf up to the common ancestor with `goal`, root first."""
    stay = {node.entry_id for node in path(state, goal)}
    return [n.entry_id for n in path(state, state.leaf) if n.entry_id not in stay]


def abandoned(state: State, tapes: Tapes, goal: str | None) -> Covered:
    """What is left behind when the leaf moves to `goal`, as the model was sent it there.

    A compaction on the abandoned part stands for what it covers. `kept` is the common ancestor.
    """
    left = abandoned_entries(state, goal)
    context = build_context(build_view(state, tapes))
    return Covered(
        state.session_id,
        state.position,
        state.leaf,
        rows_of(context, left),
        common_ancestor(state, goal),
    )


def common_ancestor(state: State, goal: str | None) -> str | None:
    """The last entry that the paths to the leaf and to `goal` share; None: the root."""
    stay = {node.entry_id for node in path(state, goal)}
    shared = [node for node in path(state, state.leaf) if node.entry_id in stay]
    return entry_of(shared[-1]) if shared else None


def what_was_left(state: State, goal: str | None) -> tuple[tuple[str, int], ...]:
    """Each abandoned node with its last change: equal as long as a summary of them holds."""
    found = []
    for entry_id in abandoned_entries(state, goal):
        node = state.entries.get(entry_id)
        edit = state.edits.get(entry_id)
        changed = state.changed(node.message_id) if isinstance(node, MessageNode) else 0
        found.append((entry_id, max(changed, 0 if edit is None else edit.seq)))
    return tuple(found)


# -- a compaction --------------------------------------------------------------------------------


def first_of_last(context: Context, state: State, keep: int) -> str | None:
    """The entry from which on the last `keep` messages of the context stand; None for none."""
    if not keep:
        return None
    shown = {row.entry_id for row in context.rows if row.kind == "message"}
    ids = [node.entry_id for node in path(state, state.leaf) if node.entry_id in shown]
    return ids[-keep] if keep <= len(ids) else next(iter(ids), None)
