"""A lock among threads that is handed on in the order of asking."""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic


class Turn:
    """A lock that goes to the thread that has waited longest.

    `threading.Lock` goes to whoever comes first after the release, which is nearly always the
    thread that has just released it; under load others then wait for seconds. Here the releasing
    thread hands the lock over, so nobody can overtake.
    """

    __slots__ = ("_mutex", "_owner", "_waiters")

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiters: deque[tuple[int, threading.Lock]] = deque()
        self._owner: int | None = None

    def is_mine(self) -> bool:
        """Tell whether the calling thread holds the lock."""
        return self._owner == threading.get_ident()

    def acquire(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the lock; False if it did not come. Not re-entrant."""
        me = threading.get_ident()
        with self._mutex:
            if self._owner is None:
                self._owner = me
                return True
            gate = threading.Lock()
            gate.acquire()
            place = (me, gate)
            self._waiters.append(place)
        came = False
        try:
            came = gate.acquire(timeout=max(timeout, 0.0))
        finally:
            # After a timeout, or an exception that a signal raised in the middle of waiting.
            if not came and not self._leave(place):
                self.release()
        return came

    def release(self) -> None:
        """Hand the lock to the thread that has waited longest, or free it."""
        with self._mutex:
            if not self._waiters:
                self._owner = None
                return
            self._owner, gate = self._waiters.popleft()
            gate.release()

    def _leave(self, place: tuple[int, threading.Lock]) -> bool:
        """Leave the queue; False if the lock was handed over in this very moment."""
        with self._mutex:
            if place not in self._waiters:
                return False
            self._waiters.remove(place)
            return True


class Deadline:
    """A moment up to which one may wait, given in seconds from now."""

    __slots__ = ("_at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, never below zero."""
        return max(0.0, self._at - monotonic())
