"""Fills a new build tape by tape, up to a fixed point of the log, in bounded memory.

A tape that is read from its beginning needs no state of other tapes, and writes each of its rows
about once; in the order of the log a build with many sessions would open each of them again and
again. What is appended meanwhile has larger ids, and is followed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .applying import Applier
from .continuity import check_log, note_anchor
from .log import LogRow

EVENTS: Final = 4_000
"""Events after which a transaction ends."""

BYTES: Final = 8 << 20
"""Bytes of stored events after which it ends."""

STREAMS: Final = 500


def fill(applier: Applier) -> Iterator[int]:
    """Fill a build that is filling; yields how many events each committed batch had.

    Ends when the build follows the log. Killed at any moment, it goes on where it was. Raises
    `LogChanged`.
    """
    build, log = applier.build, applier.log
    progress = build.progress()
    cursor, target = progress.cursor, progress.target
    batch = _Batch(applier)
    _check(applier)
    for session_id in log.sessions_after(cursor, target, STREAMS):
        position = build.session_position(session_id)
        for row in log.tape(session_id, position, target):
            if batch.add(row):
                yield batch.commit(cursor)
        batch.finish(session_id)
        cursor = session_id
    yield batch.commit(cursor)
    with build.writing():
        _check(applier)
        last = log.row(target) if target else None
        build.follow_from(target, None if last is None else last.digest())
        note_anchor(build, log, last)


def _check(applier: Applier) -> None:
    """Raise `LogChanged` if another log was put in the place of the one that was begun with."""
    applier.log.refresh()
    check_log(applier.build, applier.log)


class _Batch:
    """Rows of some sessions, that are applied and committed together."""

    def __init__(self, applier: Applier) -> None:
        self._applier = applier
        self._tapes: list[tuple[str, list[LogRow]]] = []
        self._events = 0
        self._bytes = 0
        self._done: str | None = None
        self._finished: list[str] = []

    def add(self, row: LogRow) -> bool:
        """Take a row; answers whether it is time to commit."""
        if not self._tapes or self._tapes[-1][0] != row.session_id:
            self._tapes.append((row.session_id, []))
        self._tapes[-1][1].append(row)
        self._events += 1
        self._bytes += row.size
        return self._events >= EVENTS or self._bytes >= BYTES

    def finish(self, session_id: str) -> None:
        """Note that all of a session was taken."""
        self._done = session_id
        self._finished.append(session_id)

    def commit(self, before: str | None) -> int:
        """Apply and commit. `before`: the last session that was finished in an earlier batch."""
        applier = self._applier
        with applier.build.writing():
            _check(applier)
            applier.look()
            # Which streams are sessions, `sessions_after` has just told.
            events = sum(
                applier.apply_tape(sid, rows, is_session=True) for sid, rows in self._tapes
            )
            applier.build.fill_on(self._done or before, events)
        # Warm folds of tapes that were read to their ends would only fill the memory.
        applier.let_go(self._finished)
        self._finished.clear()
        self._tapes.clear()
        self._events = self._bytes = 0
        return events
