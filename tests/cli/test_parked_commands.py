"""Sessions that stand still: who says so, and what is read of them."""

import sqlite3

import pytest
from click.testing import CliRunner

from tapefold import Sessions
from tapefold.cli.commands import cli

WHERE = "WHERE originator_id = ? AND originator_version = ?"


@pytest.fixture
def damaged(store):
    """A store with two sessions; the third event of `one` cannot be read. Gives what mends it."""
    with Sessions(store) as sessions:
        for name in ("one", "two"):
            session = sessions.start(name, title=f"Session {name}")
            session.finalize("user", "How long is the left plank?")
            session.finalize("assistant", "118 cm.", model="m")
            sessions.save(session)
    return damage(store, "one", 3)


def damage(store, session_id, position):
    def put(state):
        with sqlite3.connect(store) as connection:
            connection.execute(
                f"UPDATE tapefold_events SET state = ? {WHERE}", (state, session_id, position)
            )
        connection.close()

    with sqlite3.connect(store) as connection:
        (state,) = connection.execute(
            f"SELECT state FROM tapefold_events {WHERE}", (session_id, position)
        ).fetchone()
    connection.close()
    put(b"{}")
    return lambda: put(state)


@pytest.fixture
def run_both(store):
    """Runs a command that has to end with `code`; answers both of its streams."""

    def invoke(*arguments, code):
        result = CliRunner().invoke(cli, list(arguments), env={"TAPEFOLD_DB": str(store)})
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_a_run_says_a_line_for_each_session_that_it_parks_and_once_ends_with_1(damaged, run_both):
    said = run_both("projections", "run", "effective_view", "--once", code=1).stderr.splitlines()
    assert len(said) == 3
    assert "running build 1 (process " in said[0]
    assert "effective_view: session one parked at 3 (tapefold.MessageFinalized): " in said[1]
    assert said[1].endswith("see `tapefold projections parked`")
    assert said[1].count("one") == 1
    assert said[2].endswith("ended; 1 parked session, see `tapefold projections parked`")
    again = run_both("projections", "run", "effective_view", "--once", code=1).stderr
    assert "session one parked" not in again
    damaged()
    assert "1 session" not in run_both("projections", "retry", code=0).stdout
    assert "parked" not in run_both("projections", "run", "effective_view", "--once", code=0).stderr


def test_of_many_sessions_that_are_parked_at_once_the_first_are_named(store, run_both):
    with Sessions(store) as sessions:
        for number in range(13):
            sessions.start(f"s{number}", persist=True)
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE tapefold_events SET state = x'00'")
    connection.close()
    said = run_both("projections", "run", "effective_view", "--once", code=1).stderr
    assert said.count(" parked at 1 ") == 10
    assert "3 more sessions parked" in said


def test_all_of_them_once_go_on_when_one_has_a_parked_session_and_end_with_1(program, damaged):
    done = program("projections", "run", "--once")
    assert done.returncode == 1
    said = done.stderr.decode()
    assert said.count(": ended") == 4
    assert said.count("session one parked at 3") == 4
    status = program("projections", "status").stdout.decode()
    assert "never built" not in status
    assert status.count("caught up") == 4


def test_a_session_that_is_parked_in_each_projection_is_told_once(damaged, program, run):
    program("projections", "run", "--once")
    lines = run("projections", "parked").splitlines()
    assert lines[0] == "session one, position 3 (tapefold.MessageFinalized)"
    assert lines[1].startswith("  UnreadableEvent: ")
    assert "one" not in lines[1]
    assert lines[2].startswith(
        "  in effective_view, branch_tree, trace_index, trace_text; tried 3 times, parked since "
    )
    assert len(lines) == 3


def test_a_parked_session_is_listed_and_retried(damaged, run, run_json, run_both):
    run_both("projections", "run", "effective_view", "--once", code=1)
    (one,) = run_json("projections", "parked")["parked"]
    assert (one["projection"], one["session_id"], one["position"]) == ("effective_view", "one", 3)
    status = run_both("projections", "status", "effective_view", code=1).stdout
    assert "1 parked session; see `tapefold projections parked effective_view`" in status
    run("projections", "retry", code=1)
    said = run_both("events", "check", code=1).stdout
    assert "session one, position 3 (tapefold.MessageFinalized): " in said
    assert said.count("position 3") == 1
    damaged()
    (done,) = run_json("projections", "retry", "--session", "one")["sessions"]
    assert (done["position"], done["parked"]) == (3, False)
    assert "no session is parked" in run("projections", "retry")
    assert "no session is parked" in run("projections", "parked")


def test_a_rebuild_that_stops_at_an_event_names_it_once(damaged, run):
    said = run("projections", "rebuild", "effective_view", code=1)
    assert said.count("\n") == 1
    assert "session 'one', position 3 (tapefold.MessageFinalized) cannot be applied: " in said
    assert said.count("position 3") == 1


def test_a_rebuild_stops_at_such_an_event_and_with_park_names_it_and_goes_live(damaged, run_both):
    run_both("projections", "run", "effective_view", "--once", code=1)
    refused = run_both("projections", "rebuild", "effective_view", code=1).stderr
    assert "rebuild effective_view --park" in refused
    said = run_both("projections", "rebuild", "effective_view", "--park", code=0).stdout
    assert "session one is parked at 3" in " ".join(said.split())
    assert "it is live now" in said
    damaged()
    run_both("projections", "retry", code=0)
    assert "parked" not in run_both("projections", "run", "effective_view", "--once", code=0).stderr
