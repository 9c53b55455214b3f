"""Is the log still the one that was projected? Restored, replaced and shortened ones are not."""

from __future__ import annotations

from .database import FILLING, Build
from .errors import LogChanged
from .log import Log, LogRow
from .parking import stands_at


def check_log(build: Build, log: Log, row: LogRow | None = None) -> None:
    """Raise `LogChanged` if the log is not the one that the build has read, or began to read.

    An id alone proves nothing, since a restored log grows on with the same ids: the last row that
    was read has to be the same to the byte. Unless it is the very event at which a session stands
    parked: that one may be mended. `row`: that row now, if the caller has read it already. In a
    transaction of the caller's.
    """
    name = build.projection.NAME
    progress = build.progress()
    if progress.log_uuid != log.uuid:
        raise LogChanged(name, "the store has another log than the one that was projected")
    position = progress.target if progress.phase == FILLING else progress.position
    if not position:
        return
    found = row or log.row(position)
    if found is None or found.id != position:
        last = log.last_id()
        what = (
            f"the log ends at id {last}, before id {position} that was read last"
            if last < position
            else f"id {position}, which was read last, is gone from the log"
        )
        raise LogChanged(name, what)
    if found.digest() != progress.digest and not stands_at(build, found):
        raise LogChanged(name, f"another event than was read stands at id {position}")


def note_mended(build: Build, log: Log) -> None:
    """Before a session goes on: note how the last row that was read is now, if it was mended. In
    the transaction of its retry."""
    check_log(build, log)
    progress = build.progress()
    row = log.row(progress.position) if progress.position else None
    if row is not None and row.digest() != progress.digest:
        build.advance(row.id, row.digest(), 0)
