"""sessions: the session index says what the tapes say, in the same order."""

import io
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold import Sessions
from tapefold.cli.indexed import indexed_sessions
from tapefold.cli.listed import COST, SORT_KEYS, Wanted
from tapefold.cli.listing import listed_sessions
from tapefold.cli.paper import Paper
from tapefold.cli.projected import projected
from tapefold.cli.sessiontable import print_sessions
from tapefold.domain.errors import InvalidValue
from tapefold.projections.branch_tree.index import SessionFilter, SessionIndex
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.log import Log
from tapefold.projections.registry import Registry
from tapefold.projections.runner import Runner
from tapefold.testing.scribbling import VERBS, scribble
from tapefold.testing.strategies import strokes

TIMES = (
    None,
    "2026-03-02T09:00:00Z",
    "2026-03-02T10:00:00+01:00",
    1_772_442_000,
    1_772_442_000_000,
    1_772_442_000.000_001,
    "2026-03-02T09:00:00.000001",
    "some day",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999998Z",
    "9999-12-31T23:59:59.999999Z",
)
WANTED = (
    *(Wanted(sort=sort) for sort in SORT_KEYS if sort != COST),
    Wanted(limit=2),
    Wanted(limit=2, offset=1),
    Wanted(sort="name", limit=1, offset=2),
    Wanted(since=datetime(2026, 3, 2, 9, tzinfo=UTC)),
    Wanted(since=datetime(2026, 3, 2, 9, 0, 0, 1, tzinfo=UTC), limit=3),
    Wanted(since=datetime(2026, 3, 2, 9, tzinfo=UTC), sort="messages"),
    Wanted(directory="d1"),
    Wanted(name="T2"),
    Wanted(name="u", limit=2),
    Wanted(text="v1"),
    Wanted(text="u2", limit=1, offset=1),
    Wanted(text="t", sort="size", limit=3),
)


FORKING = ("user", "assistant", "version", "result", *VERBS, "fork", "fork", "turn")


def project(sessions, path):
    log = Log(sessions.recorder, sessions.mapper)
    Runner(BranchTree(), log, path).run(until_caught_up=True)


def live_file(store):
    registry = Registry(store)
    live = registry.live("branch_tree")
    registry.close()
    return registry.path_of(live.name, live.number)


def record(sessions, tapes, times):
    """Record tapes event by event in turn, with times that are tied, odd, or none."""
    tapes = [list(tape.events) for tape in tapes]
    number = 0
    while any(tapes):
        for events in tapes:
            for event in events[:3]:
                event.head.timestamp = times[number % len(times)]
                number += 1
            sessions.recorder.insert_events(
                [sessions.mapper.to_stored_event(event) for event in events[:3]]
            )
            del events[:3]


@settings(max_examples=6, deadline=None)
@given(
    st.lists(strokes(*FORKING, max_size=20), min_size=1, max_size=4),
    st.lists(st.sampled_from(TIMES), min_size=1, max_size=12),
    st.lists(st.sampled_from(WANTED), min_size=5, max_size=5),
)
def test_the_index_and_the_tapes_list_the_same(tmp_path_factory, many, times, wishes):
    path = tmp_path_factory.mktemp("index") / "s.db"
    tapes = [tape for number, some in enumerate(many) for tape in scribble(some, f"s{number}-")]
    with Sessions(path) as sessions:
        record(sessions, tapes, times)
        with projected(sessions, BranchTree()) as read:
            for wanted in (Wanted(), *wishes):
                left, out = [], []
                slow = list(listed_sessions(sessions, wanted, left))
                found = indexed_sessions(read, sessions, wanted, out)
                assert [replace(one, spent=None) for one in found] == slow, wanted
                assert sorted(out) == sorted(left)


# -- through the command --------------------------------------------------------------------------


def ids(shape):
    return [one["session_id"] for one in shape["sessions"]]


@pytest.fixture
def garden(sessions, store):
    """Four sessions of known content, projected; the last event of each is a minute later."""
    for n, (name, words, cost) in enumerate(
        [("beds", "Rake the beds", 0.25), ("pond", "Dig a pond", 3.5), ("hedge", "Cut it", None)]
    ):
        s = sessions.start(
            name,
            title=name.title() if cost else None,
            directory=f"/garden/{name}",
            timestamp=f"2026-03-02T09:0{n}:00Z",
        )
        s.finalize("user", words, timestamp=f"2026-03-02T09:0{n}:00Z")
        usage = {"input": 1_000 * n, "output": 20, "cost": {"total": cost}} if cost else None
        s.finalize(
            "assistant",
            "Done. " * (3 - n),
            model=f"m-{n}",
            provider="p",
            usage=usage,
            timestamp=f"2026-03-02T09:0{n}:30Z",
        )
        sessions.save(s)
    sessions.fork("pond", child_id="pond-2", title="apart", timestamp="2026-03-02T10:00:00Z")
    project(sessions, store)
    return sessions


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("newest", ["pond-2", "pond", "hedge", "beds"]),
        ("name", ["pond-2", "beds", "hedge", "pond"]),
        ("created", ["pond-2", "hedge", "pond", "beds"]),
        ("messages", ["pond", "hedge", "beds", "pond-2"]),
        ("cost", ["pond", "beds", "pond-2", "hedge"]),
    ],
)
def test_a_list_is_sorted_as_it_is_asked_for(garden, run_json, sort, order):
    assert ids(run_json("sessions", "--sort", sort)) == order
    assert ids(run_json("sessions", "--sort", sort, "--limit", "2")) == order[:2]
    assert ids(run_json("sessions", "--sort", sort, "--limit", "2", "--offset", "1")) == order[1:3]
    assert ids(run_json("sessions", "--sort", sort, "--offset", "4")) == []


def test_a_name_is_looked_for_in_titles_and_else_in_first_words(garden, run_json, run):
    assert ids(run_json("sessions", "--name", "POND")) == ["pond"]
    assert ids(run_json("sessions", "--name", "cut")) == ["hedge"]
    assert ids(run_json("sessions", "--name", "rake")) == []
    assert "empty" in run("sessions", "--name", "", code=2)


def test_text_directory_and_time_are_filtered_as_without_the_index(garden, run_json):
    assert ids(run_json("sessions", "--dir", "/garden/pond")) == ["pond-2", "pond"]
    assert ids(run_json("sessions", "--since", "2026-03-02T09:02:00Z")) == [
        "pond-2",
        "pond",
        "hedge",
    ]
    assert ids(run_json("sessions", "--grep", "RAKE")) == ["beds"]
    found = run_json("sessions", "--grep", "done.", "--limit", "2", "--offset", "1")["sessions"]
    assert [(one["session_id"], one["match"]["position"]) for one in found] == [
        ("hedge", 3),
        ("beds", 3),
    ]


def test_the_index_knows_tokens_and_costs_and_the_tapes_do_not(garden, run_json, store, program):
    by_id = {one["session_id"]: one for one in run_json("sessions")["sessions"]}
    assert by_id["pond"]["tokens"] == {
        "input": 1000,
        "output": 20,
        "cache_read": 0,
        "cache_write": 0,
    }
    assert by_id["pond"]["cost"] == 3.5
    assert by_id["pond-2"]["cost"] == 0
    wide = program("sessions", env={"COLUMNS": "160"}).stdout.decode()
    assert "TOKENS" in wide
    (pond,) = (line for line in wide.splitlines() if line.startswith("pond "))
    assert pond.split()[6:9] == ["m-1", "1.0k", "3.50"]
    shutil.rmtree(f"{store}.projections")
    assert all(one["cost"] is None for one in run_json("sessions")["sessions"])
    assert b"TOKENS" not in program("sessions", env={"COLUMNS": "160"}).stdout


def test_a_list_catches_up_before_it_answers(garden, run_json):
    garden.execute("beds", lambda s: s.finalize("user", "Now", timestamp="2026-03-02T12:00:00Z"))
    listed = run_json("sessions")["sessions"]
    assert (listed[0]["session_id"], listed[0]["messages"], listed[0]["cost"]) == ("beds", 3, 0.25)


def test_a_list_by_cost_builds_the_index(sessions, run_json, store):
    s = sessions.start("s")
    s.finalize("user", "hi")
    sessions.save(s)
    assert run_json("sessions", "--sort", "cost")["sessions"][0]["cost"] == 0
    assert Registry(store).find_live("branch_tree") is not None


@pytest.fixture
def damaged(garden):
    """The garden, with an event that cannot be read at position 4 of `beds`, and one behind it."""
    for name in ("beds", "hedge", "beds"):
        garden.execute(name, lambda s: s.finalize("user", "More", timestamp="2026-03-02T09:01:10Z"))
    with garden.recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute(
            "UPDATE tapefold_events SET state = x'00' WHERE originator_id = 'beds' "
            "AND originator_version = 4"
        )
    return garden


def test_a_session_that_is_parked_is_listed_as_it_was_before_and_says_so(damaged, run_json, run):
    shape = run_json("sessions")["sessions"]
    beds = {one["session_id"]: one for one in shape}["beds"]
    assert (beds["title"], beds["messages"], beds["position"]) == ("Beds", 2, 3)
    assert (beds["problem"], beds["parked"]["position"]) == (None, 4)
    assert "it does not begin as a stored event does" in beds["parked"]["error"]
    assert "'beds'" not in beds["parked"]["error"]
    assert [one["session_id"] for one in shape if one["parked"]] == ["beds"]
    (line,) = (line for line in run("sessions").splitlines() if line.startswith("beds "))
    assert "(parked at 4) Beds" in line
    assert line.split()[1] == "2"


def test_filters_orders_and_pages_hold_for_a_session_that_is_parked(damaged, run_json):
    assert ids(run_json("sessions", "--name", "bed")) == ["beds"]
    assert ids(run_json("sessions", "--dir", "/garden/beds")) == ["beds"]
    assert ids(run_json("sessions", "--grep", "done. done. done.")) == ["beds"]
    assert "beds" not in ids(run_json("sessions", "--grep", "more"))
    assert ids(run_json("sessions", "--sort", "name")) == ["pond-2", "beds", "hedge", "pond"]
    assert ids(run_json("sessions", "--sort", "name", "--offset", "1", "--limit", "1")) == ["beds"]
    assert ids(run_json("sessions", "--since", "2026-03-02T09:02:00Z"))[-1] != "beds"


def test_the_mark_of_a_parked_session_is_never_wider_than_the_terminal(damaged, run):
    with projected(damaged, BranchTree()) as read:
        listed = list(indexed_sessions(read, damaged, Wanted(), []))
    for width in (20, 40, 69, 70, 80, 120, 160):
        paper, stream = Paper(io.StringIO()), None
        paper.width, stream = width, paper.stream
        print_sessions(paper, listed)
        lines = stream.getvalue().splitlines()
        assert all(len(line) <= width for line in lines)
        assert any("(parked at 4)" in line for line in lines) or width == 70


def test_one_that_is_parked_at_its_first_event_is_listed_with_its_problem(garden, run_json, run):
    garden.start("wall", title="A wall", persist=True)
    with garden.recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute("UPDATE tapefold_events SET state = x'00' WHERE originator_id = 'wall'")
    wall = {one["session_id"]: one for one in run_json("sessions")["sessions"]}["wall"]
    assert "it does not begin" in wall["problem"]
    assert (wall["title"], wall["messages"]) == (None, 0)
    (line,) = (line for line in run("sessions").splitlines() if line.startswith("wall "))
    assert "(unreadable: session 'wall', position 1" in line
    assert "CIPHER" not in line


@pytest.mark.parametrize("command", ["view", "tree", "context"])
def test_what_lies_before_an_unreadable_event_is_read_with_the_command_of_the_error(
    damaged, run, command
):
    error = run(command, "beds", code=1)
    assert error.count("\n") == 1
    assert "`tapefold view beds --at 3`" in error
    assert "Rake the beds" in run(command, "beds", "--at", "3")


def test_a_list_of_the_last_sessions_is_one_walk_along_an_index(garden, store):
    with closing(sqlite3.connect(live_file(store))) as connection:
        index = SessionIndex(connection)
        asked = []
        connection.set_trace_callback(asked.append)
        assert [one.session_id for one in index.page(limit=2)] == ["pond-2", "pond"]
        (statement,) = asked
        plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    assert [row[3] for row in plan] == ["SCAN bt_sessions USING INDEX bt_sessions_newest"]


def test_pages_of_the_index_are_counted_and_filtered(garden, store):
    with closing(sqlite3.connect(live_file(store))) as connection:
        index = SessionIndex(connection)
        assert index.count() == 4
        assert index.directories() == ["/garden/beds", "/garden/hedge", "/garden/pond"]
        forks = SessionFilter(parent="pond")
        assert [one.session_id for one in index.page(forks)] == ["pond-2"]
        assert index.count(SessionFilter(directories=[])) == 0
        connection.execute(
            "UPDATE bt_sessions SET directory = ? WHERE session_id = 'pond'", ("/a\0b",)
        )
        for wanted, many in ((["/a\0b"], 1), (["/a\0b", "/garden/beds"], 2), (["/a"], 0)):
            assert index.count(SessionFilter(directories=wanted)) == many
        assert index.count(SessionFilter(without=["pond", "\0"])) == 3
        connection.rollback()
        pond = index.get("pond")
        assert (pond.title, pond.model, pond.tokens.cost, pond.forks) == ("Pond", "m-1", 3.5, 1)
        assert index.get("nowhere") is None
        with pytest.raises(InvalidValue, match="no order of sessions"):
            index.page(sort="luck")
