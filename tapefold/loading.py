"""Folding tapes from a store: states with their basis, at any position."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import Any, Protocol

from .domain.errors import BasisMissing, PositionOutOfRange, SessionNotFound, TapefoldError
from .domain.events import Event
from .domain.heads import Head
from .domain.kernel import State


class HeadReader(Protocol):
    """What loading needs of a store."""

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterable[tuple[int, Head]]:
        """(position, head) of a tape in order."""

    def first_head(self, session_id: str) -> Head | None:
        """The head at position 1, None where there is no tape."""


class Bases:
    """Frozen states at the points where forks begin; immutable, so they may be shared.

    Bounded by the number of entries that they hold.
    """

    def __init__(self, max_entries: int = 200_000) -> None:
        self._max = max_entries
        self._kept: OrderedDict[tuple[str, int], tuple[State, int]] = OrderedDict()
        self._entries = 0
        self._lock = Lock()

    def get(self, session_id: str, position: int) -> State | None:
        """The state of a session at exactly this position."""
        with self._lock:
            found = self._kept.get((session_id, position))
            if found is None:
                return None
            self._kept.move_to_end((session_id, position))
            return found[0]

    def nearest(self, session_id: str, position: int) -> State | None:
        """The newest state at or before a position."""
        with self._lock:
            at = [p for sid, p in self._kept if sid == session_id and p <= position]
            return self._kept[(session_id, max(at))][0] if at else None

    def put(self, state: State) -> None:
        """Keep a frozen state."""
        key = (state.session_id, state.position)
        # The offset and position bound the entries, without counting them.
        size = state.seq + 1
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = (state, size)
            self._entries += size
            while self._entries > self._max and len(self._kept) > 1:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._entries -= dropped


def load_state(
    reader: HeadReader, session_id: str, at: int | None = None, bases: Bases | None = None
) -> State:
    """The state of a session (up to position `at`), its ancestors folded first.

    The chain of ancestors is walked, not recursed: a fork of a fork of a fork is data. Raises
    `SessionNotFound`, `PositionOutOfRange`, `BasisMissing` (an ancestor's tape is not there).
    """
    chain: list[tuple[str, int | None]] = []
    seen: set[str] = set()
    basis: State | None = None
    sid, upto = session_id, at
    child = session_id
    while True:
        if sid in seen:
            raise BasisMissing(child, sid, upto or 0)  # an ancestor of itself
        seen.add(sid)
        head = reader.first_head(sid)
        if head is None:
            if sid == session_id:
                raise SessionNotFound(session_id)
            raise BasisMissing(child, sid, upto or 0)
        chain.append((sid, upto))
        origin = head.origin
        if origin is None or not origin.inherit:
            break
        basis = None if bases is None else bases.get(origin.session_id, origin.position)
        if basis is not None:
            break
        child, sid, upto = sid, origin.session_id, origin.position
    state: State | None = None
    for sid, upto in reversed(chain):
        state = _fold(reader, sid, upto, basis, bases)
        if (sid, upto) != chain[0]:
            basis = state.freeze()
            if bases is not None:
                bases.put(basis)
    assert state is not None
    return state


def _fold(
    reader: HeadReader, session_id: str, upto: int | None, basis: State | None, bases: Bases | None
) -> State:
    near = bases.nearest(session_id, upto) if bases is not None and upto is not None else None
    if near is not None:
        state = near.copy()
    else:
        state = State(session_id)
        state.inherit(basis)
    for position, head in reader.heads(session_id, state.position, upto):
        state.apply_head(position, head)
    if upto is not None and not 0 < upto <= state.position:
        raise PositionOutOfRange(session_id, upto, state.position)
    return state


class RepositoryTapes:
    """Tapes through a repository of the library: for an application of the host's own."""

    def __init__(self, repository: Any) -> None:
        self._store = repository.event_store

    def events(self, session_id: str, gt: int = 0, lte: int | None = None) -> Iterator[Event]:
        """The events of a tape in order."""
        for event in self._store.get(session_id, gt=gt or None, lte=lte):
            if not isinstance(event, Event):
                raise TapefoldError(
                    f"{session_id!r} is no session: its events are {type(event).__name__}"
                )
            yield event

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterable[tuple[int, Head]]:
        """(position, head) of a tape in order."""
        return ((event.position, event.head) for event in self.events(session_id, gt, lte))

    def first_head(self, session_id: str) -> Head | None:
        """The head at position 1, None where there is no tape."""
        return next((event.head for event in self.events(session_id, 0, 1)), None)

    def events_at(self, session_id: str, positions: Iterable[int]) -> Iterable[Event]:
        """The events at these positions."""
        wanted = set(positions)
        if wanted:
            for event in self.events(session_id, min(wanted) - 1, max(wanted)):
                if event.position in wanted:
                    yield event
