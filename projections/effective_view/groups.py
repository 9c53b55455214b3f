"""Which rows of a path have to be paired together.

Pairing calls with results (`domain/calls.py`) falls into groups: a call meets only results of
its own call id, and a result that names its owner only the calls of that owner. So a part of a
path pairs exactly as the whole, as long as it is the end of the path and no group lies across its
beginning. Here the groups are kept, and such a beginning is found.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import NamedTuple

from tapefold.domain.kernel import State
from tapefold.domain.nodes import MessageNode, Version

ROLE = "tool_result"


class Keys(NamedTuple):
    """What one message has to do with calls, whichever of its versions shows.

    `called`: ids of calls that it makes, or made. `unowned`: call ids that it answers without
    naming an owner; `named`: (owner, call id) where it names one.
    """

    message_id: str
    called: tuple[str, ...]
    unowned: tuple[str, ...]
    named: tuple[tuple[str, str], ...]


def keys_of(state: State, node: MessageNode) -> Keys | None:
    """The keys of a message; None where it has nothing to do with calls."""
    kept = state.messages.get(node.message_id)
    if kept is None and not state.fact_chains:  # nearly every message: one version says it all
        return _plain_keys(node)
    versions: Iterable[Version | None] = (node,)
    called: dict[str, None] = {}
    if kept is not None:
        versions = (kept.final, kept.pending, kept.latest)
        called.update(dict.fromkeys(kept.held))
    unowned: dict[str, None] = {}
    named: dict[tuple[str, str], None] = {}
    for version in versions:
        if version is None:
            continue
        if version.role == ROLE:
            for call_id in version.call_ids[:1]:
                if version.owner is None:
                    unowned[call_id] = None
                else:
                    named[(version.owner, call_id)] = None
        else:
            called.update(dict.fromkeys(version.call_ids))
    called.update(dict.fromkeys(state.fact_call_ids(node.message_id)))
    if not (called or unowned or named):
        return None
    return Keys(node.message_id, tuple(called), tuple(unowned), tuple(named))


def _plain_keys(node: MessageNode) -> Keys | None:
    call_ids = node.call_ids
    if not call_ids:
        return None
    if node.role != ROLE:
        called = call_ids if len(call_ids) == 1 else tuple(dict.fromkeys(call_ids))
        return Keys(node.message_id, called, (), ())
    if node.owner is None:
        return Keys(node.message_id, (), call_ids[:1], ())
    return Keys(node.message_id, (), (), ((node.owner, call_ids[0]),))


def merged(one: Keys | None, other: Keys | None) -> Keys | None:
    """The keys of a message in either of two states."""
    if one is None or other is None or one == other:
        return one if other is None else other
    return Keys(
        one.message_id,
        tuple(dict.fromkeys((*one.called, *other.called))),
        tuple(dict.fromkeys((*one.unowned, *other.unowned))),
        tuple(dict.fromkeys((*one.named, *other.named))),
    )


class Groups:
    """The keys of the messages on a path, by place, and the places of each key in order."""

    def __init__(self) -> None:
        self._keys: dict[int, Keys] = {}
        self._callers: dict[str, list[int]] = {}
        self._unowned: dict[str, list[int]] = {}
        self._named: dict[str, list[int]] = {}
        self._makers: dict[str, int] = {}

    @property
    def has_unowned(self) -> bool:
        """Whether some result on the path names no owner."""
        return bool(self._unowned)

    def is_unowned(self, call_id: str) -> bool:
        """Whether some result of this call id names no owner."""
        return call_id in self._unowned

    def at(self, place: int) -> Keys | None:
        """The keys of the message at a place."""
        return self._keys.get(place)

    def naming(self, message_id: str) -> list[int]:
        """The places of the results that name a message as their owner."""
        return self._named.get(message_id, [])

    def put(self, place: int, keys: Keys | None) -> None:
        """Note the keys of the message at a place, instead of those that it had."""
        old = self._keys.get(place)
        if old == keys:
            return
        if old is not None:
            self._drop(place, old)
        if keys is None:
            return
        self._keys[place] = keys
        self._makers[keys.message_id] = place
        for call_id in keys.called:
            _add(self._callers, call_id, place)
        for call_id in keys.unowned:
            _add(self._unowned, call_id, place)
        for owner, _ in keys.named:
            _add(self._named, owner, place)

    def cut(self, length: int, last: int) -> list[Keys]:
        """Forget the places from `length` to `last`; answers their keys."""
        gone = []
        for place in range(last, length - 1, -1):  # the last first: a list ends with it
            keys = self._keys.get(place)
            if keys is not None:
                gone.append(keys)
                self._drop(place, keys)
        return gone

    def _drop(self, place: int, keys: Keys) -> None:
        del self._keys[place]
        del self._makers[keys.message_id]
        for call_id in keys.called:
            _remove(self._callers, call_id, place)
        for call_id in keys.unowned:
            _remove(self._unowned, call_id, place)
        for owner, _ in keys.named:
            _remove(self._named, owner, place)

    def beginning(self, first: int, end: int, seeds: Iterable[Keys] = ()) -> int:
        """The last place from which on the path pairs by itself, `first` at the most.

        `end`: the length of the path. `seeds`: keys of what was changed or has left the path.
        """
        for keys in seeds:
            first = min(first, self._reach(keys))
        if not first:
            return 0
        low, high = first, end
        while low < high:
            reached = low
            for place in range(low, high):
                here = self._keys.get(place)
                if here is not None:
                    reached = min(reached, self._reach(here))
            low, high = reached, low
        return low

    def _reach(self, keys: Keys) -> int:
        """The first place of all the groups that a message belongs to."""
        least = self._makers.get(keys.message_id, 1 << 60)
        places = self._named.get(keys.message_id)
        if places:
            least = min(least, places[0])
        for call_id in keys.called:
            if call_id in self._unowned:
                least = min(least, self._unowned[call_id][0], self._first_caller(call_id))
        for call_id in keys.unowned:
            least = min(least, self._first_caller(call_id))
            if call_id in self._unowned:
                least = min(least, self._unowned[call_id][0])
        for owner, call_id in keys.named:
            least = min(least, self._makers.get(owner, least))
            if owner in self._named:
                least = min(least, self._named[owner][0])
            if call_id in self._unowned:
                least = min(least, self._unowned[call_id][0], self._first_caller(call_id))
        return least

    def _first_caller(self, call_id: str) -> int:
        places = self._callers.get(call_id)
        return places[0] if places else 1 << 60


def _add(table: dict[str, list[int]], key: str, place: int) -> None:
    places = table.get(key)
    if places is None:
        table[key] = [place]
    elif places[-1] < place:
        places.append(place)
    elif place not in places[bisect_left(places, place) :][:1]:
        insort(places, place)


def _remove(table: dict[str, list[int]], key: str, place: int) -> None:
    places = table[key]
    at = bisect_left(places, place)
    if at < len(places) and places[at] == place:
        del places[at]
    if not places:
        del table[key]
