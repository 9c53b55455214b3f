"""Which texts are searched, and how they are shown."""

from __future__ import annotations

import sqlite3

import pytest

from tapefold import Sessions
from tapefold.projections.log import Log
from tapefold.projections.runner import Runner
from tapefold.projections.trace_text import projection as projection_module
from tapefold.projections.trace_text.pieces import flat
from tapefold.projections.trace_text.projection import NoFullText, TraceText
from tapefold.projections.trace_text.searching import Query, TextSearch
from tapefold.testing import Tape


@pytest.fixture
def tape():
    return Tape("s")


@pytest.fixture
def find(tape):
    """Searches the tape; answers what was found, as (kind, number of the event after the first,
    which begins the session)."""

    def search(text: str, mode: str = "literal", **how):
        with Sessions("memory:") as sessions:
            sessions.recorder.insert_events(
                [sessions.mapper.to_stored_event(event) for event in tape.events]
            )
            log = Log(sessions.recorder, sessions.mapper)
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.execute("CREATE TABLE tapefold_positions (session_id, position)")
            for table in TraceText.TABLES:
                for statement in table.statements():
                    connection.execute(statement)
            fold = TraceText().open(log, "s", 0)
            for row in log.tape("s", 0, 1 << 60):
                fold.apply(log.event(row))
            fold.flush(connection)
            hits = TextSearch(connection, log).search(Query(text, mode, **how))
            return [(hit.kind, hit.position - 1) for hit in hits]

    return search


def test_calls_results_reasoning_summaries_and_custom_state_are_found(tape, find):
    blocks = [
        {"type": "thinking", "thinking": "a needle of thought"},
        {"type": "text", "text": "a needle said"},
        {"type": "tool_call", "call_id": "c", "name": "sew", "arguments": {"with": 'a "needle"'}},
    ]
    owner = tape.message("assistant", blocks, status="sent")
    tape.result("c", "needle found", owner)
    tape.compact("the needle so far")
    tape.branch_summary(None, "a needle elsewhere")
    tape.custom("sewing", {"tool": ["needle"]})
    assert {kind for kind, _ in find("needle")} == {
        "message", "thinking", "call", "result", "summary", "branch_summary", "custom",
    }  # fmt: skip
    assert find('"needle"') == [("call", 1)]
    assert find("needle", kinds=("call",)) == [("call", 1)]


def test_facts_of_calls_are_found_while_their_message_stands(tape, find):
    owner = tape.assistant("asks", status="sent")
    tape.call_fact(owner, "c", name="dig", arguments={"where": "under the oak"})
    tape.result_fact(owner, "c", "a chest of gold")
    assert find("oak") == [("call", 2)]
    assert find("chest") == [("result", 3)]
    tape.retract(owner)
    assert find("oak") == find("chest") == []


def test_what_was_revised_or_struck_is_found_no_more_and_a_draft_is(tape, find):
    first = tape.user("apples")
    tape.version(first, "pears")
    tape.assistant("plums", status="pending")
    assert find("apples") == []
    assert find("pears") == [("message", 2)]
    assert find("plums") == [("message", 3)]
    tape.retract(first)
    assert find("pears") == []


def test_nothing_in_a_query_has_a_meaning_of_its_own(tape, find):
    tape.user("100% of it_all NEAR(the end) AND more*")
    tape.user("100 of itXall")
    assert find("%") == [("message", 1)]
    assert find("it_all") == [("message", 1)]
    assert find("100%", "words") == [("message", 2), ("message", 1)]
    assert find("NEAR(the", "words") == [("message", 1)]
    assert find("more* AND", "words") == [("message", 1)]
    assert find("", "both") == find(" \n", "both") == find("*", "words") == []


def test_one_and_two_characters_are_found_anywhere_whatever_their_case(tape, find):
    tape.user("Straße nach ÖLBERG")
    assert find("ö") == find("lb") == find("SS") == find("ße n") == [("message", 1)]


def test_times_and_limits_bound_what_is_found(tape, find):
    for day in range(1, 6):
        tape.user(f"day {day}", timestamp=f"2026-03-0{day}T00:00:00Z")
    tape.user("day of no time", timestamp="whenever")
    third = 1772496000.0  # 2026-03-03
    assert [p for _, p in find("day", since=third)] == [5, 4, 3]
    assert [p for _, p in find("day", until=third)] == [3, 2, 1]
    assert [p for _, p in find("day", limit=0)] == [5]
    assert [p for _, p in find("day", limit=1_000)] == [5, 4, 3, 2, 1, 6]


def test_arguments_are_searched_as_they_were_meant_and_not_as_json():
    value = {"path": 'a\\b "c"', "deep": {"list": [1, True, None, "é\n"]}}
    assert flat(value) == 'path: a\\b "c"\ndeep:\nlist: 1\nlist: true\nlist: null\nlist: é\n'
    deep: object = "x"
    for _ in range(50_000):
        deep = [deep]
    assert flat(deep) == "x"


def test_a_sqlite_without_full_text_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(projection_module, "has_fts5", lambda: False)
    path = tmp_path / "s.db"
    with Sessions(path) as sessions:
        log = Log(sessions.recorder, sessions.mapper)
        with pytest.raises(NoFullText, match="no FTS5"):
            Runner(TraceText(), log, path).run(until_caught_up=True)
