"""The trace index is the same however a tape comes, and says what the events say."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold import Sessions
from tapefold.projections.log import Log
from tapefold.projections.trace_index.projection import TraceIndex
from tapefold.testing.strategies import families

PROJECTION = TraceIndex()
MANIFEST = {
    "policy": "anchored",
    "policy_version": 1,
    "builder_version": 1,
    "session_id": "s",
    "position": 3,
    "leaf": "e3",
    "included": [
        {"session_id": "s", "position": 2, "entry_id": "e2", "kind": "message", "tokens": 4},
        {"session_id": None, "position": None, "entry_id": None, "kind": "synthetic"},
    ],
    "excluded": [{"session_id": "s", "position": 1, "entry_id": "e1", "reason": "empty"}],
    "tokens": 4,
    "rows_hash": "r",
    "prompt_hash": "p",
}
HOSTILE = [None, 7, "x", [], [1], {"included": 3}, {"included": [1, {}], "tokens": 1 << 70}]


def new_tables() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for table in PROJECTION.TABLES:
        for statement in table.statements():
            connection.execute(statement)
    return connection


def dump(connection: sqlite3.Connection) -> dict[str, list]:
    return {
        table.name: connection.execute(
            f"SELECT * FROM {table.name} ORDER BY {', '.join(table.key)}"
        ).fetchall()
        for table in PROJECTION.TABLES
    }


def scatter_traces(family, numbers):
    """Requests, attempts and keys among what a family has already."""
    for n in numbers:
        tape = family[n % len(family)]
        if n % 3 == 0:
            manifest = MANIFEST if n % 2 else HOSTILE[n % len(HOSTILE)]
            tape.context_assembled(manifest, request_id=f"q{n % 4}", trace_id=f"t{n % 2}")
        elif n % 3 == 1:
            usage = {"input": n, "output_tokens": 2} if n % 2 else [n]
            tape.model_call(
                request_id=f"q{n % 4}",
                status="error" if n % 5 == 0 else "success",
                model="m",
                usage=usage,
                cost={"total": 0.5},
                latency_ms=float(n),
                attempt=n % 3,
            )
        else:
            tape.user(f"u{n}", key=f"k{n}" if n % 2 else None, actor="a", correlation_id="c\ud800")


def check_family(family, data) -> None:
    with Sessions("memory:") as sessions:
        for tape in family:
            sessions.recorder.insert_events(
                [sessions.mapper.to_stored_event(event) for event in tape.events]
            )
        log = Log(sessions.recorder, sessions.mapper)
        pieces, whole = new_tables(), new_tables()
        for tape in family:
            fold = PROJECTION.open(log, tape.session_id, 0)
            for row in log.tape(tape.session_id, 0, 1 << 60):
                fold.apply(log.event(row))
                choice = data.draw(st.integers(0, 5))
                if choice < 3:
                    fold.flush(pieces)
                if choice == 0:
                    fold = PROJECTION.open(log, tape.session_id, row.position)
            fold.flush(pieces)
            fold = PROJECTION.open(log, tape.session_id, 0)
            for row in log.tape(tape.session_id, 0, 1 << 60):
                fold.apply(log.event(row))
            fold.flush(whole)
            differences = list(
                PROJECTION.against_kernel(whole, log, tape.session_id, tape.position)
            )
            assert differences == []
        assert dump(pieces) == dump(whole)


@settings(max_examples=15, deadline=None)
@given(families(hostile=True), st.lists(st.integers(0, 99), max_size=12), st.data())
def test_pieces_reopened_folds_and_the_whole_tape_make_the_same_rows(family, numbers, data):
    scatter_traces(family, numbers)
    check_family(family, data)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(families(hostile=True), st.lists(st.integers(0, 99), max_size=12), st.data())
def test_a_thousand_families_make_the_same_rows_in_any_pieces(family, numbers, data):
    scatter_traces(family, numbers)
    check_family(family, data)
