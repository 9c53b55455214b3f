"""What providers' usage counts say, whichever names they use."""

from __future__ import annotations

from collections.abc import Mapping
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

_PLAIN: Final = frozenset({"input", "output"})

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


def tokens_of(usage: Any, cost: Any = None) -> Tokens:
    """The counts in a usage object; what is no count is none.

    `cost`: a number, or an object with `total`; left out, the usage's own `cost`.
    """
    if not isinstance(usage, Mapping):
        return Tokens(cost=_cost(cost))
    if len(usage) <= len(_PLAIN) and usage.keys() <= _PLAIN:
        # The most common counts, by the names that tapefold's own writers use.
        return Tokens(
            _count(usage.get("input", 0)), _count(usage.get("output", 0)), cost=_cost(cost)
        )
    return Tokens(
        _first(usage, _NAMES["input"]),
        _first(usage, _NAMES["output"]),
        _first(usage, _NAMES["cache_read"]),
        _first(usage, _NAMES["cache_write"]),
        _cost(usage.get("cost") if cost is None else cost),
    )


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int:
    for name in names:
        if name in usage:
            return _count(usage[name])
    return 0


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= MOST else 0


def _cost(value: Any) -> float:
    if isinstance(value, Mapping):
        value = value.get("total")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value <= MOST else 0.0
