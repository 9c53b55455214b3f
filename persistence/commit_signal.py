"""Tells waiting threads of this process that something was committed."""

from __future__ import annotations

from threading import Condition


class CommitSignal:
    """A counter of commits that one can wait on. Cheap to announce, nothing gets lost."""

    __slots__ = ("_changed", "count")

    def __init__(self) -> None:
        self._changed = Condition()
        self.count = 0
        """Read it before looking for news, so that what comes while looking is not missed."""

    def announce(self) -> None:
        """Wake all who wait."""
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait(self, seen: int, timeout: float) -> None:
        """Return when the count is no longer `seen`, or after `timeout` seconds."""
        with self._changed:
            if self.count == seen:
                self._changed.wait(timeout)
