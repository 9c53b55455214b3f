"""A table in layers: what is frozen is shared, what is new goes on top.

Forking a session freezes the parent's tables in place, in constant time; parent and child then
write to top layers of their own. A lookup asks the layers from the newest down, so their number
is bounded: when more than eight lie on each other, the two neighbours that are smallest together
become one. Values are never changed once they are in a table, only replaced; None is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_LAYERS: Final = 8


class Layers(Generic[K, V]):
    """A dictionary whose past is immutable and shared. Keys are never removed."""

    __slots__ = ("below", "get", "top")

    top: dict[K, V]
    """What is not frozen."""
    below: tuple[dict[K, V], ...]
    """Frozen layers, newest first."""
    get: Callable[[K], V | None]
    """The newest value of a key, or None. The dictionary's own method while there is but one."""

    def __init__(self, below: tuple[dict[K, V], ...] = ()) -> None:
        self._lie_on(below)

    def _lie_on(self, below: tuple[dict[K, V], ...]) -> None:
        self.below = below
        self.top = {}
        # Not a method of ours: it would hold these layers in a ring of references.
        self.get = partial(_search, (self.top, *below)) if below else self.top.get

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def __setitem__(self, key: K, value: V) -> None:
        self.top[key] = value

    def freeze(self) -> Layers[K, V]:
        """Freeze what is here, in place; the answer shares it and has an empty top of its own."""
        if self.top:
            self._lie_on(_bounded((self.top, *self.below)))
        return Layers(self.below)

    def items(self) -> Iterator[tuple[K, V]]:
        """Every key once with its newest value. Order is not promised."""
        if not self.below:
            yield from self.top.items()
            return
        merged: dict[K, V] = {}
        for layer in reversed(self.below):
            merged.update(layer)
        merged.update(self.top)
        yield from merged.items()

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self.items())

    def values(self) -> Iterator[V]:
        """The newest value of every key. Order is not promised."""
        return (value for _, value in self.items())

    def __bool__(self) -> bool:
        return bool(self.top or self.below)

    def __len__(self) -> int:
        return len(self.top) if not self.below else sum(1 for _ in self.items())


def _search(layers: tuple[dict[K, V], ...], key: K) -> V | None:
    for layer in layers:
        value = layer.get(key)
        if value is not None:
            return value
    return None


def _bounded(layers: tuple[dict[K, V], ...]) -> tuple[dict[K, V], ...]:
    if len(layers) <= MAX_LAYERS:
        return layers
    sizes = [len(layer) for layer in layers]
    at = min(range(len(layers) - 1), key=lambda i: sizes[i] + sizes[i + 1])
    merged = {**layers[at + 1], **layers[at]}
    return (*layers[:at], merged, *layers[at + 2 :])
