"""Importing session files of other tools into a store.

The file is read, never written, and nothing is put beside it. An import can be repeated: what is
there already is recognised record by record, and only what is new is appended. One that was
interrupted is completed by importing again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from .domain.drafts import Draft
from .domain.heads import Head
from .interop.errors import ImportRefused, NotASessionFile, SessionTaken
from .interop.reading import SessionReading
from .interop.report import ImportReport
from .interop.sources import FileSource
from .sessions import Sessions

CHUNK: Final = 2_000
"""Events that are appended in one transaction."""

CHUNK_BYTES: Final = 8 << 20
"""Bytes of the file after which a transaction ends, however few events that were."""


def import_file(
    sessions: Sessions, path: str | os.PathLike[str], *, as_new: bool = False
) -> ImportReport:
    """Import one session file of Tau or Pi; the report says what became of each record.

    `as_new` imports it as another session, under a new id. Raises `ImportRefused` when nothing
    can be imported: `NotASessionFile`, `UnsupportedFile`, `SourceChanged` (a record that was
    imported before is another one now), `SessionTaken`; its `report` says the same. Nothing
    was written then. Raises `ConcurrencyConflict` when somebody else appends meanwhile; what
    was appended before stays, and importing again completes it.
    """
    reading = _open(os.fspath(path))
    report = reading.report
    session_id = sessions.defaults.new_session_id() if as_new else reading.session_id
    report.session_id = session_id
    known, frozen, position = _tape(sessions, session_id, reading)
    drafts = reading.drafts(known, frozen=frozen, incarnation=sessions.defaults.new_incarnation())
    for chunk in _chunks(reading, drafts):
        position = sessions.append(session_id, chunk, expected_position=position)
    return report


def import_files(
    sessions: Sessions, paths: Iterable[str | os.PathLike[str]], *, as_new: bool = False
) -> list[ImportReport]:
    """Import several files; one that is refused does not stop the others.

    The report of a refused file ends with the reason, and its `refused` is true.
    """
    reports = []
    for path in paths:
        try:
            reports.append(import_file(sessions, path, as_new=as_new))
        except ImportRefused as error:
            reports.append(error.report)
    return reports


def _open(path: str) -> SessionReading:
    try:
        return SessionReading(FileSource(path), path)
    except OSError as error:
        why = error.strerror or str(error)
        raise NotASessionFile(
            ImportReport(path), "not_a_session_file", f"the file cannot be read: {why}"
        ) from error


def _tape(
    sessions: Sessions, session_id: str, reading: SessionReading
) -> tuple[Iterator[Head] | None, bool, int]:
    """(heads of the tape, whether it was gone on with here, its last position)."""
    position, frozen = 0, False
    for position, head in sessions.heads(session_id):
        frozen = frozen or (head.line is None and position > 1)
    if position == 0:
        return None, False, 0
    (started,) = sessions.tapes.events_at(session_id, [1])
    origin = getattr(started.body, "imported_from", None) or {}
    if origin.get("format") != reading.form.NAME:
        raise SessionTaken(
            reading.report,
            "foreign_session",
            f"session {session_id!r} exists and was not imported from such a file; nothing was "
            "written; import the file with --as-new to have it as another session",
        )
    return (head for _, head in sessions.heads(session_id)), frozen, position


def _chunks(reading: SessionReading, drafts: Iterator[Draft]) -> Iterator[list[Draft]]:
    chunk: list[Draft] = []
    begun = 0
    for draft in drafts:
        chunk.append(draft)
        if len(chunk) >= CHUNK or reading.consumed - begun >= CHUNK_BYTES:
            yield chunk
            chunk, begun = [], reading.consumed
    if chunk:
        yield chunk
