"""What providers' usage counts say, whichever names they use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

_NAMES: Final = {
    "input": ("input", "input_tokens", "inputTokens", "prompt_tokens", "promptTokens"),
    "output": ("output", "output_tokens", "outputTokens", "completion_tokens", "completionTokens"),
    "cache_read": (
        "cacheRead",
        "cache_read",
        "cache_read_tokens",
        "cache_read_input_tokens",
        "cached_tokens",
    ),
    "cache_write": (
        "cacheWrite",
        "cache_write",
        "cache_write_tokens",
        "cache_creation_input_tokens",
    ),
}

_PLACES: Final = {
    name: (place, rank)
    for place, names in enumerate(_NAMES.values())
    for rank, name in enumerate(names)
}
"""Which count a name stands for, and its rank: the first of two names of one count is taken."""

_NO_RANK: Final = 99

MOST: Final = 1 << 53
"""A count beyond this is no count."""


class Tokens(NamedTuple):
    """Counts of tokens, and the cost in the provider's own currency (0 where it said none)."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0

    def plus(self, other: Tokens) -> Tokens:
        """The sum of both."""
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cost + other.cost,
        )


NONE: Final = Tokens()


class Spending:
    """What some events of one tape spent.

    Costs are kept one by one, for `add_costs`.
    """

    __slots__ = ("cache_read", "cache_write", "costs", "input", "output")

    def __init__(self) -> None:
        self.input = self.output = self.cache_read = self.cache_write = 0
        self.costs: list[float] = []

    def __bool__(self) -> bool:
        return bool(self.input or self.output or self.cache_read or self.cache_write or self.costs)

    def add(self, usage: Any) -> None:
        """Add what a usage object says."""
        counts = tokens_of(usage)
        self.input += counts.input
        self.output += counts.output
        self.cache_read += counts.cache_read
        self.cache_write += counts.cache_write
        if counts.cost:
            self.costs.append(counts.cost)


def add_costs(total: float, costs: Iterable[float]) -> float:
    """A total with costs added one after the other, in their order.

    Sums of floats depend on how they are grouped, and a total must not depend on how the events
    were cut into batches: so a batch's costs are never summed up by themselves first.
    """
    for cost in costs:
        total += cost
    return total


def tokens_of(usage: Any, cost: Any = None) -> Tokens:
    """The counts in a usage object; what is no count is none.

    `cost`: a number, or an object with `total`; left out, the usage's own `cost`.
    """
    if not isinstance(usage, Mapping):
        return Tokens(cost=_cost(cost))
    counts = [0, 0, 0, 0]
    ranks = [_NO_RANK] * 4
    for name, value in usage.items():
        found = _PLACES.get(name)
        if found is not None and found[1] < ranks[found[0]]:
            ranks[found[0]] = found[1]
            counts[found[0]] = _count(value)
    paid = _cost(usage.get("cost") if cost is None else cost)
    return Tokens(counts[0], counts[1], counts[2], counts[3], paid)


def _count(value: Any) -> int:
    if type(value) is not int and type(value) is not float:
        return 0
    return int(value) if 0 <= value <= MOST else 0


def _cost(value: Any) -> float:
    if isinstance(value, Mapping):
        value = value.get("total")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value <= MOST else 0.0
