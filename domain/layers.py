"""A table in layers: what is frozen is shared, what is new goes on top.

Forking a session freezes the parent's tables in place, in constant time; parent and child then
write to top layers of their own. A lookup asks the layers from the newest down, so their number
is bounded: when more than eight lie on each other, the two neighbours that are smallest together
become one. Values are never changed once they are in a table, only replaced; None is no value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_LAYERS: Final = 8


class Layers(Generic[K, V]):
    """A dictionary whose past is immutable and shared. Keys are never removed."""

    __slots__ = ("below", "top")

    def __init__(self, below: tuple[dict[K, V], ...] = ()) -> None:
        self.top: dict[K, V] = {}
        self.below = below
        """Frozen layers, newest first."""

    def get(self, key: K) -> V | None:
        """The newest value of `key`, or None."""
        value = self.top.get(key)
        if value is None:
            for layer in self.below:
                value = layer.get(key)
                if value is not None:
                    return value
        return value

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def __setitem__(self, key: K, value: V) -> None:
        self.top[key] = value

    def freeze(self) -> Layers[K, V]:
        """Freeze what is here, in place; the answer shares it and has an empty top of its own."""
        if self.top:
            self.below = _bounded((self.top, *self.below))
            self.top = {}
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


def _bounded(layers: tuple[dict[K, V], ...]) -> tuple[dict[K, V], ...]:
    if len(layers) <= MAX_LAYERS:
        return layers
    sizes = [len(layer) for layer in layers]
    at = min(range(len(layers) - 1), key=lambda i: sizes[i] + sizes[i + 1])
    merged = {**layers[at + 1], **layers[at]}
    return (*layers[:at], merged, *layers[at + 2 :])
