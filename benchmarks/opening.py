"""Opening a store and folding a session, against reading the same rows as JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from tapefold import Sessions

from .measuring import Bench, Figure, side_by_side
from .stores import QUESTION, SESSION, filled


def measure(bench: Bench) -> Iterator[Figure]:
    """Ten thousand messages folded; then, at two lengths, opened cold to append one message."""
    entries = bench.size(10_000, 200)
    path = filled(bench.folder, entries)

    def fold() -> Callable[[], None]:
        sessions = Sessions(path)
        assert sessions.state(SESSION).position == entries + 1
        return sessions.close

    def read() -> Callable[[], None]:
        connection = sqlite3.connect(path)
        rows = connection.execute(
            "SELECT state FROM tapefold_events WHERE originator_id = ? ORDER BY originator_version",
            (SESSION,),
        )
        assert len([json.loads(state) for (state,) in rows]) == entries + 1
        return connection.close

    sides = side_by_side(
        (fold, read), rounds=bench.size(7, 1), times=bench.size(3, 1), clock=process_time
    )
    yield Figure(
        f"open and fold {entries} messages : SELECT and json.loads",
        sides.ratio(0, 1),
        limit=5,
        detail=sides.describe("open and fold", "read"),
    )
    yield from _cold_append(bench)


def _cold_append(bench: Bench) -> Iterator[Figure]:
    long, short = bench.size(100_000, 2_000), bench.size(10_000, 200)
    at_long, at_short = filled(bench.folder, long), filled(bench.folder, short)

    def append_at(path: Path) -> Callable[[], None]:
        sessions = Sessions(path)
        sessions.execute(SESSION, lambda s: s.finalize("user", QUESTION))
        return sessions.close

    def append_long() -> object:
        return append_at(at_long)

    def append_short() -> object:
        return append_at(at_short)

    sides = side_by_side(
        (append_long, append_short), rounds=bench.size(5, 1), times=1, clock=process_time
    )
    yield Figure(
        f"open cold and append one message at {long} entries",
        sides.time(0),
        "seconds",
        limit=2.0,
        aim=1.0,
        detail=sides.describe("long", "short"),
    )
    yield Figure(
        f"the same for each entry, at {long} : at {short}",
        sides.ratio(0, 1) * short / long,
        limit=1.5,
    )
