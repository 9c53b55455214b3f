"""Waits out what may pass: a lock, a full disk, a store that is gone; and tells others of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from .errors import ProjectionError
from .faults import may_pass

PAUSES: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Seconds before a batch is tried again after a fault of the database; the last one again."""

PATIENCE: Final = 10.0
"""Seconds after which one who is to come to an end gives up."""

NAP: Final = 0.05
"""Seconds of a sleep at most, so that a signal is heeded soon."""

SELDOM: Final = 6
"""Of so many naps one asks whether there is anything left to wait for."""

SUFFIX: Final = ".fault"
SIZE: Final = 4_096
"""Bytes of a note. They are taken when all is well, for a full disk has none left."""

LONGEST: Final = 320
"""Characters of a reason; as JSON, one is 12 bytes at most."""


class Waiting(NamedTuple):
    """Who runs a build and cannot go on with it just now: its process, as far as it could be
    noted, and the reason."""

    pid: int | None
    reason: str


class FaultNote:
    """Why the runner of a build waits, in a small file beside it: the build itself may be what
    cannot be written. It counts only while somebody holds the running lock."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + SUFFIX)
        self._is_blank = False

    def blank(self) -> None:
        """Say that nothing is wrong."""
        if not self._is_blank and not self._put(b""):
            with suppress(OSError):
                self._path.unlink()
        self._is_blank = True

    def write(self, reason: str) -> None:
        """Say why this process waits."""
        self._is_blank = False
        text = json.dumps({"pid": os.getpid(), "reason": reason[:LONGEST]})
        self._put(text.encode())

    def _put(self, text: bytes) -> bool:
        with suppress(OSError):
            self._path.touch()
            # Neither made shorter nor made anew: the blocks that it has are overwritten.
            with self._path.open("r+b", buffering=0) as file:
                file.write(text.ljust(SIZE))
            return True
        return False

    def read(self) -> Waiting | None:
        """What it says now."""
        try:
            text = self._path.read_bytes()[:SIZE]
            if not text:  # one could be made, and nothing written into it
                return Waiting(None, "the disk is full")
            found = json.loads(text)
            return Waiting(int(found["pid"]), str(found["reason"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None  # nothing, or half of it


class BackOff:
    """The pauses of one runner. `error`: the fault that it waits out, None while all is well."""

    def __init__(
        self, name: str, say: Callable[[str], None], is_stopped: Callable[[], bool]
    ) -> None:
        self._name = name
        self._say = say
        self._is_stopped = is_stopped
        self._faults = 0
        self._since = 0.0
        self.error: Exception | None = None

    def is_over(self) -> None:
        """Something succeeded."""
        self._faults = 0
        self.error = None

    def wait(
        self,
        error: Exception,
        note: FaultNote | None,
        *,
        gives_up: bool,
        is_in_vain: Callable[[], bool],
    ) -> None:
        """Wait before the next try, if that may help; else raise the error. `note`: of the build
        that is ours meanwhile. `gives_up`: raise what did not pass for `PATIENCE` seconds.
        `is_in_vain` is asked now and then; true ends the pause."""
        if not may_pass(error):
            raise error
        if self._is_stopped():
            return
        self.error = error
        now = time.monotonic()
        if not self._faults:
            self._since = now
        pause = PAUSES[min(self._faults, len(PAUSES) - 1)]
        if gives_up:
            left = self._since + PATIENCE - now
            if left <= 0:
                raise error
            pause = min(pause, left)
        self._faults += 1
        reason = str(error).removeprefix(f"projection {self._name}: ")
        if note is not None:
            note.write(reason)
        self._say(f"projection {self._name}: {reason}; trying again in {round(pause, 1):g} s")
        ends, naps = now + pause, 0
        while not self._is_stopped() and time.monotonic() < ends:
            time.sleep(min(NAP, pause))
            naps += 1
            if not naps % SELDOM and _is_true(is_in_vain):
                return


def _is_true(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except ProjectionError:
        return False  # the registry is what cannot be read
