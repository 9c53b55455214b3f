"""A session that is nothing but an imported file comes out as that file's lines.

Every record is the one that was read, in the order of the file; a line that could not be read,
or not whole, comes out as its bytes. Blank lines, a torn tail and repeated lines are not kept by
an import. Files of older generations come out as the newest release of the tool writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...domain.events import Event, ForeignRecorded, LeafMoved
from ..pi_eras import newest_header
from ..raw import raw_of
from ..records import RecordFormat
from .family import Family
from .jsonline import json_line, record_line
from .report import ExportReport
from .tau_newest import is_of_old_file, newest_record


def is_as_it_came(family: Family, form: RecordFormat) -> bool:
    """Whether a session holds what was imported from one file of this tool, and nothing else."""
    state = family.state
    if state.offset or family.formats[state.session_id] != form.NAME:
        return False
    return all(head.line is not None or position == 1 for _, position, _, head in family.heads())


class AsItCame:
    """The lines of the file. `raw_older`: files of Tau's older generations need a look ahead."""

    def __init__(self, family: Family, form: RecordFormat, report: ExportReport) -> None:
        self.family = family
        self.form = form
        self.report = report
        report.as_it_came = True
        report.leaf = family.state.leaf
        self.old = form.NAME == "tau" and is_of_old_file(self._records())
        self.leaves: dict[str, str | None] = {}
        """Leaf lines of an older generation, to the parent that their children get."""
        if self.old:
            for _, _, _, head in family.heads():
                if head.kind == LeafMoved.KIND and head.entry_id is not None:
                    self.leaves[head.entry_id] = head.parent_id

    def _records(self) -> Iterator[dict[str, Any]]:
        for event in self.family.all_events():
            record = None if event.position == 1 else self.form.record_of(event.head, event.body)
            if isinstance(record, dict):
                yield record

    def lines(self) -> Iterator[bytes]:
        """The lines, without their ends."""
        for event in self.family.all_events():
            line = self._header(event) if event.position == 1 else self._line(event)
            if line is not None:
                self.report.lines += 1
                self.report.size += len(line) + 1
                yield line

    def _header(self, event: Event) -> bytes | None:
        header = (self.form.own(event.body) or {}).get("header")
        if not isinstance(header, dict):
            return None
        newest = newest_header(header) if _is_older(header) else header
        raw = raw_of(event.body, self.form.NAME)
        return raw if raw is not None and newest is header else json_line(newest)

    def _line(self, event: Event) -> bytes | None:
        raw = raw_of(event.body, self.form.NAME)
        own = self.form.own(event.body) or {}
        record = self.form.record_of(event.head, event.body)
        if self.old and isinstance(record, dict):
            return self._newest(event, record)
        if raw is not None and "older" not in own:
            return raw
        if record is None and not isinstance(event, ForeignRecorded):
            return None
        return record_line(record, self.form.NAME)

    def _newest(self, event: Event, record: dict[str, Any]) -> bytes | None:
        if event.head.entry_id in self.leaves:
            self.report.add("old_leaf", event.session_id, event.position, event.head.entry_id)
            return None
        made = newest_record(record, event.head)
        parent = made.get(self.form.PARENT)
        seen: set[str] = set()
        while isinstance(parent, str) and parent in self.leaves and parent not in seen:
            seen.add(parent)
            parent = self.leaves[parent]
        if parent != made.get(self.form.PARENT):
            made.pop(self.form.PARENT, None)
            if parent is not None:
                made[self.form.PARENT] = parent
        return record_line(made, self.form.NAME)


def _is_older(header: dict[str, Any]) -> bool:
    version = header.get("version")
    return version is None or (type(version) is int and version < 3)
