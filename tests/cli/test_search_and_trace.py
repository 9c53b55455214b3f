"""`search` and `trace`: what a person and a program are told, and how far it can be trusted."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

import pytest

from tapefold import SessionNotFound, Sessions, build_context, build_view
from tapefold.cli.projected import projected
from tapefold.projections.registry import Registry
from tapefold.projections.running_lock import RunningLock
from tapefold.projections.trace_text.projection import TraceText
from tapefold.testing import Tape


def write(store, *tapes):
    with Sessions(store) as sessions:
        for tape in tapes:
            known = 0
            with suppress(SessionNotFound):
                known = sessions.state(tape.session_id).position
            stored = [sessions.mapper.to_stored_event(e) for e in tape.events[known:]]
            sessions.recorder.insert_events(stored)


@pytest.fixture
def garden():
    tape = Tape("garden")
    tape.user("How much water do tomatoes need?", timestamp="2026-03-01T09:00:00Z")
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_call", "call_id": "c1", "name": "look_up", "arguments": {"plant": "tomato"}},
    ]
    owner = tape.message(
        "assistant", blocks, call_ids=("c1",), status="sent", timestamp="2026-03-01T09:00:01Z"
    )
    tape.result("c1", "two litres\x1b[31m a day", owner, timestamp="2026-03-01T09:00:03.500Z")
    return tape


def traced(tape):
    """The tape with a request as the context gives it, and two attempts."""
    manifest = build_context(build_view(tape.state(), tape.tapes)).manifest
    tape.context_assembled(manifest, request_id="q1", timestamp="2026-03-01T09:00:04Z")
    tape.model_call(request_id="q1", attempt=1, status="error", error="over\nloaded", model="m")
    tape.model_call(
        request_id="q1", attempt=2, status="success", model="m", provider="p", latency_ms=1200.0,
        usage={"input": 90, "output": 10}, cost=0.25,
    )  # fmt: skip
    return tape


def test_the_first_search_builds_its_index_and_later_ones_see_what_was_appended(
    run_json, store, garden
):
    write(store, garden)
    found = run_json("search", "TOMATO", "--literal")
    assert [(hit["kind"], hit["position"]) for hit in found["hits"]] == [
        ("call", 3),
        ("message", 2),
    ]
    garden.user("Thank you, tomato friend", timestamp="2026-03-02T09:00:00Z")
    write(store, garden)
    assert [hit["position"] for hit in run_json("search", "tomato", "--words")["hits"]] == [5, 3]


def test_no_control_character_of_a_text_reaches_the_terminal(run, store, garden):
    write(store, garden)
    said = run("search", "litres")
    assert "two litres\\x1b[31m a day" in said
    assert "\x1b" not in said


def test_a_fork_is_searched_with_what_it_inherits_as_it_stood_then(run_json, store, garden):
    child = garden.fork("child")
    first = garden.events[1].head.message_id
    garden.version(first, "How much light do tomatoes need?")
    child.user("And basil?")
    write(store, garden, child)
    found = run_json("search", "much water", "--session", "child")["hits"]
    assert [(hit["session_id"], hit["position"]) for hit in found] == [("garden", 2)]
    assert run_json("search", "much water")["hits"] == []
    child.retract(first)
    write(store, child)
    assert run_json("search", "much water", "--session", "child")["hits"] == []


def test_a_blank_query_finds_nothing_and_a_wrong_kind_is_wrong_use(run, store, garden):
    write(store, garden)
    assert run("search", " ") == "nothing was found\n"
    assert "is not one of" in run("search", "x", "--kind", "poem", code=2)


def test_a_search_that_is_behind_says_so_on_standard_error(program, store, garden):
    """Another process holds the projection and does not move: two seconds are waited."""
    write(store, garden)
    program("search", "tomato")
    garden.user("unseen tomato")
    write(store, garden)
    registry = Registry(store)
    lock = RunningLock("trace_text", registry.path_of("trace_text", 1))
    lock.acquire(wait=False)
    try:
        done = program("search", "tomato")
    finally:
        lock.release()
        registry.close()
    assert done.returncode == 0
    assert b"unseen" not in done.stdout
    assert b"trace_text is 1 event behind" in done.stderr
    assert b"projections run" not in done.stderr  # it is run already


class Growing(TraceText):
    """Whenever it has reached the end of the log, one more event is appended, as under load."""

    sessions: Sessions

    def settle(self, connection):
        super().settle(connection)
        self.sessions.execute("load", lambda s: s.finalize("user", "more"))


def test_what_is_appended_while_a_search_is_made_ready_is_no_reason_to_warn(store, garden, capsys):
    write(store, garden)
    with Sessions(store) as sessions, Sessions(store) as writing:
        writing.start("load", persist=True)
        projection = Growing()
        projection.sessions = writing
        with projected(sessions, projection) as read:
            assert read.lag.rows == 1
    assert capsys.readouterr().err == ""


def test_a_session_that_stands_still_is_named(run, program, store, garden):
    write(store, garden)
    run("search", "tomato")
    registry = Registry(store)
    connection = sqlite3.connect(registry.path_of("trace_text", 1))
    connection.execute(
        "INSERT INTO tapefold_parked VALUES ('garden', 3, 3, 't', 'k', 'e', 3, 'now')"
    )
    connection.commit()
    connection.close()
    registry.close()
    done = program("search", "tomato", "--session", "garden")
    assert done.returncode == 0
    assert b"is read up to position 2: position 3 cannot be applied" in done.stderr


def test_a_trace_shows_requests_with_their_attempts_and_the_calls(run, run_json, store, garden):
    write(store, traced(garden))
    said = run("trace", "garden")
    assert "q1" in said
    assert "over loaded" in said
    assert "look_up" in said
    assert "2.5 s" in said
    trace = run_json("trace", "garden")
    (request,) = trace["requests"]
    assert (request["included"], request["excluded"], request["problem"]) == (3, 0, None)
    assert [one["status"] for one in request["attempts"]] == ["error", "success"]
    assert request["attempts"][1]["cost"] == 0.25
    (call,) = trace["calls"]
    assert (call["name"], call["status"], call["duration_ms"]) == ("look_up", "success", 2500.0)


def test_a_trace_tells_the_day_at_the_first_time_and_where_it_changes(run, store, garden):
    traced(garden)
    for number, moment in ((2, "2026-03-01T10:00:00Z"), (3, "2026-03-02T00:00:01Z")):
        manifest = build_context(build_view(garden.state(), garden.tapes)).manifest
        garden.context_assembled(manifest, request_id=f"q{number}", timestamp=moment)
    write(store, garden)
    times = [
        line.split(" #")[0].split(" ", 1)[1].strip()
        for line in run("trace", "garden").splitlines()
        if ":0" in line
    ]
    requests = ["2026-03-01 09:00:04", "10:00:00", "2026-03-02 00:00:01"]
    assert times == [*requests, "2026-03-01 09:00:01"]
    uses = run("trace", "garden", "--entry", "2").splitlines()
    assert [line.split(" garden")[0].split(" ", 1)[1] for line in uses] == requests
    assert " 2026-03-01 10:00:00 " in run("trace", "garden", "q2")


def test_a_request_shows_what_it_contained_and_what_it_left_out(run, run_json, store, garden):
    garden.compact("all about water")
    write(store, traced(garden))
    shape = run_json("trace", "garden", "q1")
    assert [one["kind"] for one in shape["included"]] == ["summary"]
    assert {one["reason"] for one in shape["excluded"]} == {"before_boundary"}
    said = run("trace", "garden", "#6")
    assert "all about water" in said
    assert "before boundary" in said
    assert "no request 'q9'" in run("trace", "garden", "q9", code=1)


def test_an_entry_shows_the_requests_that_contained_it_those_of_forks_too(
    run, run_json, store, garden
):
    child = garden.fork("child")
    write(store, traced(garden), traced(child))
    for session in ("garden", "child"):
        shape = run_json("trace", session, "--entry", garden.events[1].head.entry_id)
        assert shape["session_id"] == "garden"
        assert [one["session_id"] for one in shape["requests"]] == ["child", "garden"]
    assert "contained it" in run("trace", "garden", "--entry", "2")


def test_requests_of_an_entry_are_said_to_lack_those_of_a_session_that_stands_still(
    run, program, store, garden
):
    child = garden.fork("child")
    write(store, traced(garden), traced(child))
    entry = garden.events[1].head.entry_id
    with sqlite3.connect(store) as connection:
        connection.execute(
            "UPDATE tapefold_events SET state = x'3f' WHERE originator_id = 'child' "
            "AND originator_version = 2"
        )
    connection.close()
    done = program("trace", "garden", "--entry", entry)
    assert (done.returncode, b"child" in done.stdout) == (0, False)
    assert b"1 session cannot be read to the end; see `tapefold projections parked`" in done.stderr
    assert b"parked" not in program("trace", "garden").stderr


def test_why_there_can_be_no_index_is_said(run, store, garden):
    write(store, garden)
    store.with_name(f"{store.name}.projections").write_text("in the way")
    for command in (("search", "tomato"), ("trace", "garden")):
        error = run(*command, code=1)
        assert ".projections cannot be used" in error
        assert "was not built" not in error
        assert error.count("\n") == 1


def test_a_manifest_of_any_json_is_shown_with_what_could_not_be_read(run, store):
    tape = Tape("odd")
    for manifest in (None, 7, [1], {"included": {"a": 1}, "excluded": [3, {"entry_id": 9}]}):
        tape.context_assembled(manifest, request_id="x\x1b")
    write(store, tape)
    said = run("trace", "odd")
    assert "the manifest is no object" in said
    assert "included is no list; 1 of excluded are no objects" in said
    assert "\x1b" not in said


def test_a_store_in_memory_has_no_projections(run):
    assert "store in a file" in run("--db", "memory:", "search", "x", code=1)
