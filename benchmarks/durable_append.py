"""One durable append, against a raw insert of the same bytes into the same table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tapefold import Sessions

from .measuring import Bench, Figure, Sides, side_by_side
from .stores import ANSWER, QUESTION, SESSION

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
    """Questions and answers in turn, each followed by the raw insert of what was stored."""
    path = bench.folder / "ours.db"
    with Sessions(path) as sessions:
        sessions.start(SESSION, persist=True)
        raw = raw_store(bench.folder / "raw.db", path)
        sides = _measure(bench, sessions, raw)
        rows = "SELECT originator_version, topic, state FROM tapefold_events ORDER BY 1"
        stored = list(sessions.recorder.iter_events(SESSION, gt=1))
        if raw.execute(rows).fetchall() != stored:
            raise AssertionError("the two stores must hold the same bytes")
        raw.close()
    yield Figure(
        "one durable append through execute : raw insert of the same bytes",
        sides.ratio(1, 3),
        limit=2.0,
        aim=1.5,
        detail=sides.describe("", "execute", "", "raw", over=1, under=3).replace(" , ", " "),
    )


def _measure(bench: Bench, sessions: Sessions, raw: sqlite3.Connection) -> Sides:
    numbers = count(1)
    texts = {"user": "", "assistant": ""}
    row: list[tuple[object, ...]] = []

    def prepare() -> None:
        number = next(numbers)
        texts["user"] = f"{number}: {QUESTION}"
        texts["assistant"] = f"{number}: {ANSWER}"

    def append() -> None:
        if next(turn) % 2:
            sessions.execute(SESSION, lambda s: s.finalize("user", texts["user"]))
        else:
            sessions.execute(
                SESSION,
                lambda s: s.finalize(
                    "assistant",
                    texts["assistant"],
                    under=s.state.leaf,
                    model="demo-1",
                    provider="demo",
                    usage={"input": 90, "output": 110},
                    stop_reason="stop",
                ),
            )

    def fetch() -> None:
        position = sessions.recorder.stream_version(SESSION) or 0
        row[:] = sessions.recorder.select_states(SESSION, [position])

    def insert() -> None:
        raw.execute(INSERT, (SESSION, *row[0]))
        raw.commit()

    turn = count(1)
    actions = (prepare, append, fetch, insert)
    return side_by_side(actions, rounds=bench.size(7, 1), times=bench.size(400, 5))
