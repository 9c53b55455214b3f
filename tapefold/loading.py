"""Folding tapes from a store: states with their basis, at any position."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any, NamedTuple, Protocol

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


class _Kept(NamedTuple):
    state: State
    size: int
    mark: str | None


class Bases:
    """Frozen states at the points where forks begin; immutable, so they may be shared.

    Bounded by the number of entries that they hold. `mark_of` tells what stands at a position of
    a tape now: a state is kept with what stood there before it was folded, and is given only
    while that still stands there, since a log may be restored under a living program. Left out
    where the tapes cannot change meanwhile.
    """

    def __init__(
        self,
        max_entries: int = 200_000,
        mark_of: Callable[[str, int], str | None] | None = None,
    ) -> None:
        self._max = max_entries
        self._mark_of = mark_of
        self._kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
        self._entries = 0
        self._lock = Lock()

    def mark(self, session_id: str, position: int) -> str | None:
        """What stands at a position now. Ask this before the state is folded."""
        return None if self._mark_of is None else self._mark_of(session_id, position)

    def get(self, session_id: str, position: int) -> State | None:
        """The state of a session at exactly this position."""
        key = (session_id, position)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        return self._proven(key, found)

    def nearest(self, session_id: str, position: int) -> State | None:
        """The newest state at or before a position."""
        with self._lock:
            at = [p for sid, p in self._kept if sid == session_id and p <= position]
            key = (session_id, max(at, default=0))
            found = self._kept.get(key)
        return self._proven(key, found)

    def put(self, state: State, mark: str | None) -> None:
        """Keep a frozen state. `mark`: what stood at its position before it was folded."""
        if mark is None and self._mark_of is not None:
            return  # there was nothing; then something else was folded
        key = (state.session_id, state.position)
        # The offset and position bound the entries, without counting them.
        size = state.seq + 1
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = _Kept(state, size, mark)
            self._entries += size
            while self._entries > self._max and len(self._kept) > 1:
                self._entries -= self._kept.popitem(last=False)[1].size

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()
            self._entries = 0

    def _proven(self, key: tuple[str, int], found: _Kept | None) -> State | None:
        if found is None:
            return None
        if self.mark(*key) != found.mark:
            self.clear()  # the log is another one, so the others are no better
            return None
        return found.state


def load_state(
    reader: HeadReader, session_id: str, at: int | None = None, bases: Bases | None = None
) -> State:
    """The state of a session (up to position `at`), its ancestors folded first.

    The chain of ancestors is walked, not recursed: a fork of a fork of a fork is data. Raises
    `SessionNotFound`, `PositionOutOfRange`, `BasisMissing` (an ancestor's tape is not there).
    """
    chain: list[tuple[str, int | None]] = []
    marks: dict[str, str | None] = {}
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
        if bases is not None:
            marks[sid] = bases.mark(sid, upto)
    state: State | None = None
    for sid, upto in reversed(chain):
        state = _fold(reader, sid, upto, basis, bases)
        if (sid, upto) != chain[0]:
            basis = state.freeze()
            if bases is not None:
                bases.put(basis, marks[sid])
    assert state is not None
    return state


def load_basis(reader: HeadReader, session_id: str, position: int, bases: Bases) -> State:
    """The frozen state of a session at a position at which a fork begins. Raises as `load_state`
    does."""
    found = bases.get(session_id, position)
    if found is None:
        mark = bases.mark(session_id, position)
        found = load_state(reader, session_id, position, bases).freeze()
        bases.put(found, mark)
    return found


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
