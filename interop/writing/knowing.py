"""What every writer knows of the session that it writes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, ClassVar, Final

from ...domain.events import Event
from ...domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MARK,
    MESSAGE,
    AnyNode,
    MessageNode,
)
from ...domain.order import sort_rows
from ...domain.tree import children, path
from ..records import RecordFormat
from .answers import verdicts
from .family import Family
from .models import Models
from .plan import Plan, Planner
from .report import ExportReport
from .scan import Scan, Scanner
from .summaries import Summaries

Record = dict[str, Any]

NAMESPACE: Final = "tapefold"
"""Custom data that says what a file has no record for is named `tapefold.<what>`."""

_EVERY: Final = frozenset({"actor", "correlation_id", "causation_id", "trace_id", "span_id"})
"""Fields of any event that no file has a place for."""


class Knowing:
    """A session as it is to be written: its plan, and questions about it.

    `leaf`: where the tool is to open the file; `only`: the entries of one branch.
    """

    FORM: ClassVar[RecordFormat]
    SURROGATES: ClassVar[bool] = True
    """Whether the tool reads half characters."""
    MARK_KINDS: ClassVar[frozenset[str]] = frozenset()
    HELD: ClassVar[dict[str, frozenset[str]]] = {}
    """Event kind to the fields of its body that the format has a place for."""

    def __init__(
        self, family: Family, leaf: str | None, only: Container[str] | None, report: ExportReport
    ) -> None:
        self.family = family
        self.state = family.state
        self.report = report
        self.only = only
        self.leaf = leaf
        below = children(self.state)
        tips = [] if only is not None else [key for key in self.state.entries if key not in below]
        self.found = verdicts(self.state, leaf, reversed(tips))
        self.summaries = Summaries(self.state, leaf, only)
        if self.found.unchecked:
            report.add("branches_unchecked")
        scanner = Scanner(family, report, self.found, self.FORM.NAME, self.MARK_KINDS, only)
        self.scan: Scan = scanner.scan()
        self.edits = self.leaf_edits()
        self.planner = Planner(self.state, self.found, self.is_written, self.is_row)
        self.plan: Plan = self.planner.plan(leaf, None if only is None else _listed(only))
        self.written = self.plan.parents
        self.time = 0
        self.root: str | None = None
        """A line of the preamble under which the roots hang."""
        self.turn: dict[str, str] = {}
        """Line to the message whose calls it makes or directly answers."""
        self.models = Models()
        report.leaf = self.plan.leaf
        if not self.plan.holds_leaf:
            report.add("leaf", entry_id=self.plan.leaf)
        if self.state.offset:
            report.add("fork", detail=f"{self.state.offset} inherited events")
        self._order_numbers()

    # -- which lines there are -------------------------------------------------------------

    def is_written(self, node: AnyNode) -> bool:
        """Whether an entry gets a line of its own."""
        if node.kind == MARK:
            return node.entry_id in self.scan.marks
        if isinstance(node, MessageNode):
            message = self.state.message(node.message_id)
            if message is None or message.final is None:
                return False
            return node.message_id not in self.found.hidden
        return True

    def is_row(self, node: AnyNode) -> bool:
        """Whether its line takes the leaf when the file is imported."""
        if node.kind in ANCHORS:
            return self.summaries.rules(node.entry_id)
        return node.kind in (MESSAGE, BRANCH_SUMMARY)

    def leaf_edits(self) -> dict[str, Event]:
        """The last edit of each target on the leaf's path, if it has an effect."""
        nodes = path(self.state, self.leaf)
        last: dict[str, Event] = {}
        for node in nodes:
            if node.kind == CONTEXT_EDIT:
                event = self.family.event(node.seq)
                for target in event.head.targets:
                    last[target] = event
        return {t: event for t, event in last.items() if self.edit_holds(t, event)}

    def edit_holds(self, target: str, event: Event) -> bool:
        """Whether no later version of its target wins over an edit."""
        node = self.state.entries.get(target)
        if node is None:
            return False
        if event.head.cleared or event.body.content is None or not isinstance(node, MessageNode):
            return True
        message = self.state.message(node.message_id)
        if message is None or message.final is None:
            return False
        return message.final.seq < self.seq(event)

    def seq(self, event: Event) -> int:
        """The order number of an event."""
        before = dict(self.state.lineage)[event.session_id]
        return before + event.position

    def _came_whole(self, event: Event) -> bool:
        return self.FORM.own(event.body) is not None and event.head.line is not None

    def tell(self, reason: str, event: Event, detail: str = "") -> None:
        """Report something of an event."""
        entry_id = event.head.entry_id or event.head.message_id
        self.report.add(reason, event.session_id, event.position, entry_id, detail)

    def labels(self) -> Iterator[tuple[str, Event]]:
        """(entry, event) of each label that no line of the file says yet, the newest of its
        entry; also of those that take a label away which the file does say."""
        facts = sorted((fact.seq, target) for target, fact in self.state.labels.items())
        for seq, target in facts:
            if seq in self.scan.written_marks:
                continue
            event = self.family.event(seq)
            if target in self.written:
                if not event.head.cleared or self.scan.marks:
                    yield target, event
            elif not event.head.cleared:
                self.tell("label", event)

    def name(self) -> tuple[str | None, Event] | None:
        """(the session's name, the event that gave it); None: no line has to say it."""
        fact = self.state.name
        if fact is None or fact.seq in self.scan.written_marks:
            return None
        event = self.family.event(fact.seq)
        return (None if fact.cleared else event.body.title), event

    def directory(self) -> str | None:
        """The session's directory."""
        if self.state.info is None:
            return None
        found: str | None = self.family.event(self.state.info.seq).body.directory
        return found

    def _order_numbers(self) -> None:
        if self.state.max_order_seq is None:
            return
        rows: list[tuple[MessageNode, int | None]] = []
        for node in path(self.state, self.leaf):
            message = self.state.message(node.message_id) if isinstance(node, MessageNode) else None
            if isinstance(node, MessageNode) and message is not None and message.final is not None:
                rows.append((node, message.final.order_seq))
        ordered = sort_rows(
            rows, lambda row: None if row[1] is None else (row[1], row[0].message_id)
        )
        for (here, _), (there, _) in zip(rows, ordered, strict=True):
            if here is not there:
                session_id, position = self.state.locate(here.seq)
                self.report.add("order_number", session_id, position, here.entry_id)


def _listed(only: Container[str]) -> Iterable[str]:
    assert isinstance(only, set | frozenset)
    return only


def spoken(state: Any, node: AnyNode) -> int:
    """Order number of the event that speaks for an entry."""
    if isinstance(node, MessageNode):
        message = state.message(node.message_id)
        if message is not None and message.final is not None:
            return int(message.final.seq)
    return node.seq
