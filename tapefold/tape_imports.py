"""Importing a tape file (docs/tape-file.md): the same events at the same positions, or nothing.

The file is read twice. The first time every event is checked, and compared with what the store
has; whatever is refused is refused then, before anything is written. Where the file is damaged,
the tape ends before the damage: a tape with a hole would be another tape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from eventsourcing.persistence import StoredEvent

from .domain.errors import ConcurrencyConflict, TapefoldError
from .domain.events import TOPICS, Event, is_ours
from .interop.errors import NotASessionFile, SourceChanged, UnsupportedFile
from .interop.report import ImportReport
from .interop.sources import Source
from .persistence.codec import find_head
from .persistence.jsontext import JsonFault, load
from .persistence.tape_line import (
    VERSION,
    LineFault,
    TapeHeader,
    TapeRow,
    header_version,
    is_tape_header,
    read_header,
    read_line,
    same_state,
)
from .sessions import Sessions

NAME: Final = "jsonl"
"""The format, as reports and `tapefold export --format` name it."""

FIRST_LINE: Final = 1 << 20
"""Longest first line: one that goes on is none of a tape file. Unit: bytes."""

SAMPLE: Final = 1 << 16
SAMPLE_LINES: Final = 3
_EVENT: Final = re.compile(rb'\{"session_id":"[^"]{1,300}","position":[0-9]+,"topic":"tapefold\.')

BOM: Final = b"\xef\xbb\xbf"

CHUNK: Final = 2_000
CHUNK_BYTES: Final = 8 << 20
"""A transaction ends after so many events, or bytes of them."""

Progress = Callable[[int], None]
"""Is told how many bytes of the file have been dealt with."""


def is_tape_file(source: Source) -> bool:
    """Whether the first line is that of a tape file. Raises `OSError`."""
    with source.open() as file:
        first = file.readline(FIRST_LINE).removeprefix(BOM)
    if not first.lstrip().startswith(b"{"):
        return False
    try:
        return is_tape_header(load(first))
    except JsonFault:
        return False


def damaged_beginning(source: Source) -> bool:
    """Whether events of a tape file come where its first line should. Raises `OSError`."""
    with source.open() as file:
        sample = file.read(SAMPLE)
    return any(_EVENT.match(line) for line in sample.split(b"\n")[:SAMPLE_LINES])


@dataclass
class _Stop:
    """Why the reading of a file ended early. `line` None: at its end."""

    line: int | None
    reason: str
    text: str


class _Found(NamedTuple):
    """An event of the file: its line, the line's bytes, its place, its state as it is stored."""

    line: int
    size: int
    tape: _Tape
    row: TapeRow
    state: bytes


@dataclass
class _Tape:
    """One tape of the file, and where it goes. `there`: its length in the store."""

    session_id: str
    last: int
    goes_to: str
    there: int = 0


class TapeReading:
    """One tape file, to be checked and then written. Raises `ImportRefused` for its first line.

    `report` says what became of it: of the file's events `kept` are new, `already` were there,
    and the lines from the damage on are `skipped`.
    """

    def __init__(self, source: Source, path: str, new_id: str | None = None) -> None:
        self.report = ImportReport(path, NAME, size=source.size)
        self._source = source
        self._header = self._read_header()
        self.session_id = self._header.session_id if new_id is None else new_id
        self.report.session_id = self.session_id
        *above, own = self._header.tapes
        self._tapes = [_Tape(sid, last, sid) for sid, last in above]
        self._tapes.append(_Tape(*own, self.session_id))
        self._good = 0
        self._stop: _Stop | None = None

    def _read_header(self) -> TapeHeader:
        with self._source.open() as file:
            first = file.readline(FIRST_LINE)
        self._first = len(first)
        first = first.removeprefix(BOM)
        try:
            version = header_version(first)
            if version != VERSION:
                raise UnsupportedFile(
                    self.report,
                    "unsupported_version",
                    f"it is a tape file of version {version!r:.40}, and this tapefold reads "
                    f"version {VERSION}; use the tapefold that wrote it, or a newer one",
                    1,
                )
            return read_header(first)
        except LineFault as fault:
            raise NotASessionFile(
                self.report, "damaged_tape", f"line 1 begins no tape file: {fault}", 1
            ) from fault

    # -- the first reading -----------------------------------------------------------------

    def check(self, sessions: Sessions, progress: Progress | None = None) -> None:
        """Check every event, and compare it with what is there. Writes nothing.

        Raises `UnsupportedFile` (an event that this release does not know), `SourceChanged`
        (another event stands there), `NotASessionFile` (not even the first event can be read).
        """
        report = self.report
        stored: Iterator[tuple[int, str, bytes]] = iter(())
        for line, size, tape, row, _ in self._rows(sessions, progress, 0):
            if row.position == 1:
                tape.there = sessions.recorder.stream_version(tape.goes_to) or 0
                stored = sessions.recorder.iter_events(tape.goes_to, lte=tape.last)
            if row.position <= tape.there:
                self._compare(sessions, line, tape, row, next(stored, None))
                report.find(size)
            else:
                report.keep(size, repaired=False)
            self._good += 1
        report.read = report.kept + report.already + report.skipped
        if report.kept:
            report.bytes_kept += self._first
        else:
            report.bytes_already += self._first
        if self._stop is None:
            return
        stop = self._stop
        if not self._good:
            raise NotASessionFile(report, stop.reason, stop.text, stop.line)
        if self._good <= sum(tape.last for tape in self._tapes[:-1]):
            report.session_id = None  # of its ancestors alone is something there
        last = self._place_of(self._good)
        report.add(stop.line, stop.reason, f"{stop.text}; imported up to {last}")
        if stop.reason == "torn_tail":
            report.add(None, "incomplete_tape", self._missing())

    def _compare(
        self,
        sessions: Sessions,
        line: int,
        tape: _Tape,
        row: TapeRow,
        found: tuple[int, str, bytes] | None,
    ) -> None:
        if found is not None:
            position, topic, state = found
            plain = b""
            if is_ours(topic):
                plain = sessions.mapper.plain(StoredEvent(tape.goes_to, position, topic, state))
            if (position, topic) == (row.position, row.topic) and same_state(plain, row.state):
                return
        raise SourceChanged(
            self.report,
            "changed_tape",
            f"line {line}: session {tape.goes_to!r} is in the store, with another event at "
            f"position {row.position}; nothing was written; import the file with --as-new to "
            "have it as another session, or into another store",
            line,
        )

    def _place_of(self, count: int) -> str:
        for tape in self._tapes:
            if count <= tape.last:
                return f"position {count} of {tape.goes_to!r}"
            count -= tape.last
        return "its end"

    def _missing(self) -> str:
        whole = sum(tape.last for tape in self._tapes)
        return f"the file holds {self._good} of the {whole} events that its first line names"

    # -- the second reading ----------------------------------------------------------------

    def write(self, sessions: Sessions, progress: Progress | None = None) -> None:
        """Append what is new, as `check` has found it.

        Raises `ConcurrencyConflict` when somebody else appends to one of the tapes meanwhile;
        what was appended before stays, and importing again completes it.
        """
        if not self.report.kept:
            return
        chunk: list[StoredEvent] = []
        size = count = 0
        for _, _, tape, row, state in self._rows(sessions, progress, 1):
            count += 1
            if count > self._good:
                break
            if chunk and (
                row.position == 1 or len(chunk) >= CHUNK or size + len(state) > CHUNK_BYTES
            ):
                _append(sessions, chunk)
                chunk, size = [], 0
            if row.position > tape.there:
                chunk.append(StoredEvent(tape.goes_to, row.position, row.topic, state))
                size += len(state)
        if chunk:
            _append(sessions, chunk)
        if count < self._good:
            raise TapefoldError(
                f"{self.report.path}: the file changed while it was read; what was imported "
                "stays; import it again"
            )

    # -- reading ---------------------------------------------------------------------------

    def _rows(self, sessions: Sessions, progress: Progress | None, turn: int) -> Iterator[_Found]:
        """Each good event, up to the first damage.

        In the first turn the report takes note of blank lines and of what is left unread.
        """
        places = self._places()
        place = next(places, None)
        self._stop = None
        for number, raw, read in self._lines():
            if progress is not None:
                progress((turn * self._source.size + read) // 2)
            if self._stop is not None:
                self._skip(turn)
            elif not raw.strip():
                if turn == 0:
                    self.report.skip(len(raw), torn=False)
                    self.report.add(number, "blank_line", f"{len(raw)} bytes")
            elif place is None:
                self._stop = _Stop(number, "damaged_tape", "the file goes on after its last event")
                self._skip(turn)
            else:
                found = self._row(sessions, number, raw, *place)
                if isinstance(found, _Stop):
                    self._stop = found
                    if turn == 0:
                        self._count_stop(len(raw))
                    continue
                yield _Found(number, len(raw), place[0], *found)
                place = next(places, None)
        if self._stop is None and place is not None:
            self._stop = _Stop(None, "incomplete_tape", "")
            self._stop.text = self._missing()

    def _skip(self, turn: int) -> None:
        if turn == 0:
            self.report.skipped += 1

    def _count_stop(self, size: int) -> None:
        if self._stop is not None and self._stop.reason == "torn_tail":
            self.report.skip(size, torn=True)
        else:
            self.report.skipped += 1

    def _places(self) -> Iterator[tuple[_Tape, int]]:
        for tape in self._tapes:
            for position in range(1, tape.last + 1):
                yield tape, position

    def _lines(self) -> Iterator[tuple[int, bytes, int]]:
        """(line, its bytes, bytes read so far) after the first line."""
        left = self._source.size
        with self._source.open() as file:
            number = 0
            while left > 0 and (raw := file.readline(left)):
                left -= len(raw)
                number += 1
                if number > 1:
                    yield number, raw, self._source.size - left

    def _row(
        self, sessions: Sessions, line: int, raw: bytes, tape: _Tape, position: int
    ) -> tuple[TapeRow, bytes] | _Stop:
        """The event that stands at a place, or why there is none."""
        try:
            row = read_line(raw)
        except LineFault as fault:
            if raw.endswith(b"\n"):
                return _Stop(line, "damaged_tape", f"the line is no event: {fault}")
            return _Stop(line, "torn_tail", "the last line is cut off")
        if (row.session_id, row.position) != (tape.session_id, position):
            return _Stop(
                line,
                "damaged_tape",
                f"position {row.position} of {row.session_id!r} stands where position "
                f"{position} of {tape.session_id!r} should",
            )
        self._check_known(line, row)
        state = sessions.mapper.seal(row.state)
        try:
            event: Any = sessions.mapper.to_domain_event(
                StoredEvent(row.session_id, position, row.topic, state)
            )
            _ = event.body
        except TapefoldError as fault:
            return _Stop(line, "damaged_tape", str(fault))
        if position == 1 and not self._fits(tape, event):
            return _Stop(
                line, "damaged_tape", f"{tape.session_id!r} does not go on the tape before it"
            )
        return row, state

    def _check_known(self, line: int, row: TapeRow) -> None:
        """Raise `UnsupportedFile` for an event that this release cannot read."""
        cls = TOPICS.get(row.topic)
        where = f"line {line} (position {row.position} of {row.session_id!r})"
        if cls is None and not is_ours(row.topic):
            raise UnsupportedFile(
                self.report,
                "foreign_topic",
                f"{where} holds an event {row.topic!r:.200}, which is none of a session; "
                "nothing was written",
                line,
            )
        version, _, _ = find_head(row.state)
        if cls is None or version > cls.class_version:
            raise UnsupportedFile(
                self.report,
                "newer_event",
                f"{where} holds an event {row.topic!r:.200} of class version {version}, which "
                "this tapefold does not know; use the tapefold that wrote the file, or a newer "
                "one; nothing was written",
                line,
            )

    def _fits(self, tape: _Tape, event: Event) -> bool:
        """Whether a tape stands on the one before it in the file, and on no other."""
        at = self._tapes.index(tape)
        origin = event.head.origin
        if origin is None or not origin.inherit:
            return at == 0
        above = self._tapes[at - 1]
        return at > 0 and (origin.session_id, origin.position) == (above.session_id, above.last)


def _append(sessions: Sessions, chunk: list[StoredEvent]) -> None:
    """Append events of one tape in one transaction, as they are."""
    session_id, position = str(chunk[0].originator_id), chunk[0].originator_version - 1
    with sessions.recorder.writing() as transaction:
        actual = transaction.stream_version(session_id) or 0
        if actual != position:
            raise ConcurrencyConflict(session_id, position, actual)
        transaction.insert_events(chunk)


__all__ = ["NAME", "TapeReading", "damaged_beginning", "is_tape_file"]
