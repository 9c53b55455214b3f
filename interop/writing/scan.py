"""One look at every head of a session: what the file will not hold, and which marks it keeps."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

from ...domain.heads import DIRECTORY, Head
from ...domain.nodes import MESSAGE, NODE_KINDS, MessageNode
from .answers import Verdicts
from .family import Family
from .report import ExportReport

_RECEIPTS: Final = frozenset(
    {"forked", "fork_merged", "fork_discarded", "subagent_linked", "backfill_recorded"}
)
_TRACES: Final = frozenset({"context_assembled", "model_call_completed"})


@dataclass
class Scan:
    """`marks`: imported marks that are lines of such a file. `loose`: order numbers of imported
    lines that are no node. `usage`: of usage records without a line. `owners`: call id to the
    first message that has such a call."""

    marks: set[str] = field(default_factory=set)
    loose: list[int] = field(default_factory=list)
    usage: list[int] = field(default_factory=list)
    written_marks: set[int] = field(default_factory=set)
    """Order numbers of the labels, names and usage records that keep a line of their own."""
    owners: dict[str, str] = field(default_factory=dict)
    says_info: bool = False
    """A line of the file is a session's information."""


class Scanner:
    """`mark_kinds`: kinds of events that are marks in a file of this format."""

    def __init__(
        self,
        family: Family,
        report: ExportReport,
        found: Verdicts,
        name: str,
        mark_kinds: Container[str],
        only: Container[str] | None,
    ) -> None:
        self.family = family
        self.state = family.state
        self.report = report
        self.found = found
        self.name = name
        self.mark_kinds = mark_kinds
        self.only = only
        self.facts = {seq for calls in found.facts.values() for _, seq in calls}
        self.call_facts = {
            (message_id, call_id) for message_id, ids in found.calls.items() for call_id in ids
        }

    def scan(self) -> Scan:
        """Look at every head, in order."""
        out = Scan()
        for session_id, position, seq, head in self.family.heads():
            reason = self._reason(out, session_id, seq, head)
            if reason is not None:
                told = head.entry_id or head.message_id
                self.report.add(reason, session_id, position, told)
            if head.key is not None:
                self.report.add("provenance", session_id, position, head.entry_id)
        return out

    def _reason(self, out: Scan, session_id: str, seq: int, head: Head) -> str | None:
        kind = head.kind
        came = head.line is not None and self.family.formats.get(session_id) == self.name
        if came and head.entry_id is not None and kind in self.mark_kinds:
            if self._is_here(head.entry_id):
                out.marks.add(head.entry_id)
                out.written_marks.add(seq)
                out.says_info = out.says_info or kind == "session_info_changed"
                return None
            return "other_branch"
        if NODE_KINDS.get(kind) == MESSAGE:
            return self._version(out, seq, head)
        if kind == "foreign_recorded" and head.entry_id is None:
            out.loose.append(seq)
            return None
        if kind in NODE_KINDS:
            there = head.entry_id is None or self._is_here(head.entry_id)
            return None if there else "other_branch"
        return self._mark(out, came, seq, head)

    def _is_here(self, entry_id: str) -> bool:
        return self.only is None or entry_id in self.only

    def _version(self, out: Scan, seq: int, head: Head) -> str | None:
        message_id = head.message_id or head.entry_id or f"#{seq}"
        node = self.state.message_node(message_id)
        message = self.state.message(message_id)
        if node is None or message is None:
            return "older_version"
        if not self._is_here(node.entry_id):
            return "other_branch" if node.born == seq else None
        final = message.final
        if final is None:
            if node.born != seq:
                return "older_version"
            return "struck" if message.struck else "draft"
        if final.seq != seq:
            return "older_version"
        if message_id in self.found.hidden:
            return "hidden_result"
        if message_id in self.found.doubtful:
            return "paths_differ"
        return self._calls(out, node, final.call_ids, final.role)

    def _calls(
        self, out: Scan, node: MessageNode, calls: tuple[str, ...], role: str | None
    ) -> str | None:
        if role != "assistant":
            return None
        others = [out.owners.setdefault(call_id, node.message_id) for call_id in calls]
        return "repeated_call_id" if any(one != node.message_id for one in others) else None

    def _mark(self, out: Scan, came: bool, seq: int, head: Head) -> str | None:
        match head.kind:
            case "retracted":
                return "retraction"
            case "tool_call_recorded":
                owned = (head.owner or "", head.call_ids[0] if head.call_ids else "")
                fact = self.state.facts.get(owned)
                is_it = fact is not None and fact.call_seq == seq and owned in self.call_facts
                return "call_fact" if is_it else "fact_unwritten"
            case "tool_result_recorded":
                return "result_fact" if seq in self.facts else "fact_unwritten"
            case "leaf_moved":
                return "old_leaf" if came else "leaf_move"
            case "labelled":
                newest = [self.state.labels.get(target) for target in head.targets]
                return None if any(f and f.seq == seq for f in newest) else "older_mark"
            case "session_info_changed":
                return self._info(seq, head)
            case "usage_recorded":
                out.usage.append(seq)
                return None
        if head.kind in _RECEIPTS:
            return "receipt"
        return "trace" if head.kind in _TRACES else None

    def _info(self, seq: int, head: Head) -> str | None:
        if head.digest is not None or head.cleared:
            return None if self.state.name and self.state.name.seq == seq else "older_mark"
        if head.name != DIRECTORY:
            return "info"
        return None if self.state.info and self.state.info.seq == seq else "older_mark"
