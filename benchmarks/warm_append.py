"""A warm append costs the same at any length of the session."""

from __future__ import annotations

from collections.abc import Iterator

from tapefold import Sessions

from .measuring import Bench, Figure, side_by_side
from .stores import QUESTION, fill


def measure(bench: Bench) -> Iterator[Figure]:
    """Two sessions of one store, a long one and a short one, in turn. Once without a disk."""
    long, short = bench.size(100_000, 300), bench.size(100, 30)
    for where, place in (
        ("on the disk", str(bench.folder / "lengths.db")),
        ("in memory", "memory:"),
    ):
        with Sessions(place) as sessions:
            fill(sessions, long, "long")
            fill(sessions, short, "short")

            def append_long(sessions: Sessions = sessions) -> None:
                sessions.execute("long", lambda s: s.finalize("user", QUESTION))

            def append_short(sessions: Sessions = sessions) -> None:
                sessions.execute("short", lambda s: s.finalize("user", QUESTION))

            sides = side_by_side(
                (append_long, append_short), rounds=bench.size(7, 1), times=bench.size(200, 5)
            )
        yield Figure(
            f"warm append {where} at {long} entries : at {short}",
            sides.ratio(0, 1),
            limit=1.3,
            detail=sides.describe("long", "short"),
        )
