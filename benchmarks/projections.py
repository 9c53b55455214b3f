"""Rebuilding the projections, against the least that any program would do with the same rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tapefold import Sessions
from tapefold.projections.applying import Applier
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.database import Build, connect
from tapefold.projections.declaration import Projection
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.filling import EVENTS, fill
from tapefold.projections.following import Follower
from tapefold.projections.log import Log
from tapefold.projections.trace_index.projection import TraceIndex
from tapefold.projections.trace_text.projection import TraceText

from .agents import store
from .measuring import Bench, Figure, Sides, spell

PROJECTIONS: tuple[Projection, ...] = (EffectiveView(), BranchTree(), TraceIndex())

_TABLE = (
    "CREATE TABLE bare (session_id TEXT NOT NULL, position INTEGER NOT NULL, topic TEXT NOT NULL, "
    "state TEXT NOT NULL, PRIMARY KEY (session_id, position))"
)
_WORDS = (
    "CREATE VIRTUAL TABLE bare USING fts5 "
    "(session_id UNINDEXED, position UNINDEXED, topic UNINDEXED, state)"
)


def new_build(path: Path, projection: Projection, log: Log, upto: int) -> Build:
    """An empty build that is to be filled up to an id of the log."""
    remove(path)
    build = Build(path, projection, create=True)
    last = log.row(upto) if upto else None
    build.create(log.uuid, upto, None if last is None else last.digest())
    return build


def remove(path: Path) -> None:
    """Delete a database with what stands beside it."""
    for tail in ("", "-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)


def rebuild(path: Path, projection: Projection, log: Log) -> int:
    """Our way: tape by tape, in large transactions. Answers how many events there were."""
    build = new_build(path, projection, log, log.last_id())
    try:
        return sum(fill(Applier(build, log)))
    finally:
        build.close()


def follow(path: Path, projection: Projection, log: Log) -> int:
    """Our way of catching up: page by page, in the order of the log."""
    build = new_build(path, projection, log, 0)
    try:
        assert sum(fill(Applier(build, log))) == 0
        follower = Follower(Applier(build, log))
        rows = 0
        while page := follower.step():
            rows += page
        return rows
    finally:
        build.close()


def one_by_one(path: Path, projection: Projection, log: Log, upto: int) -> int:
    """The library's way: each event is decoded, applied by the same handlers, and committed with
    the position, in the order of the log."""
    build = new_build(path, projection, log, 0)
    build.connection.execute("PRAGMA synchronous=FULL")  # as the library leaves it
    applier = Applier(build, log)
    applied = 0
    try:
        for row in log.page(0, upto):
            with build.writing():
                applied += applier.apply([row])
                build.advance(row.id, None, 1)
    finally:
        build.close()
    return applied


def bare_loop(
    path: Path, source: Path, table: str = _TABLE, texts: Callable[[Any], str] | None = None
) -> int:
    """Read the rows, parse each with json.loads and insert one row, as many in a transaction and
    with the same pragmas. `texts`: what of a parsed state is put in, instead of its JSON; a state
    without any makes no row."""
    remove(path)
    target = connect(path)
    target.execute(table)
    reading = sqlite3.connect(source)
    after = number = 0
    while True:
        rows = reading.execute(
            "SELECT id, originator_id, originator_version, topic, state FROM tapefold_events "
            "WHERE id > ? ORDER BY id LIMIT ?",
            (after, EVENTS),
        ).fetchall()
        if not rows:
            break
        after = rows[-1][0]
        made: list[tuple[Any, ...]] = []
        for _, session_id, position, topic, state in rows:
            value = json.loads(state)
            if texts is None:
                made.append((session_id, position, topic, state.decode()))
            elif text := texts(value):
                made.append((session_id, position, topic, text))
        target.execute("BEGIN IMMEDIATE")
        target.executemany("INSERT INTO bare VALUES (?, ?, ?, ?)", made)
        target.execute("COMMIT")
        number += len(rows)
    reading.close()
    target.close()
    return number


def measure(bench: Bench) -> Iterator[Figure]:
    """Rates first; then what depends on sizes."""
    events, length = bench.size(40_000, 200), bench.size(100, 20)
    source = store(bench.folder / "agents.db", events // length, length)
    with Sessions(source) as sessions:
        log = Log(sessions.recorder, sessions.mapper)
        for projection in PROJECTIONS:
            yield from _rates(bench, projection, log, source, events)
            yield from _catching_up(bench, projection, log, events)
        yield from _words(bench, log, source, events)


def _rates(
    bench: Bench, projection: Projection, log: Log, source: Path, events: int
) -> Iterator[Figure]:
    name, few = projection.NAME, bench.size(2_000, 40)
    ours, theirs, slow = (bench.folder / f"{name}-{way}.db" for way in ("ours", "bare", "slow"))
    rounds, walls = [], []
    for _ in range(bench.size(5, 1)):
        bare = times_of(partial(bare_loop, theirs, source), events)
        own = times_of(partial(rebuild, ours, projection, log), events)
        library = times_of(partial(one_by_one, slow, projection, log, few), few)
        rounds.append((bare[0], own[0], library[0]))
        walls.append((bare[1], own[1], library[1]))
    speed, wall = Sides(rounds), Sides(walls)
    yield Figure(
        f"{name}: rebuild, a bare loop of json.loads and inserts : ours (processor)",
        speed.ratio(0, 1),
        least=0.35,
        aim=0.5,
        detail=speed.describe("bare", "ours", over=0, under=1)
        + f"; {1 / speed.time(1):,.0f} events/s; on the wall "
        + f"{wall.ratio(0, 1):.2f}",
    )
    yield Figure(
        f"{name}: one transaction for each event, durable : ours (on the wall)",
        wall.ratio(2, 1),
        least=8,
        detail=f"{spell(wall.time(2))} : {spell(wall.time(1))} an event; of the processor "
        f"{speed.ratio(2, 1):.1f}",
    )


def _catching_up(bench: Bench, projection: Projection, log: Log, events: int) -> Iterator[Figure]:
    path = bench.folder / f"{projection.NAME}-follow.db"
    taken, _ = times_of(partial(follow, path, projection, log), events)
    yield Figure(
        f"{projection.NAME}: catching up in the order of the log, for each event (processor)",
        taken,
        "seconds",
    )


def _words(bench: Bench, log: Log, source: Path, events: int) -> Iterator[Figure]:
    """The stage of the full text, against the bare loop into a bare table of words: of the rows as
    they stand, and of nothing but the texts in them, which somebody has to know how to find."""
    rounds = []
    bare = partial(bare_loop, bench.folder / "words.db", source, _WORDS)
    for _ in range(bench.size(3, 1)):
        whole = times_of(bare, events)
        texts = times_of(partial(bare, _text_in), events)
        own = times_of(partial(rebuild, bench.folder / "text.db", TraceText(), log), events)
        rounds.append((whole[0], texts[0], own[0]))
    speed = Sides(rounds)
    yield Figure(
        "trace_text: rebuild, a bare loop into a bare FTS5 table : ours (processor)",
        speed.ratio(0, 2),
        least=0.6,
        detail=speed.describe("bare", "texts alone", "ours", over=0, under=2),
    )
    yield Figure(
        "trace_text: the same, where the bare loop puts in the texts of messages alone",
        speed.ratio(1, 2),
        aim=0.6,
        detail=speed.describe("bare", "texts alone", "ours", over=1, under=2),
    )


def _text_in(state: Any) -> str:
    """The text of a stored message, with the calls that it makes."""
    blocks = state["body"].get("content") or ()
    said = [block.get("text") or json.dumps(block.get("arguments")) for block in blocks]
    return "\n".join(said) or str(state["body"].get("summary") or "")


def times_of(action: Callable[[], int], events: int) -> tuple[float, float]:
    """Seconds for each event, of the processor and of the clock on the wall."""
    used, started = process_time(), perf_counter()
    done = action()
    used, started = process_time() - used, perf_counter() - started
    assert done == events, (done, events)
    return used / events, started / events
