"""Is the log still the one that was projected? Restored, replaced and shortened ones are not.

The last row that was read has to be the same to the byte. One exception is needed: an event at
which a session stands parked, and what follows it in that session, may be mended. None of these
rows was applied; all of them are read anew when the session goes on. So where the last row is one
of them, the proof is the anchor: the last row that is none. It has to be the same to the byte,
and every row behind it has to be one that will be read anew.
"""

from __future__ import annotations

from .database import FILLING, Build
from .errors import LogChanged
from .log import Log, LogRow
from .parking import stops_at


def check_log(build: Build, log: Log, row: LogRow | None = None) -> None:
    """Raise `LogChanged` if the log is not the one that the build has read, or began to read.

    An id alone proves nothing, since a restored log grows on with the same ids. `row`: the row
    at the build's position now, if the caller has read it already. In a transaction of the
    caller's.
    """
    name = build.projection.NAME
    progress = build.progress()
    if progress.log_uuid != log.uuid:
        raise LogChanged(name, "the store has another log than the one that was projected")
    is_filling = progress.phase == FILLING
    position = progress.target if is_filling else progress.position
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
    if found.digest() == progress.digest:
        return
    if is_filling or not _may_be_mended(build, log, position):
        raise LogChanged(name, f"another event than was read stands at id {position}")


def _may_be_mended(build: Build, log: Log, position: int) -> bool:
    """Whether every row behind the anchor is one that will be read anew, and the anchor is as it
    was."""
    anchor = build.anchor()
    if anchor is None:
        return False  # the last row itself was applied
    after, digest = anchor
    row = log.row(after) if after else None
    if after and (row is None or row.digest() != digest):
        return False
    return _last_kept(build, log, after, position) is None


def advance(build: Build, log: Log, row: LogRow, events: int = 0) -> None:
    """Note the last row that was read, after all up to it was applied or parked. In the same
    transaction."""
    build.advance(row.id, row.digest(), events)
    note_anchor(build, log, row)


def note_anchor(build: Build, log: Log, last: LogRow | None) -> None:
    """Note what proves from now on that the log is the same; `last`: the last row that was read.
    In the transaction that moves the position, or that changes who stands parked where."""
    if last is None or not _is_passed_over(build, last.session_id, last.position):
        build.forget_anchor()
        return
    # Where there is one, it stays good: no session is ever parked before what it has applied.
    before = build.anchor() or (0, None)
    kept = _last_kept(build, log, before[0], last.id)
    row = None if kept is None else log.row(kept)
    build.put_anchor(*(before if row is None else (row.id, row.digest())))


def note_mended(build: Build, log: Log) -> None:
    """After parked sessions went on: note how the last row that was read is now. In the
    transaction of their retry."""
    progress = build.progress()
    row = log.row(progress.position) if progress.position else None
    if row is not None:
        advance(build, log, row)


def _last_kept(build: Build, log: Log, after: int, upto: int) -> int | None:
    """The id of the last row after `after`, up to `upto`, that no parked session waits for."""
    stops: dict[object, int | None] = {}
    for row_id, session_id, position in log.places(after, upto):
        if session_id not in stops:
            stops[session_id] = stops_at(build, session_id)
        stop = stops[session_id]
        if stop is None or position < stop:
            return row_id
    return None


def _is_passed_over(build: Build, session_id: str, position: int) -> bool:
    """Whether a session stands parked at this position or before it."""
    stop = stops_at(build, session_id)
    return stop is not None and position >= stop
