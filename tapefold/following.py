"""Following a session file that another program appends to: each line as it becomes complete.

The reader and its state are kept, so a new line costs the same however long the file is. A line
is taken when its line break is there, and committed before the follower waits again. Whoever
kills the follower and starts it anew gets no duplicates: what is on the tape is recognised, as
by any import.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from .domain.drafts import Draft
from .domain.errors import ConcurrencyConflict
from .importing import CHUNK, KnownTape, Target, tape_of, unreadable
from .interop.errors import ImportRefused, NotASessionFile, SourceReplaced, UnsupportedFile
from .interop.reading import SessionReading
from .interop.report import ImportReport, Problem
from .interop.tail import GrowingFile, Tail, TailChanged
from .sessions import Sessions
from .tape_imports import is_tape_file

NAP: Final = 0.05
"""How long the follower waits before it looks again. Unit: seconds."""

SETTLED: Final = 0.5
"""How long a file that was cut or replaced has to rest before it is read anew. Unit: seconds."""

Stop = Callable[[], bool]
Told = Callable[[ImportReport], None]


def follow_file(
    sessions: Sessions, path: str, *, stop: Stop, told: Told | None = None
) -> ImportReport:
    """Import a file of Tau or Pi, and go on with each line that comes, until `stop()` is true.

    The file need not be there yet. `stop` is asked about twenty times a second; at the end an
    incomplete last line is treated as in any import. `told` is given the report so far after
    each commit.

    Raises what `import_file` raises; `SourceReplaced` where the file was cut or replaced, and
    does not begin any more with what was imported of it, which stays.
    """
    return Follower(Target(sessions), path, stop, told).run()


class Follower:
    """Follows one file into a store; see `follow_file`. `run` once."""

    def __init__(self, target: Target, path: str, stop: Stop, told: Told | None = None) -> None:
        self._target = target
        self._path = path
        self._stop = stop
        self._told = told
        self._tried = -1
        self._chunk: list[Draft] = []
        self._tape: KnownTape | None = None
        self._session_id: str | None = None
        self._format: str | None = None
        self._change: str | None = None
        self._earlier = ImportReport(path)
        """What became of the file in the readings that were broken off."""
        self._stored = (0, 0, 0, 0)

    def run(self) -> ImportReport:
        """Follow the file until told to stop; the report of all."""
        while True:
            reading: SessionReading | None = None
            try:
                reading = self._begin()
                if reading is None:
                    return self._ended_without()
                self._take(reading)
                return self._sum(reading.report)
            except TailChanged as change:
                self._break_off(reading)
                self._change = change.what
                self._earlier.add(None, "source_replaced", f"the file {change.what}")
                self._settle()
            except ConcurrencyConflict:
                # Somebody went on with the session here, or follows the same file.
                self._break_off(reading)
                time.sleep(NAP)
            except ImportRefused as error:
                if self._session_id is None or (self._change is None and not self._kept()):
                    raise
                raise self._replaced(error) from error

    # -- beginning -------------------------------------------------------------------------

    def _begin(self) -> SessionReading | None:
        """Wait for a file that can be told; None where it does not come before the end."""
        while True:
            is_last = self._stop()
            reading = self._try(is_last)
            if reading is not None:
                if self._session_id not in (None, reading.session_id):
                    raise SourceReplaced(
                        reading.report,
                        "source_replaced",
                        f"it holds session {reading.session_id!r} of {reading.form.NAME} now",
                    )
                self._session_id = reading.session_id
                self._format = reading.report.format
                return reading
            if is_last:
                return None
            time.sleep(NAP)

    def _try(self, is_last: bool) -> SessionReading | None:
        try:
            source = GrowingFile(self._path)
            source.whole = is_last
            size = source.size
            if not size or (size == self._tried and not is_last):
                return None
            self._tried = size
            if is_tape_file(source):
                raise UnsupportedFile(
                    ImportReport(self._path, size=size),
                    "unsupported_version",
                    "a tape file is written at once and does not grow; import it without --follow",
                )
            reading = SessionReading(source, self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(self._path, error) from error
        except NotASessionFile as error:
            if error.reason == "empty_file":
                return None
            raise
        if reading.session_id.startswith("import:") and not is_last:
            return None  # no record has an id yet: the session would be another one with each line
        self._tried = -1
        self._source = source
        return reading

    def _settle(self) -> None:
        """Wait until the file rests: whoever replaces a file may be writing it still."""
        seen: tuple[int, int, int] | None = None
        since = time.monotonic()
        while not self._stop() and time.monotonic() - since < SETTLED:
            try:
                found = self._source.path.stat()
                now = (found.st_ino, found.st_size, found.st_mtime_ns)
            except OSError:
                return  # it is gone: its coming back is waited for like its first coming
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(NAP)

    # -- taking ----------------------------------------------------------------------------

    def _take(self, reading: SessionReading) -> None:
        """Import line by line, until told to stop."""
        session_id = reading.session_id
        self._chunk = []
        self._stored = (0, 0, 0, 0)
        self._tape = tape_of(self._target.sessions, session_id, reading)

        def wait() -> bool:
            self._commit(reading)
            if not tail.has_rest:
                reading.check_end()
            if self._stop():
                self._source.whole = True
                return False
            time.sleep(NAP)
            return True

        tail = Tail(self._path, wait)
        lines: Any = tail
        drafts = reading.drafts(
            self._tape.heads(),
            event_at=self._tape.event_at,
            incarnation=self._target.sessions.defaults.new_incarnation(),
            tail=lines,
        )
        for draft in drafts:
            self._chunk.append(draft)
            if len(self._chunk) >= CHUNK:
                self._commit(reading)
                if self._stop():
                    break
        self._commit(reading)

    def _commit(self, reading: SessionReading) -> None:
        report = reading.report
        if self._chunk and self._tape is not None:
            append, at = self._target.writing().append, self._tape.position
            self._tape.position = append(reading.session_id, self._chunk, expected_position=at)
            self._chunk = []
            if self._told is not None:
                self._told(report)
        report.size = reading.consumed
        self._stored = (report.kept, report.repaired, report.foreign, report.bytes_kept)

    # -- reporting -------------------------------------------------------------------------

    def _kept(self) -> int:
        return self._earlier.kept + self._stored[0]

    def _break_off(self, reading: SessionReading | None) -> None:
        """Remember what a reading has stored; the next one begins at the file's beginning."""
        if reading is not None:
            report = reading.report
            report.kept, report.repaired, report.foreign, report.bytes_kept = self._stored
            self._earlier = self._sum(report)
        self._stored = (0, 0, 0, 0)

    def _sum(self, report: ImportReport) -> ImportReport:
        """A report of this reading and the earlier ones, whose records this one found there."""
        earlier = self._earlier
        report.kept += earlier.kept
        report.repaired += earlier.repaired
        report.foreign += earlier.foreign
        report.bytes_kept += earlier.bytes_kept
        report.already = max(0, report.already - earlier.kept)
        report.bytes_already = max(0, report.bytes_already - earlier.bytes_kept)
        report.read = report.kept + report.already + report.skipped
        said = {(problem.line, problem.reason) for problem in earlier.problems}
        new = [p for p in report.problems if p.line is None or (p.line, p.reason) not in said]
        report.problems = earlier.problems + new
        report.more += earlier.more
        return report

    def _ended_without(self) -> ImportReport:
        """The report where the file was not there, or held no session, at the end."""
        if self._session_id is not None:
            return self._earlier
        raise NotASessionFile(
            self._earlier, "missing_file", "until the end there was no session in it to follow"
        )

    def _replaced(self, error: ImportRefused) -> SourceReplaced:
        report = error.report
        said = report.problems.pop().detail
        if self._earlier is not report:
            report.kept, report.repaired, report.foreign, report.bytes_kept = self._stored
            self._sum(report)
        where = "" if error.line is None else f", line {error.line}"
        text = (
            f"the file {self._change or 'changed'}, and does not begin any more with what was "
            f"imported of it ({error.reason}{where}); what was imported of session "
            f"{self._session_id!r} stays; import it with --as-new to have the new file as another "
            "session"
        )
        if isinstance(error, SourceReplaced):
            text = (
                f"the file {self._change}, and {said}; what was imported of session "
                f"{self._session_id!r} stays; follow the file again for the new one"
            )
        found = SourceReplaced(report, "source_replaced", text, error.line)
        # The change was said when it was seen; now it is said what came of it.
        change = Problem(None, "source_replaced", f"the file {self._change}")
        report.problems = [problem for problem in report.problems if problem != change]
        report.session_id, report.format = self._session_id, self._format
        report.refused = not report.kept
        return found


__all__ = ["Follower", "follow_file"]
