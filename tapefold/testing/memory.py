"""Tapes in memory: where the view and the context fetch bodies from in a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..domain.events import Event
from ..domain.heads import Head


class MemoryTapes:
    """Events of several tapes by session id and position, in no store.

    `events_at` answers in the order of the tape and passes over positions that it does not
    have, as a store does. `asked` counts the events that were asked for.
    """

    def __init__(self) -> None:
        self._tapes: dict[str, list[Event]] = {}
        self.asked = 0

    def tape(self, session_id: str) -> list[Event]:
        """The events of one tape; the list that grows with it."""
        return self._tapes.setdefault(session_id, [])

    def without(self, session_id: str) -> MemoryTapes:
        """The same tapes (they go on to grow together) but for one."""
        other = MemoryTapes()
        other._tapes = {key: tape for key, tape in self._tapes.items() if key != session_id}
        return other

    def events_at(self, session_id: str, positions: Sequence[int]) -> Iterable[Event]:
        """The events of a tape at these positions (1, 2, 3 …)."""
        events = self._tapes.get(session_id, [])
        self.asked += len(positions)
        return [events[p - 1] for p in sorted(positions) if 1 <= p <= len(events)]

    def events(self, session_id: str, gt: int = 0, lte: int | None = None) -> Iterator[Event]:
        """The events of a tape in order, after position `gt` and up to `lte`."""
        return iter(self._tapes.get(session_id, [])[gt:lte])

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterator[tuple[int, Head]]:
        """(position, head) of a tape in order."""
        return ((event.position, event.head) for event in self.events(session_id, gt, lte))
