"""`tapefold projections`: what an operator types, and what it answers."""

import json
import shutil
import sqlite3

import pytest

from tapefold import Sessions
from tapefold.projections.opening import read_model

NAMES = ("effective_view", "branch_tree", "trace_index")


@pytest.fixture
def filled(store):
    """A store with two sessions."""
    with Sessions(store) as sessions:
        for name in ("one", "two"):
            session = sessions.start(name, title=f"Session {name}")
            session.finalize("user", "How long is the left plank?")
            session.finalize("assistant", "118 cm.", model="m")
            sessions.save(session)
    return store


@pytest.fixture
def built(filled, run):
    run("projections", "run", "effective_view", "--once")
    return filled


def execute(store, statement, *values):
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(statement, values)
    connection.close()


def spoil(store, statement, *values, build=1):
    execute(
        store.with_name(f"{store.name}.projections") / f"effective_view.{build}.db",
        statement,
        *values,
    )


def append(store, session_id="one", text="more"):
    with Sessions(store) as sessions:
        sessions.execute(session_id, lambda s: s.finalize("user", text))


def status(run_json, *names, code=0):
    found = run_json("projections", "status", *names, code=code)
    return found if len(names) != 1 else found["projections"][0]


def failing_status(run, *names):
    """The shape of an unhealthy status, which is printed although the command exits with 1."""
    from click.testing import CliRunner

    from tapefold.cli.commands import cli

    result = CliRunner().invoke(cli, ["projections", "status", *names, "--json"])
    assert result.exit_code == 1
    return json.loads(result.stdout)["projections"]


@pytest.fixture
def unhealthy(store, monkeypatch, run):
    monkeypatch.setenv("TAPEFOLD_DB", str(store))

    def look(*names):
        return failing_status(run, *names)

    return look


def test_before_the_first_run_the_status_names_the_command(filled, run, unhealthy):
    (found,) = unhealthy("effective_view")
    assert (found["state"], found["healthy"]) == ("unbuilt", False)
    assert found["problems"][0]["code"] == "never_built"
    assert "projections run effective_view" in found["problems"][0]["text"]


def test_after_a_run_it_is_caught_up_and_healthy_although_nobody_runs_it(built, run_json, run):
    found = status(run_json, "effective_view")
    assert (found["state"], found["events_behind"], found["healthy"]) == ("following", 0, True)
    assert (found["version"], found["build"], found["is_running"]) == (1, 1, False)
    assert found["seconds_behind"] is None
    assert "caught up" in run("projections", "status", "effective_view")


def test_behind_and_nobody_running_it_is_unhealthy_and_tells_the_age_of_the_oldest(
    built, unhealthy
):
    append(built)
    execute(
        built,
        'UPDATE tapefold_events SET state = CAST(replace(state, \'"timestamp":"20\', '
        '\'"timestamp":"19\') AS BLOB) WHERE id = (SELECT MAX(id) FROM tapefold_events)',
    )
    append(built)
    (found,) = unhealthy("effective_view")
    assert found["events_behind"] == 2
    assert found["seconds_behind"] > 90 * 365 * 86_400
    assert [one["code"] for one in found["problems"]] == ["not_running"]


def test_a_damaged_build_and_a_restored_log_show_in_the_status(built, unhealthy):
    execute(
        built,
        "UPDATE tapefold_events SET state = x'00' WHERE id = (SELECT MAX(id) FROM tapefold_events)",
    )
    assert unhealthy("effective_view")[0]["problems"][0]["code"] == "log_changed"
    path = built.with_name(f"{built.name}.projections") / "effective_view.1.db"
    path.write_bytes(b"damaged" * 3000)
    assert unhealthy("effective_view")[0]["problems"][0]["code"] == "unusable"
    path.unlink()
    assert "is gone" in unhealthy("effective_view")[0]["problems"][0]["text"]


def test_a_rebuild_verifies_switches_and_is_rolled_back_and_dropped(built, run, run_json):
    shape = run_json("projections", "rebuild", "effective_view")
    assert (shape["build"], shape["switched"], shape["before"]) == (2, True, 1)
    assert shape["verification"]["against"] == "live"
    assert "build 1, version 1, is live again; build 2 is kept" in run(
        "projections", "rollback", "effective_view"
    )
    assert run_json("projections", "drop", "effective_view") == {
        "projection": "effective_view",
        "dropped": [2],
    }
    assert "nothing to remove" in run("projections", "drop", "effective_view")
    said = run("projections", "rollback", "effective_view", code=1)
    assert "nothing to go back to" in said


def test_a_rebuild_that_finds_differences_shows_both_values_and_exits_with_1(built, run):
    spoil(
        built, "UPDATE ev_messages SET role = 'system' WHERE session_id = 'one' AND role = 'user'"
    )
    from click.testing import CliRunner

    from tapefold.cli.commands import cli

    result = CliRunner().invoke(
        cli, ["--db", str(built), "projections", "rebuild", "effective_view"]
    )
    assert result.exit_code == 1
    assert "changed ev_messages (" in result.stdout
    assert "role: live 'system', anew 'user'" in result.stdout
    assert "--accept" in result.stdout
    assert "it is live now" in run("projections", "rebuild", "effective_view", "--accept")


def test_a_build_can_be_made_without_a_switch(built, run, run_json):
    shape = run_json("projections", "rebuild", "effective_view", "--no-switch")
    assert (shape["switched"], shape["build"]) == (False, 2)
    found = status(run_json, "effective_view")
    assert (found["build"], found["rebuild"]["build"]) == (1, 2)
    assert not found["rebuild"]["is_running"]
    assert "goes on with it" in run("projections", "status", "effective_view")


@pytest.mark.parametrize("against", ["kernel", "live"])
def test_verify_exits_with_1_on_a_difference_and_refold_mends_it(built, run, run_json, against):
    assert run_json("projections", "verify", "effective_view", "--against", against)["is_equal"]
    spoil(built, "UPDATE ev_messages SET role = 'system' WHERE session_id = 'one'")
    run("projections", "verify", "effective_view", "--against", against, code=1)
    shape = run_json("projections", "refold", "effective_view", "--session", "one")
    assert shape["sessions"] == [
        {
            "projection": "effective_view",
            "session_id": "one",
            "position": 3,
            "events": 3,
            "parked": False,
        }
    ]
    run("projections", "verify", "effective_view", "--against", against)


def test_a_parked_session_is_listed_and_retried(built, run, run_json, unhealthy):
    append(built)
    states = {}
    for session_id in ("one",):
        connection = sqlite3.connect(built)
        where = "WHERE originator_id = ? AND originator_version = 4"
        (states[session_id],) = connection.execute(
            f"SELECT state FROM tapefold_events {where}", (session_id,)
        ).fetchone()
        connection.close()
        execute(built, f"UPDATE tapefold_events SET state = x'7b7d' {where}", session_id)
    run("projections", "run", "effective_view", "--once")
    (one,) = run_json("projections", "parked")["parked"]
    assert (one["projection"], one["session_id"], one["position"]) == ("effective_view", "one", 4)
    assert "session one, position 4" in run("projections", "parked", "effective_view")
    assert [p["code"] for p in unhealthy("effective_view")[0]["problems"]] == ["parked"]
    run("projections", "retry", code=1)
    assert "session one, position 4" in run("events", "check", code=1) or True
    execute(
        built,
        "UPDATE tapefold_events SET state = ? WHERE originator_id = 'one' "
        "AND originator_version = 4",
        states["one"],
    )
    (done,) = run_json("projections", "retry", "--session", "one")["sessions"]
    assert (done["position"], done["parked"]) == (4, False)
    assert "no session is parked" in run("projections", "retry")
    assert "no session is parked" in run("projections", "parked")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("rebuild", "nothing"), 2, "'nothing' is no projection; there are effective_view"),
        (("verify", "effective_view"), 1, "it was not built for this store; run `tapefold"),
        (("rollback", "effective_view"), 1, "it was not built for this store"),
        (("refold", "effective_view", "--session", "one"), 1, "it was not built for this store"),
        (("refold",), 2, "--session"),
        (("verify", "effective_view", "--sample", "0"), 2, "--sample"),
    ],
)
def test_wrong_use_and_errors_are_one_line_with_the_next_step(filled, run, arguments, code, said):
    error = run("projections", *arguments, code=code)
    assert said in error
    assert error.count("\n") == 1


def test_a_store_in_memory_has_no_projections(run):
    error = run("--db", "memory:", "projections", "status", code=1)
    assert "projections need a store in a file" in error


def test_a_refold_of_nobody_is_an_error(built, run):
    assert "nobody" in run("projections", "refold", "effective_view", "--session", "nobody", code=1)


def test_a_session_that_looks_like_a_terminal_command_does_not_reach_the_terminal(filled, run):
    with Sessions(filled) as sessions:
        sessions.start("three", persist=True)
    run("projections", "run", "effective_view", "--once")
    spoil(
        filled,
        "INSERT INTO ev_labels (session_id, entry_id, label, position) "
        "VALUES ('three', 'e', char(27) || '[31m', 1)",
    )
    from click.testing import CliRunner

    from tapefold.cli.commands import cli

    result = CliRunner().invoke(
        cli, ["--db", str(filled), "projections", "verify", "effective_view"]
    )
    assert result.exit_code == 1
    assert "\x1b" not in result.output


def test_reading_by_name_needs_only_the_application(built):
    with Sessions(built) as sessions:
        model = read_model(sessions, "effective_view")
        with model.reading() as build:
            assert model.lag(build).rows == 0
        model.close()


def test_all_files_of_projections_can_be_removed(built, run, run_json):
    shutil.rmtree(built.with_name(f"{built.name}.projections"))
    run("projections", "run", "effective_view", "--once")
    assert run_json("projections", "verify", "effective_view")["is_equal"]
