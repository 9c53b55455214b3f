"""Importing session files into a store: those of other tools, and our own tape files.

The file is read, never written, and nothing is put beside it. An import can be repeated: what is
there already is recognised record by record, and only what is new is appended. One that was
interrupted is completed by importing again.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Final

from .domain.drafts import Draft
from .domain.errors import TapefoldError
from .domain.events import Event
from .domain.heads import Head
from .interop.errors import ImportRefused, NotASessionFile, SessionTaken
from .interop.folders import SessionFiles
from .interop.reading import SessionReading
from .interop.report import ImportReport
from .interop.sources import FileSource, Source
from .sessions import Sessions
from .tape_imports import TapeReading, damaged_beginning, is_tape_file

CHUNK: Final = 2_000
"""Events that are appended in one transaction."""

CHUNK_BYTES: Final = 8 << 20
"""Bytes of the file after which a transaction ends, however few events that were."""

Progress = Callable[[int], None]
"""Is told how many bytes of the file have been dealt with."""


class Target:
    """Where an import goes. `sessions` is looked into, `writing()` is written to.

    They are one store, but for a store that does not exist yet: `open` makes it, and is called
    when there is something to be written.
    """

    def __init__(self, sessions: Sessions, open: Callable[[], Sessions] | None = None) -> None:
        self.sessions = sessions
        self._open = open

    def writing(self) -> Sessions:
        """The store, to be written to."""
        if self._open is not None:
            self.sessions = self._open()
            self._open = None
        return self.sessions


def import_file(
    sessions: Sessions,
    path: str | os.PathLike[str],
    *,
    as_new: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import one session file of Tau or Pi, or a tape file; the report says what became of it.

    `as_new` imports it as another session, under a new id. `dry_run` writes nothing: the report
    says what would be done. `progress` is told how many bytes are done.

    Raises `ImportRefused` when nothing can be imported: `NotASessionFile`, `UnsupportedFile`,
    `SourceChanged` (a record that was imported before is another one now), `SessionTaken`; its
    `report` says the same. Nothing was written then. Raises `ConcurrencyConflict` when somebody
    else appends meanwhile; what was appended before stays, and importing again completes it.
    """
    name = os.fspath(path)
    return import_source(
        Target(sessions), open_file(name), name, as_new=as_new, dry_run=dry_run, progress=progress
    )


def import_files(
    sessions: Sessions,
    paths: Iterable[str | os.PathLike[str]],
    *,
    as_new: bool = False,
    dry_run: bool = False,
) -> list[ImportReport]:
    """Import several files, and all session files of folders; none stops the others.

    The report of a refused file ends with the reason, and its `refused` is true.
    """
    reports = []
    for path in SessionFiles(paths):
        if isinstance(path, ImportReport):
            reports.append(path)
            continue
        try:
            reports.append(import_file(sessions, path, as_new=as_new, dry_run=dry_run))
        except ImportRefused as error:
            reports.append(error.report)
    return reports


def open_file(path: str) -> FileSource:
    """A file, to be imported. Raises `NotASessionFile` where it cannot be read."""
    try:
        return FileSource(path)
    except OSError as error:
        raise unreadable(path, error) from error


def import_source(
    target: Target,
    source: Source,
    path: str,
    *,
    as_new: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import what a source holds; as `import_file`. `path` is its name in the report."""
    sessions = target.sessions
    new_id = sessions.defaults.new_session_id() if as_new else None
    try:
        if is_tape_file(source):
            tape = TapeReading(source, path, new_id)
            tape.check(sessions, progress)
            if not dry_run and tape.report.kept:
                tape.write(target.writing(), progress)
            return tape.report
        if damaged_beginning(source):
            raise NotASessionFile(
                ImportReport(path, size=source.size),
                "damaged_tape",
                "the first line of this tape file is damaged or gone; nothing was written",
                1,
            )
        reading = SessionReading(source, path)
        _import(target, reading, new_id, dry_run, progress)
    except TapefoldError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    return reading.report


def _import(
    target: Target,
    reading: SessionReading,
    new_id: str | None,
    dry_run: bool,
    progress: Progress | None,
) -> None:
    session_id = reading.session_id if new_id is None else new_id
    reading.report.session_id = session_id
    incarnation = target.sessions.defaults.new_incarnation()
    tape = tape_of(target.sessions, session_id, reading)
    drafts = reading.drafts(tape.heads(), event_at=tape.event_at, incarnation=incarnation)
    for chunk in _chunks(reading, drafts):
        if not dry_run:
            append, at = target.writing().append, tape.position
            with _collector_at_rest():
                tape.position = append(session_id, chunk, expected_position=at)
        if progress is not None:
            progress(reading.consumed)


def unreadable(path: str, error: OSError) -> NotASessionFile:
    """The refusal of a file that cannot be read."""
    why = error.strerror or str(error)
    missing = isinstance(error, FileNotFoundError)
    return NotASessionFile(
        ImportReport(path),
        "missing_file" if missing else "unreadable_file",
        f"the file cannot be read: {why}",
    )


class KnownTape:
    """What there is of a session already, read once. `position` is the last one that was read: the
    end of the tape, when the heads have been taken to their end."""

    def __init__(self, sessions: Sessions, session_id: str) -> None:
        self.position = 0
        self._tapes = sessions.tapes
        self._session_id = session_id
        self._heads = sessions.heads(session_id)
        self._first = next(self._heads, None)

    def event_at(self, position: int) -> Event | None:
        """The event at a position; None where there is none."""
        return next(iter(self._tapes.events_at(self._session_id, [position])), None)

    def heads(self) -> Iterator[Head] | None:
        """The heads, in order; None where there is no tape."""
        return None if self._first is None else self._all(self._first)

    def _all(self, first: tuple[int, Head]) -> Iterator[Head]:
        for position, head in chain((first,), self._heads):
            self.position = position
            yield head


def tape_of(sessions: Sessions, session_id: str, reading: SessionReading) -> KnownTape:
    """What there is of a session.

    Raises `SessionTaken` if it was not imported from a file of this format.
    """
    tape = KnownTape(sessions, session_id)
    if tape.heads() is None:
        return tape
    (started,) = sessions.tapes.events_at(session_id, [1])
    origin = getattr(started.body, "imported_from", None) or {}
    if origin.get("format") != reading.form.NAME:
        raise SessionTaken(
            reading.report,
            "foreign_session",
            f"session {session_id!r} exists and was not imported from such a file; nothing was "
            "written; import the file with --as-new to have it as another session",
        )
    return tape


def _chunks(reading: SessionReading, drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    while chunk := _chunk(reading, drafts):
        yield chunk


def _chunk(reading: SessionReading, drafts: Iterator[Draft]) -> list[Draft]:
    # Before the first one all that was imported already may have to be read: no collector waits
    # for that.
    chunk = list(islice(drafts, 1))
    end = reading.consumed + CHUNK_BYTES
    with _collector_at_rest():
        for draft in drafts:
            chunk.append(draft)
            if len(chunk) >= CHUNK or reading.consumed >= end:
                break
    return chunk


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """The garbage collector waits while a chunk is read, and while it is appended: neither makes
    circles, and a look at all that a chunk holds, again and again, costs a tenth of an import."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
