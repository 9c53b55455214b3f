"""`tapefold projections`: what an operator types, and what it answers."""

import json
import re
import shutil
import sqlite3

import pytest
from click.testing import CliRunner

from tapefold import Sessions
from tapefold.cli.commands import cli
from tapefold.cli.moments import age_text
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


@pytest.fixture
def run_both(store):
    """Runs a command that has to end with `code`; answers both of its streams."""

    def invoke(*arguments, code):
        result = CliRunner().invoke(cli, list(arguments), env={"TAPEFOLD_DB": str(store)})
        assert result.exit_code == code, result.output
        return result

    return invoke


def status(run_json, *names, code=0):
    found = run_json("projections", "status", *names, code=code)
    return found if len(names) != 1 else found["projections"][0]


def failing_status(run, *names):
    """The shape of an unhealthy status, which is printed although the command exits with 1."""
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
    built, unhealthy, run_both
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
    said = run_both("projections", "status", "effective_view", code=1).stdout
    assert re.search(r"2 behind, the oldest 3\d,\d{3} days old", said)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (119.9, "119.9 s"),
        (120.0, "2 minutes"),
        (7_199.0, "119 minutes"),
        (7_200.0, "2 hours"),
        (172_799.0, "47 hours"),
        (3_837_927.1, "44 days"),
    ],
)
def test_a_large_age_is_told_in_minutes_hours_or_days(seconds, said):
    assert age_text(seconds) == said


def test_a_store_that_is_not_there_yet_is_a_problem_of_each_projection_in_json(store, unhealthy):
    (found,) = unhealthy("branch_tree")
    assert (found["projection"], found["state"], found["is_running"]) == (
        "branch_tree", "unbuilt", False,
    )  # fmt: skip
    assert [one["code"] for one in found["problems"]] == ["no_store"]
    assert "there is no store yet" in found["problems"][0]["text"]
    assert len(unhealthy()) == 4
    assert not store.exists()


def test_a_damaged_build_and_a_restored_log_show_in_the_status(built, unhealthy, run_both):
    execute(
        built,
        "UPDATE tapefold_events SET state = x'00' WHERE id = (SELECT MAX(id) FROM tapefold_events)",
    )
    assert unhealthy("effective_view")[0]["problems"][0]["code"] == "log_changed"
    said = run_both("projections", "status", "effective_view", code=1).stdout
    assert "at id 6, of a log that is another one now" in said
    assert "caught up" not in said
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
    said = run("projections", "status", "effective_view")
    assert "filled beside the live one, not live" in said
    assert "unfinished" not in said


def test_without_a_switch_differences_are_told_as_with_one(built, run, run_both):
    spoil(built, "UPDATE ev_messages SET role = 'system' WHERE session_id = 'one'")
    result = run_both("projections", "rebuild", "effective_view", "--no-switch", code=1)
    assert "rows differ" in result.stdout
    assert "rebuild effective_view --accept" in result.stdout
    assert "verifies it again and switches" not in result.stdout


def test_a_build_of_another_declaration_is_not_said_to_be_gone_on_with(built, run):
    run("projections", "rebuild", "effective_view", "--no-switch")
    registry = built.with_name(f"{built.name}.projections") / "registry.db"
    execute(registry, "UPDATE tapefold_builds SET fingerprint = 'other' WHERE build = 2")
    said = run("projections", "status", "effective_view")
    assert "build 2, version 1: " in said
    assert "of another declaration" in said
    assert "`tapefold projections drop effective_view` removes it" in said
    assert "projections rebuild" not in said


def test_a_build_that_another_state_of_the_program_has_begun_is_begun_anew(built, run):
    run("projections", "rebuild", "effective_view", "--no-switch")
    registry = built.with_name(f"{built.name}.projections") / "registry.db"
    execute(registry, "UPDATE tapefold_programs SET program = 'other' WHERE build = 2")
    said = run("projections", "status", "effective_view")
    assert "begun by another state of the program; `tapefold projections rebuild" in said
    assert "begins anew" in said
    assert "build 3" in run("projections", "rebuild", "effective_view")


def test_several_projections_are_rebuilt_and_dropped_by_one_command(built, run, run_json):
    run("projections", "run", "branch_tree", "--once")
    done = run_json("projections", "rebuild", "effective_view", "branch_tree")
    assert [(one["projection"], one["switched"]) for one in done] == [
        ("effective_view", True),
        ("branch_tree", True),
    ]
    dropped = run_json("projections", "drop", "--all")
    assert [(one["projection"], one["dropped"]) for one in dropped] == [
        ("effective_view", [1]),
        ("branch_tree", [1]),
        ("trace_index", []),
        ("trace_text", []),
    ]


def test_one_that_fails_keeps_no_other_one_from_being_rebuilt(built, run, run_both):
    run("projections", "run", "branch_tree", "--once")
    spoil(built, "UPDATE tapefold_projection SET position = 99")
    result = run_both("projections", "rebuild", "effective_view", "branch_tree", code=1)
    assert "projection effective_view: the log ends at id 6" in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout.startswith("branch_tree  build 2")
    assert "it is live now" in result.stdout


@pytest.mark.parametrize("command", ["rebuild", "drop"])
def test_what_is_rebuilt_or_dropped_is_named_or_all_of_it(built, run, command):
    for arguments in ((), ("effective_view", "--all")):
        assert "name projections, or give --all" in run("projections", command, *arguments, code=2)


def test_a_switch_to_another_declaration_says_what_ends_and_what_to_start(built, run):
    said = run("projections", "rebuild", "effective_view")
    assert "other program" not in said
    registry = built.with_name(f"{built.name}.projections") / "registry.db"
    execute(registry, "UPDATE tapefold_builds SET fingerprint = 'older' WHERE build = 2")
    said = run("projections", "rebuild", "effective_view")
    assert "it is live now" in said
    assert "the processes of the other program end now" in said
    assert "start this program's `tapefold projections run`" in said


def test_the_status_after_a_restore_says_where_the_log_ends(built, run_both):
    append(built)
    run_both("projections", "run", "effective_view", "--once", code=0)
    execute(built, "DELETE FROM tapefold_events WHERE id = 7")
    result = run_both("projections", "status", "effective_view", code=1)
    assert "at id 7, but the log ends at id 6" in result.stdout
    assert "caught up" not in result.stdout


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
