"""Waits beside a live runner until that one has read what the log held at the beginning."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from .backing_off import PATIENCE, FaultNote
from .continuity import check_log
from .database import FOLLOWING, Build, Sign
from .declaration import Projection
from .errors import BuildFault, ProjectionError
from .log import Log

SILENCE: Final = 60.0
"""Seconds without a sign of life after which one is taken to hang."""


class Beside:
    """One who was asked to bring a projection to the id `end` of the log, while another process
    runs it."""

    def __init__(self, projection: Projection, log: Log, end: int) -> None:
        self._projection = projection
        self._log = log
        self._end = end
        self._since: float | None = None
        self._sign: Sign | None = None
        self._sign_since = 0.0

    def has_passed(self, path: Path) -> bool:
        """Whether the other has read all of it into the build at `path`.

        Raises `LogChanged`; and `ProjectionError` if the other one has waited for `PATIENCE`
        seconds for a fault to pass, or gives no sign of life.
        """
        try:
            with closing(Build(path, self._projection, read_only=True)) as build, build.reading():
                progress = build.progress()
                if progress.phase == FOLLOWING and progress.position >= self._end:
                    check_log(build, self._log)
                    return True
                self._look_for_signs(build.sign())
        except (BuildFault, sqlite3.Error):
            pass  # the other one will say why, or mend it
        self._look_at_faults(path)
        return False

    def _look_for_signs(self, sign: Sign | None) -> None:
        """One who was stopped (SIGSTOP), or hangs, reads no more. A new one may not have given its
        first sign yet."""
        now = time.monotonic()
        if sign is None or sign != self._sign:
            self._sign, self._sign_since = sign, now
            return
        silent = time.time() - sign.heartbeat
        if silent > SILENCE and now - self._sign_since > PATIENCE:
            raise ProjectionError(
                self._projection.NAME,
                f"process {sign.pid} runs it, and has given no sign of life for {silent:,.0f} s; "
                "end that process",
            )

    def _look_at_faults(self, path: Path) -> None:
        waiting = FaultNote(path).read()
        now = time.monotonic()
        if waiting is None:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= PATIENCE:
            raise ProjectionError(
                self._projection.NAME,
                f"process {waiting.pid or '?'} runs it, and cannot go on: {waiting.reason}",
            )
