"""Reads a session file and gives the events that are new in it, in file order.

Nothing is kept in memory but ids and what the next records need of the earlier ones. What was
imported before is compared record by record; if any of it has changed, nothing is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO, Final

from ..domain.bodies import StartBody
from ..domain.drafts import Draft
from ..domain.events import SessionStarted
from ..domain.heads import Head
from .detection import Identity, identify
from .errors import SourceChanged
from .late import LateParents, Waiting
from .line import BLANK, GLUED, TORN, Line
from .lines import LineReader
from .making import make
from .messages import kept_message, take
from .natives import EventAt, Natives
from .outlines import Outline, Place
from .placing import Ids, Placer, is_node
from .plain import PlainWay
from .raw import line_digest, raw_text, record_digest, unreadable
from .report import REPAIRS, ImportReport
from .sources import Source
from .survey import Survey, survey
from .tau import has_target

_BOUNDARY: Final = {"pi": "firstKeptEntryId", "tau": "first_kept_entry_id"}


class SessionReading:
    """One reading of one file.

    `session_id` is the file's own; `report` fills up while `drafts` is iterated. Raises
    `ImportRefused` at once for a file that is none of a session.
    """

    def __init__(self, source: Source, path: str) -> None:
        self.report = ImportReport(path, size=source.size)
        self.identity: Identity = identify(source, self.report)
        self.form = self.identity.form
        self.session_id = self.identity.session_id
        self.report.session_id = self.session_id
        self.consumed = 0
        """How many bytes of the file have been read."""
        self._source = source
        self._late = LateParents()
        self._bytes = 0
        self._reasons: set[str] = set()
        self._glued = 0

    def drafts(
        self,
        known: Iterable[Head] | None = None,
        *,
        event_at: EventAt | None = None,
        incarnation: str | None = None,
        tail: BinaryIO | None = None,
    ) -> Iterator[Draft]:
        """The events that are new; the first begins the tape where `known` is None.

        `known`: the heads of the tape, in order; all of them have been taken when the first event
        is given. Those without a line were not imported: the session was gone on with here, and
        the file does not move the leaf any more; what it holds of them, it was exported with.
        `event_at` gives the events at their positions (1, 2, …). `tail` gives the lines of a file
        that still grows, in place of the file as it is now. Raises `SourceChanged` before the first
        event is given.
        """
        self._heads = iter(enumerate(known or (), 1))
        self._known: Iterator[Head] = self._imported()
        self._natives = Natives(self.form, self.session_id, event_at)
        self._ids = Ids(self.session_id, self._natives)
        self._placer = Placer(self.form, self._ids, self._make_survey, self._first_time())
        self._way = PlainWay(self.form, self._placer)
        self._header = next(self._known, None) if self.identity.header is not None else None
        self._next = next(self._known, None)
        if known is None:
            yield self._started(incarnation)
        with self._source.open() if tail is None else tail as file:
            limit = self._source.size if tail is None else None
            make = self._way.draft
            for line in self.form.lines(LineReader(file, self.form.is_record, limit)):
                # The event of a new message about which there is nothing to report; None for
                # everything else: `_line` deals with it, and nothing has been changed.
                plain, draft = line.plain, None
                if plain is not None and plain.value is line.value and self._next is None:
                    draft = make(plain, line.number)
                if draft is None:
                    yield from self._line(line)
                    continue
                if self._late:
                    self._say_late(line, line.value["id"])
                self.consumed = line.end
                self.report.read += 1
                self.report.keep(line.end - line.start, repaired=False)
                yield draft
        self.check_end()

    def check_end(self) -> None:
        """Raise `SourceChanged` if the file ends before all that was imported of it has come."""
        if self._next is not None:
            raise self._changed(self._next.line, "is gone")

    def _imported(self) -> Iterator[Head]:
        for position, head in self._heads:
            if head.line is not None:
                yield head
            else:
                self._placer.pass_by(position, head)

    def _first_time(self) -> Any:
        token = self.identity.timestamp
        return token if self.form.is_time(token) else None

    # -- lines -----------------------------------------------------------------------------

    def _line(self, line: Line) -> Iterator[Draft]:
        report = self.report
        report.read += 1
        self.consumed = line.end
        self._bytes = line.end - line.start
        self._reasons = set()
        header = self.identity.header
        if line.problem in (BLANK, TORN):
            report.skip(self._bytes, torn=line.problem == TORN)
            self._say(line, line.problem or "", f"{self._bytes} bytes")
        elif header is not None and line.start == header.start:
            self._count_header(line)
        elif not line.has_value:
            yield from self._unreadable(line)
        else:
            yield from self._record(line)

    def _say(self, line: Line, reason: str, detail: str = "") -> None:
        self._reasons.add(reason)
        if reason == GLUED:
            if self._glued == line.number:
                return  # said once for the line
            self._glued = line.number
        self.report.add(line.number, reason, detail)

    def _say_notes(self, line: Line) -> None:
        for reason, detail in line.notes:
            self._say(line, reason, detail)

    def _kept(self) -> None:
        self.report.keep(self._bytes, repaired=not self._reasons.isdisjoint(REPAIRS))

    def _already(self) -> None:
        self.report.find(self._bytes)

    def _count_header(self, line: Line) -> None:
        if self._header is None:
            self._say_notes(line)
            self._kept()
        elif self._header.record != line_digest(line):
            raise self._changed(line.number, "has changed")
        else:
            self._already()

    def _unreadable(self, line: Line) -> Iterator[Draft]:
        raw = line.raw or b""
        if self._is_already(line, record_digest(None, raw), None):
            return
        self._say_notes(line)
        self._say(line, line.problem or "", f"{len(raw)} bytes, at byte {line.start}")
        self.report.foreign += 1
        self._kept()
        yield unreadable(line.number, line.start, line.end, raw, line.problem or "")

    def _is_already(self, line: Line, digest: str, own_id: Any) -> bool:
        """Whether a record was imported before. Raises `SourceChanged` where another was."""
        head = self._next
        if head is None:
            return False
        if head.record != digest:
            raise self._changed(line.number, "has changed")
        self._adopt(head, line, own_id)
        return True

    def _adopt(self, head: Head, line: Line, own_id: Any) -> None:
        """Go on behind a record that was imported before."""
        self._placer.adopt(head, own_id)
        if line.has_value and isinstance(line.value, dict):
            parent = line.value.get(self.form.PARENT)
            self._late.adopt(head, own_id, parent, self._ids.lookup)
        self._already()
        self._next = next(self._known, None)

    def _changed(self, line: int | None, what: str) -> SourceChanged:
        return SourceChanged(
            self.report,
            "changed_line",
            f"line {line} was imported into session {self.session_id!r} before, and {what}; "
            "nothing was written; import the file with --as-new to have it as another session",
            line,
        )

    # -- records ---------------------------------------------------------------------------

    def _record(self, line: Line) -> Iterator[Draft]:
        digest = line_digest(line)
        own_id = self.form.own_id(line.value)
        if self._ids.repeats(own_id, digest):
            self._already()
            if self._next is None:
                self._say(line, "duplicate_line", f"{own_id!s:.200}")
            return
        if (self._next is not None or self._natives) and self._is_native(line, digest):
            return
        if self._is_already(line, digest, own_id):
            return
        self._say_notes(line)
        outline = self.form.outline(line.value)
        place = Place(line.number, digest, None, raw=line.raw)
        if line.raw is not None:
            place.why = tuple(code for code, _ in line.notes)
        self._placer.place(outline, place, lambda reason, detail: self._say(line, reason, detail))
        if self._late:
            self._say_late(line, own_id)
        if place.unknown_parent:
            self._late.wait(outline.parent, Waiting(line.number, place.parent_id))
        if outline.kind is None:
            self.report.foreign += 1
            self._say(line, outline.problem or "", outline.type)
        elif outline.type == "compaction":
            self._boundary(line, outline, place)
        elif outline.type == "label" and self.form.NAME == "tau":
            self._target(outline, place)
        self._kept()
        yield self.form.draft(outline, place)

    def _is_native(self, line: Line, digest: str) -> bool:
        """Whether a record says what the session says already, though it was not imported."""
        head = self._next
        if head is not None:
            if head.record == digest:
                return False
            self._look_ahead()
        outline = self.form.outline(line.value)
        if self._natives.holds(outline, self._ids.lookup):
            self._already()
            return True
        if head is not None and self._natives.changed(head, outline):
            self._adopt(head, line, outline.own_id)
            return True
        return False

    def _look_ahead(self) -> None:
        """Read the tape to its end: what was done with an entry here comes behind it."""
        heads: list[Head] = []
        ids: set[str | None] = set()
        passed: list[tuple[int, Head]] = []
        for position, head in self._heads:
            if head.line is None:
                passed.append((position, head))
            else:
                heads.append(head)
                ids.add(head.entry_id)
        for position, head in passed:
            self._placer.pass_by(position, head, ids)
        if heads:
            self._known = chain(self._known, heads)

    def _say_late(self, line: Line, own_id: Any) -> None:
        for waiting in self._late.come(own_id):
            under = f"under {waiting.under}" if waiting.under else "a root"
            parent = f"its parent {own_id!s:.200} has come in line {line.number}"
            self.report.add(waiting.line, "late_parent", f"{parent}; the record stays {under}")

    def _boundary(self, line: Line, outline: Outline, place: Place) -> None:
        record = outline.record
        token = record.get(_BOUNDARY[self.form.NAME])
        if token is None:
            if self.form.NAME == "pi" and isinstance(record.get("retainedTail"), list):
                self._tail(line, record["retainedTail"], place)
            return
        found = self._placer.known(token)
        place.first_kept = found or (token if isinstance(token, str) else None)
        if found is None and "replaces_entry_ids" not in record:
            self._say(line, "boundary_unknown", f"{token!s:.200}")

    def _tail(self, line: Line, tail: list[Any], place: Place) -> None:
        """A compaction without a boundary that carries the messages which it keeps."""
        if not tail:
            return
        found = self._placer.survey()
        rows = found.messages_above(place.parent_id, len(tail))
        place.tail = True
        if len(rows) == len(tail) and all(
            record_digest(self._message_at(found, row)) == record_digest(kept)
            for row, kept in zip(rows, tail, strict=True)
        ):
            place.first_kept = found.ids[rows[0]]
            return
        taken = [take(message) for message in tail]
        place.kept = [kept_message(t) for t in taken if t is not None]
        self._say(line, "tail_differs", f"{len(tail)} messages")

    def _message_at(self, found: Survey, row: int) -> Any:
        with self._source.open() as file:
            file.seek(found.starts[row])
            raw = file.read(found.ends[row] - found.starts[row])
        for line in islice(LineReader(raw, self.form.is_record), 1):
            if isinstance(line.value, dict):
                return line.value.get("message")
        return None

    def _target(self, outline: Outline, place: Place) -> None:
        """The one label of a session that Tau's older generations had names no target."""
        if has_target(outline.record):
            return
        found = self._placer.survey()
        place.target = found.branchable or found.other or place.parent_id or place.entry_id

    def _make_survey(self) -> Survey:
        null_parent, placed = self.form.NULL_PARENT, self._placer.placed
        with self._ids.looking_ahead():
            return survey(self._nodes(), self._ids, null_parent, placed)

    def _nodes(self) -> Iterator[tuple[Line, Outline, str]]:
        """Every node of the file, with the id that it has or will get."""
        header, ids = self.identity.header, self._ids
        known = list(ids.rows)
        row = 0
        with self._source.open() as file:
            for line in self.form.lines(LineReader(file, self.form.is_record, self._source.size)):
                if not line.has_value or (header is not None and line.start == header.start):
                    continue
                digest = line_digest(line)
                outline = self.form.outline(line.value)
                if self._natives and self._natives.holds(outline, ids.lookup):
                    continue
                if is_node(outline) and not ids.repeats(outline.own_id, digest, row):
                    if row < len(known):
                        entry_id = known[row]
                    else:
                        entry_id = ids.assign(outline.own_id, line.number, digest, _silent)
                    yield line, outline, entry_id
                    row += 1

    # -- the beginning ---------------------------------------------------------------------

    def _started(self, incarnation: str | None) -> Draft:
        """The first event of a new session, with what the file says of the whole of it."""
        identity = self.identity
        for reason, detail in identity.problems:
            self.report.add(identity.header.number if identity.header else None, reason, detail)
        header = identity.header
        own: dict[str, Any] = {}
        if header is not None:
            own["header"] = header.value
            if header.raw is not None:
                own.update(raw_text(header.raw))
        body = make(
            StartBody,
            source="import",
            incarnation=incarnation,
            directory=identity.directory,
            imported_from={
                "format": self.form.NAME,
                "version": identity.version,
                "name": self._source.name,
            },
            extra={self.form.NAME: own},
        )
        head = Head(kind=SessionStarted.KIND, timestamp=self._first_time())
        if header is not None:
            head.record = record_digest(header.value, header.raw)
            head.line = header.number
        return Draft(SessionStarted, head, body)


def _silent(reason: str, detail: str) -> None:
    """Takes no note: the same is said when the record is placed."""
