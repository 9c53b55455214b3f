"""Ids and texts that no column of SQLite can hold as they came."""

import json

import pytest

from tapefold import Sessions
from tapefold.importing import import_file
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.effective_view.reading import EffectiveReader
from tapefold.projections.log import Log
from tapefold.projections.parking import parked
from tapefold.projections.reading import ReadModel
from tapefold.projections.runner import Runner
from tapefold.projections.trace_index.projection import TraceIndex
from tapefold.projections.trace_text.projection import TraceText
from tapefold.projections.trace_text.searching import Query, TextSearch
from tapefold.projections.verifying import verify_against_kernel

PROJECTIONS = (EffectiveView, BranchTree, TraceIndex, TraceText)
TIME = "2026-01-01T00:00:00.000Z"


def record(kind, number, **fields):
    parent = f"a{number - 1:07}" if number > 1 else None
    return {"type": kind, "id": f"a{number:07}", "parentId": parent, "timestamp": TIME, **fields}


@pytest.fixture
def odd(tmp_path):
    """Two calls of one message whose ids are lone surrogates, the second answered; a label and a
    title with such, too."""
    calls = [
        {"type": "toolCall", "id": "c\ud800", "name": "n1\udc80", "arguments": {}},
        {"type": "toolCall", "id": "c\ud801", "name": "n2", "arguments": {"x": "\udc80"}},
    ]
    result = {"role": "toolResult", "toolCallId": "c\ud801", "toolName": "n2", "isError": False}
    lines = [
        {"type": "session", "version": 3, "id": "odd", "timestamp": TIME, "cwd": "/"},
        record("message", 1, message={"role": "user", "content": "go \udc80"}),
        record("message", 2, message={"role": "assistant", "content": calls, "model": "m\udc80"}),
        record("message", 3, message={**result, "content": [{"type": "text", "text": "done"}]}),
        record("label", 4, targetId="a0000001", label="l\udc80"),
        record("session_info", 5, name="t\udc80"),
    ]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    store = tmp_path / "odd.db"
    with Sessions(store) as sessions:
        import_file(sessions, path)
        yield sessions, Log(sessions.recorder, sessions.mapper), store


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_lone_surrogates_park_no_session_and_are_no_difference(odd, kind):
    # An importer takes such ids; the effective view parked the whole session for them, and the
    # comparison with the kernel called right rows different.
    _, log, store = odd
    Runner(kind(), log, store).run(until_caught_up=True)
    model = ReadModel(kind(), log, store)
    with model.reading() as build:
        assert parked(build) == []
        assert verify_against_kernel(build, log).is_equal
    model.close()


def test_two_calls_whose_ids_differ_in_a_surrogate_stay_two(odd):
    _, log, store = odd
    for kind in (EffectiveView, TraceIndex):
        Runner(kind(), log, store).run(until_caught_up=True)
    view, trace = ReadModel(EffectiveView(), log, store), ReadModel(TraceIndex(), log, store)
    with view.reading() as build:
        message = EffectiveReader(build.connection, log).view("odd").messages[1]
        assert [(c.call_id, c.status) for c in message.calls] == [
            ("c\\ud800", "pending"),
            ("c\\ud801", "success"),
        ]
    with trace.reading() as build:
        found = build.connection.execute("SELECT call_id, status FROM ti_calls ORDER BY 1")
        assert found.fetchall() == [("c\\ud800", "pending"), ("c\\ud801", "success")]
    view.close()
    trace.close()


def test_the_newest_texts_are_ranked_with_all_others(tmp_path):
    # Texts that wait for the index were ranked among themselves: a word that is common among
    # them counted as nothing, so that the best matches came last.
    store = tmp_path / "ranked.db"
    with Sessions(store) as sessions:
        session = sessions.start("many")
        for number in range(300):
            word = "plank" if number % 10 == 0 else "board"
            session.finalize("user", f"this is the {word} with the number {number} of them all")
        sessions.save(session)
        log = Log(sessions.recorder, sessions.mapper)
        Runner(TraceText(), log, store).run(until_caught_up=True)
        session.finalize("user", "plank")
        sessions.save(session)
        Runner(TraceText(), log, store).run(until_caught_up=True)
        model = ReadModel(TraceText(), log, store)
        with model.reading() as build:
            hits = TextSearch(build.connection, log).search(Query("plank", limit=5))
            assert hits[0].position == session.version
        model.close()
