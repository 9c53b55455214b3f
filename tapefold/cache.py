"""Warm sessions: what makes `execute` cost the same at any length.

A cached session is used under its own lock, fast-forwarded before each use, and evicted on any
exception. The cache is bounded by the entries that it holds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from weakref import WeakValueDictionary

from .domain.session import Session


class _SessionLock:
    """One lock a session; it lives as long as somebody holds or waits for it."""

    def __init__(self) -> None:
        self.lock = RLock()


class WarmSessions:
    """Cached sessions with a lock each."""

    def __init__(self, max_entries: int = 1_000_000) -> None:
        self._max = max_entries
        self._kept: OrderedDict[str, tuple[Session, int]] = OrderedDict()
        self._entries = 0
        self._locks: WeakValueDictionary[str, _SessionLock] = WeakValueDictionary()
        self._guard = Lock()

    @contextmanager
    def locked(self, session_id: str) -> Iterator[None]:
        """Hold the session's lock; other sessions go on."""
        with self._guard:
            held = self._locks.get(session_id)
            if held is None:
                held = self._locks[session_id] = _SessionLock()
        with held.lock:
            yield

    def get(self, session_id: str) -> Session | None:
        """The cached session, newest use last. Call it under the lock."""
        with self._guard:
            found = self._kept.get(session_id)
            if found is None:
                return None
            self._kept.move_to_end(session_id)
            return found[0]

    def put(self, session: Session) -> None:
        """Keep a session; the longest unused ones go when there are too many entries."""
        size = session.state.seq + 1
        with self._guard:
            old = self._kept.pop(session.id, None)
            if old is not None:
                self._entries -= old[1]
            if size > self._max:
                return
            self._kept[session.id] = (session, size)
            self._entries += size
            while self._entries > self._max:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._entries -= dropped

    def evict(self, session_id: str) -> None:
        """Forget a session: its state may be ahead of its tape."""
        with self._guard:
            old = self._kept.pop(session_id, None)
            if old is not None:
                self._entries -= old[1]
