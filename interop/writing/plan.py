"""Which entries of a session are written, where they hang, and in which order.

What a file cannot hold as a node is left out, and what hung under it hangs under the nearest
ancestor that is written. Entries keep the order of the tape, save those at the leaf: the tools
open a file at its last line, so the leaf's is moved to the end where it does not stand there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from ...domain.kernel import State
from ...domain.nodes import MARK, AnyNode, MessageNode
from ...domain.tree import born, children, path
from .answers import Verdicts


@dataclass(slots=True)
class Added:
    """A line of its own for a result that is only a fact. `seq` is the fact's."""

    entry_id: str
    owner: str
    call_id: str
    seq: int


@dataclass
class Plan:
    """What is written, in order: entry ids of the session, and added lines.

    `parents` is each line's parent. `leaf`: where the tool opens the file; `holds_leaf`: so
    does an import of ours. `marker`: the last line has to be one that says only that.
    """

    order: list[str | Added] = field(default_factory=list)
    parents: dict[str, str | None] = field(default_factory=dict)
    leaf: str | None = None
    holds_leaf: bool = True
    marker: bool = False
    on_leaf_path: dict[str, int] = field(default_factory=dict)
    """Written entries on the leaf's path, to their depth."""

    def above(self, entry_id: str | None) -> str | None:
        """The parent of a written line."""
        return None if entry_id is None else self.parents.get(entry_id)


class Planner:
    """Makes the plan. `is_written` says of an entry whether it gets a line of its own; `is_row`
    whether that line is one that takes the leaf when the file is imported."""

    def __init__(
        self,
        state: State,
        found: Verdicts,
        is_written: Callable[[AnyNode], bool],
        is_row: Callable[[AnyNode], bool],
    ) -> None:
        self.state = state
        self.found = found
        self.is_written = is_written
        self.is_row = is_row
        self.rows: set[str] = set()
        self.marks: set[str] = set()

    def plan(self, leaf: str | None, only: Iterable[str] | None) -> Plan:
        """The plan for a leaf; `only`: the entries of one branch, left out: all."""
        plan = Plan()
        below = children(self.state)
        allowed = None if only is None else set(only)
        last: dict[str, str | None] = {}
        todo: list[tuple[str, str | None]] = [(key, None) for key in reversed(below.get(None, []))]
        lines: list[tuple[int, int, str | Added]] = []
        while todo:
            key, parent = todo.pop()
            node = self.state.entries.get(key)
            if node is None or (allowed is not None and key not in allowed):
                continue
            under = parent
            if self.is_written(node):
                plan.parents[key] = parent
                lines.append((born(node), 0, key))
                under = key
                if node.kind == MARK:
                    self.marks.add(key)
                elif self.is_row(node):
                    self.rows.add(key)
                for n, added in enumerate(self._added(node, plan), 1):
                    plan.parents[added.entry_id] = under
                    lines.append((born(node), n, added))
                    self.rows.add(added.entry_id)
                    under = added.entry_id
            last[key] = under
            todo.extend((child, under) for child in reversed(below.get(key, [])))
        lines.sort(key=lambda line: line[:2])
        plan.order = [line for _, _, line in lines]
        plan.leaf = None if leaf is None else self._leaf(leaf, last)
        self._order(plan)
        depth = plan.leaf
        way = []
        while depth is not None:
            way.append(depth)
            depth = plan.parents[depth]
        plan.on_leaf_path = {key: n for n, key in enumerate(reversed(way))}
        return plan

    def _leaf(self, leaf: str, last: Mapping[str, str | None]) -> str | None:
        """The line that stands for the leaf: its own, that of its last added result, or the
        nearest above it."""
        for node in reversed(path(self.state, leaf)):
            if node.entry_id in last:
                return last[node.entry_id]
        return None

    def _added(self, node: AnyNode, plan: Plan) -> list[Added]:
        if not isinstance(node, MessageNode):
            return []
        made = []
        for call_id, seq in self.found.facts.get(node.message_id, ()):
            said = f"{self.state.session_id}:{node.entry_id}:{call_id}"
            made.append(Added(self._new_id(said, plan), node.entry_id, call_id, seq))
            plan.parents[made[-1].entry_id] = None
        return made

    def _new_id(self, said: str, plan: Plan) -> str:
        """The same id at each export, and none that is taken."""
        digits = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        length = 8
        while self._is_taken(digits[:length], plan) and length < len(digits):
            length += 8
        found, n = digits[:length], 1
        while self._is_taken(found, plan):
            found, n = f"{digits}~{n}", n + 1
        return found

    def _is_taken(self, entry_id: str, plan: Plan) -> bool:
        return entry_id in plan.parents or self.state.entries.get(entry_id) is not None

    def extra_id(self, said: str, plan: Plan) -> str:
        """An id for a line that stands for no entry; it is taken from now on."""
        made = self._new_id(f"{self.state.session_id}:{said}", plan)
        plan.parents[made] = None
        return made

    # -- the leaf --------------------------------------------------------------------------

    def _order(self, plan: Plan) -> None:
        """Put the leaf's line last where it has to be."""
        if self._opens(plan) == (plan.leaf, plan.leaf):
            return
        if plan.leaf is not None:
            tail = self._tail(plan)
            moved = set(tail)
            rest = [line for line in plan.order if _id(line) not in moved]
            by_id = {_id(line): line for line in plan.order if _id(line) in moved}
            plan.order = rest + [by_id[key] for key in tail]
        opened, imported = self._opens(plan)
        plan.marker = opened != plan.leaf
        plan.holds_leaf = imported == plan.leaf

    def _tail(self, plan: Plan) -> list[str]:
        """The lines from the last row on the leaf's path down to the leaf."""
        tail: list[str] = []
        at = plan.leaf
        while at is not None:
            tail.append(at)
            if at in self.rows:
                break
            at = plan.parents[at]
        tail.reverse()
        return tail

    def _opens(self, plan: Plan) -> tuple[str | None, str | None]:
        """(where the tool opens the file, where an import of ours does)."""
        current: str | None = None
        for line in plan.order:
            key = _id(line)
            if key in self.rows or (
                key not in self.marks and self._entry(plan.parents[key], plan) == current
            ):
                current = key
        last = _id(plan.order[-1]) if plan.order else None
        return self._entry(last, plan), current

    def _entry(self, key: str | None, plan: Plan) -> str | None:
        """What a mark stands for."""
        while key is not None and key in self.marks:
            key = plan.parents[key]
        return key


def _id(line: str | Added) -> str:
    return line if isinstance(line, str) else line.entry_id
