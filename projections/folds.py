"""The folds that are kept warm between batches, bounded by what they hold."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from .database import Build
from .declaration import Projection, SessionFold
from .log import Log

MOST: Final = 600_000
"""How much warm folds hold together: about 330 bytes each, as `SessionFold.size` counts them."""


class Folds:
    """Warm folds by session; a cold one is opened from its tape, at the position of its rows."""

    def __init__(self, projection: Projection, log: Log, *, most: int = MOST) -> None:
        self._projection = projection
        self._log = log
        self._most = most
        self._kept: OrderedDict[str, tuple[SessionFold, int]] = OrderedDict()
        self._size = 0

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._kept

    def take(self, build: Build, session_id: str) -> SessionFold:
        """The fold of a session. It is the caller's until it is given back."""
        kept = self._kept.pop(session_id, None)
        if kept is not None:
            self._size -= kept[1]
            return kept[0]
        return self._projection.open(self._log, session_id, build.session_position(session_id))

    def give_back(self, session_id: str, fold: SessionFold) -> None:
        """Keep a fold whose rows are written. The longest unused ones go when it gets crowded."""
        size = fold.size
        if size > self._most:
            return
        self._kept[session_id] = (fold, size)
        self._size += size
        while self._size > self._most:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._size -= dropped

    def discard(self, session_id: str) -> None:
        """Let go of a fold that nothing more comes for."""
        kept = self._kept.pop(session_id, None)
        if kept is not None:
            self._size -= kept[1]

    def clear(self) -> None:
        """Forget all: what they say may not have been committed."""
        self._kept.clear()
        self._size = 0
