"""A fork costs two small events, whatever the length of its parent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tapefold import Sessions

from .measuring import Bench, Figure, side_by_side
from .stores import QUESTION, SESSION, filled


def measure(bench: Bench) -> Iterator[Figure]:
    """Forks and appends in turn, on a warm session; then a cold fork against a load."""
    entries = bench.size(10_000, 200)
    path = filled(bench.folder, entries)
    with Sessions(path) as sessions:

        def fork() -> None:
            sessions.fork(SESSION)

        def append() -> None:
            sessions.execute(SESSION, lambda s: s.finalize("user", QUESTION))

        append()
        warm = side_by_side((fork, append), rounds=bench.size(7, 1), times=bench.size(100, 3))
    yield Figure(
        f"fork at the head of a warm session of {entries} entries : one append",
        warm.ratio(0, 1),
        limit=3,
        detail=warm.describe("fork", "append"),
    )

    def fork_cold() -> Callable[[], None]:
        cold = Sessions(path)
        cold.fork(SESSION)
        return cold.close

    def load() -> Callable[[], None]:
        cold = Sessions(path)
        cold.state(SESSION)
        return cold.close

    sides = side_by_side((fork_cold, load), rounds=bench.size(5, 1), times=bench.size(3, 1))
    yield Figure(
        "fork of a cold session : one load and one warm fork",
        sides.time(0) / (sides.time(1) + warm.time(0)),
        limit=1.3,
        detail=sides.describe("cold fork", "load"),
    )
