"""Tells waiting threads of this process that something was committed."""

from __future__ import annotations

from threading import Condition


class CommitSignal:
    """A counter of commits that one can wait on; costs nearly nothing while nobody waits."""

    __slots__ = ("_changed", "_waiting", "count")

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting = 0
        self.count = 0
        """Read it before looking for news, so that what comes while looking is not missed."""

    def announce(self) -> None:
        """Wake all who wait. To be called by one thread at a time, so by who may write."""
        # Counted before looking who waits, and who waits looks again after it said so: whatever
        # the order of the two, the news is seen.
        self.count += 1
        if self._waiting:
            self.wake()

    def wake(self) -> None:
        """End all waits, without news. To be called by any thread."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, seen: int, timeout: float) -> None:
        """Return when the count is no longer `seen`, on a wake, or after `timeout` seconds."""
        with self._changed:
            self._waiting += 1
            try:
                if self.count == seen:
                    self._changed.wait(timeout)
            finally:
                self._waiting -= 1
