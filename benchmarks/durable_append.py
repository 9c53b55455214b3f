"""One durable append, against a raw insert of the same bytes into the same table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

from tapefold import Sessions

from .measuring import Bench, Figure, Sides, side_by_side
from .stores import ANSWER, QUESTION, SESSION

Row = tuple[str, int, str, bytes]

INSERT = (
    "INSERT INTO tapefold_events (originator_id, originator_version, topic, state) "
    "VALUES (?, ?, ?, ?)"
)


def raw_store(path: Path, like: Path) -> sqlite3.Connection:
    """A database with the table of another one, as durable, and nothing around it."""
    with sqlite3.connect(like) as ours:
        (statement,) = ours.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'tapefold_events'"
        ).fetchone()
    ours.close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA journal_mode=WAL")
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute(statement)
    raw.commit()
    return raw


def measure(bench: Bench) -> Iterator[Figure]:
    """Questions and answers in turn, each followed by a raw insert of what the round before has
    stored: nothing else happens between the two, so each finds the processor as cold as the other.
    """
    path = bench.folder / "ours.db"
    times = bench.size(400, 5)
    with Sessions(path) as sessions:
        sessions.start(SESSION, persist=True)
        append = _appending(sessions)
        raw = raw_store(bench.folder / "raw.db", path)
        for _ in range(times):
            append()
        stored: list[Row] = []
        rounds: list[Sequence[float]] = []
        for _ in range(bench.size(7, 1)):
            rows = _last_rows(sessions, times)
            inserts = iter(rows)

            def insert(rows: Iterator[Row] = inserts) -> None:
                raw.execute(INSERT, next(rows))
                raw.commit()

            rounds += side_by_side((append, insert), rounds=1, times=times).rounds
            stored += rows
        copied = raw.execute("SELECT * FROM tapefold_events ORDER BY id").fetchall()
        if [row[1:] for row in copied] != stored:
            raise AssertionError("the two stores must hold the same bytes")
        raw.close()
    sides = Sides(rounds)
    yield Figure(
        "one durable append through execute : raw insert of the same bytes",
        sides.ratio(0, 1),
        limit=2.0,
        aim=1.5,
        detail=sides.describe("execute", "raw"),
    )


def _appending(sessions: Sessions) -> Callable[[], None]:
    """What appends a question, then an answer, and so on."""
    numbers = count(1)

    def append() -> None:
        number = next(numbers)
        if number % 2:
            question = f"{number}: {QUESTION}"
            sessions.execute(SESSION, lambda s: s.finalize("user", question))
            return
        answer = f"{number}: {ANSWER}"
        sessions.execute(
            SESSION,
            lambda s: s.finalize(
                "assistant",
                answer,
                under=s.state.leaf,
                model="demo-1",
                provider="demo",
                usage={"input": 90, "output": 110},
                stop_reason="stop",
            ),
        )

    return append


def _last_rows(sessions: Sessions, number: int) -> list[Row]:
    last = sessions.recorder.stream_version(SESSION) or 0
    return [(SESSION, *row) for row in sessions.recorder.iter_events(SESSION, gt=last - number)]
