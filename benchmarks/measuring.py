"""Timing two things side by side, and what is said about it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

Action = Callable[[], object]
"""What is timed. If it answers something that can be called, that is called afterwards, untimed."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Figure:
    """One measured number.

    `limit`: the most that --check accepts (None: it is only told), `least`: the least. `aim`: what
    we would like.
    `detail`: the parts that the number was made from, for a reader who wonders.
    """

    what: str
    value: float
    unit: str = "times"
    limit: float | None = None
    aim: float | None = None
    detail: str = ""
    least: float | None = None

    @property
    def is_missed(self) -> bool:
        return (self.limit is not None and self.value > self.limit) or (
            self.least is not None and self.value < self.least
        )

    def spell(self, *, judged: bool = True) -> str:
        """One line, and one more for the detail; with the limit if the figure is `judged`."""
        wanted = ""
        if judged and (self.limit is not None or self.least is not None):
            wanted = "   at least" if self.limit is None else "   limit"
            wanted += f" {self.least if self.limit is None else self.limit:g}"
            wanted += f", aim {self.aim:g}" if self.aim else ""
            wanted += "   MISSED" if self.is_missed else ""
        detail = f"\n      {self.detail}" if self.detail else ""
        return f"  {self.value:8.3g} {self.unit:<11} {self.what}{wanted}{detail}"


@dataclass(frozen=True)
class Bench:
    """What a benchmark is given: an empty folder, and whether it only has to show that it runs."""

    folder: Path
    quick: bool = False
    full: bool = False
    """The whole of what takes minutes."""

    def size(self, full: int, quick: int) -> int:
        """`full`, or in a quick run `quick`."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Sides:
    """Times of several actions, round by round: `rounds[r][a]` in seconds, a median each."""

    rounds: Sequence[Sequence[float]]

    def ratio(self, over: int, under: int) -> float:
        """The median over the rounds of the ratio of two actions."""
        return median(times[over] / times[under] for times in self.rounds)

    def time(self, action: int) -> float:
        """The median over the rounds. Unit: seconds."""
        return median(times[action] for times in self.rounds)

    def least(self, action: int) -> float:
        """The least of the rounds: what the action needs where nothing disturbs it."""
        return min(times[action] for times in self.rounds)

    def describe(self, *names: str, over: int = 0, under: int = 1) -> str:
        """Times of the actions, and how far the ratios of the rounds lie apart."""
        said = [
            f"{name} {spell(self.time(i))} (least {spell(self.least(i))})"
            for i, name in enumerate(names)
        ]
        ratios = sorted(times[over] / times[under] for times in self.rounds)
        said.append(f"ratio of the rounds {ratios[0]:.2f} to {ratios[-1]:.2f}")
        return ", ".join(said)


def spell(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def time_of(action: Action, clock: Clock = perf_counter) -> float:
    """How long an action takes. Unit: seconds."""
    started = clock()
    tidy = action()
    taken = clock() - started
    if callable(tidy):
        tidy()
    return taken


def side_by_side(
    actions: Sequence[Action], *, rounds: int, times: int, clock: Clock = perf_counter
) -> Sides:
    """Time actions in turn, `times` times a round: what disturbs one disturbs the others too.

    `clock`: `process_time` for work that waits for nothing, so that other processes count less.
    """
    found = []
    for _ in range(rounds):
        gc.collect()
        taken: list[list[float]] = [[] for _ in actions]
        for _ in range(times):
            for action, kept in zip(actions, taken, strict=True):
                kept.append(time_of(action, clock))
        found.append([median(kept) for kept in taken])
    return Sides(found)


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the cyclic collector out of a memory measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
