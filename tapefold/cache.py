"""Warm sessions: what makes `execute` cost the same at any length.

A cached session is used under a lock, fast-forwarded before each use, and evicted on any
exception. It is kept with what tells the last row of its tape that it knows, since a store may be
restored under a living program. The cache is bounded by the entries that it holds.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock, RLock
from typing import Final

from .domain.session import Session

STRIPES: Final = 256
"""Locks that the sessions share, by hash: a bounded number, and nothing to clean up."""


class WarmSessions:
    """Cached sessions, and the locks under which they are used."""

    def __init__(self, max_entries: int = 1_000_000) -> None:
        self._max = max_entries
        self._kept: OrderedDict[str, tuple[Session, int, int]] = OrderedDict()
        self._entries = 0
        self._locks = [RLock() for _ in range(STRIPES)]
        self._guard = Lock()

    def lock(self, session_id: str) -> RLock:
        """The lock under which a session is used. Two sessions may share one."""
        return self._locks[hash(session_id) % STRIPES]

    def get(self, session_id: str) -> tuple[Session, int] | None:
        """The cached session, newest use last, and the mark of the last row that it knows. Call
        it under the lock."""
        with self._guard:
            found = self._kept.get(session_id)
            if found is None:
                return None
            self._kept.move_to_end(session_id)
            return found[:2]

    def put(self, session: Session, mark: int) -> None:
        """Keep a session, at its present size; the longest unused ones go when it gets crowded."""
        session_id, size = session.id, session.state.seq + 1
        with self._guard:
            old = self._kept.get(session_id)
            if old is not None:
                self._entries -= old[2]
            if size > self._max:
                self._kept.pop(session_id, None)
                return
            self._kept[session_id] = (session, mark, size)
            self._entries += size
            while self._entries > self._max:
                self._entries -= self._kept.popitem(last=False)[1][2]

    def evict(self, session_id: str) -> None:
        """Forget a session: its state may be ahead of its tape."""
        with self._guard:
            old = self._kept.pop(session_id, None)
            if old is not None:
                self._entries -= old[2]
