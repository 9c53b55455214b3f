"""`tapefold events`: what a store holds, and whether all of it can be read."""

import sqlite3

import pytest

from tapefold import Sessions


@pytest.fixture
def filled(store):
    with Sessions(store) as sessions:
        session = sessions.start("one")
        session.finalize("user", "hello")
        session.finalize("assistant", "hi", model="m")
        sessions.save(session)
    return store


def execute(store, statement, *values):
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_stats_counts_types_and_class_versions(filled, run, run_json):
    execute(
        filled,
        "INSERT INTO tapefold_events (originator_id, originator_version, topic, state) "
        "VALUES ('theirs', 1, 'their.module:Thing', x'00')",
    )
    shape = run_json("events", "stats")
    counts = {one["topic"]: one["count"] for one in shape["events"]}
    assert counts["tapefold.MessageFinalized"] == 2
    assert counts["tapefold.SessionStarted"] == 1
    assert {one["class_version"] for one in shape["events"]} == {1}
    assert shape["foreign"] == {"their.module:Thing": 1}
    assert "2  tapefold.MessageFinalized, version 1" in run("events", "stats")


def test_check_reads_every_body_and_names_failures_by_position(filled, run, run_json):
    assert "3 events read" in run("events", "check")
    where = "WHERE originator_version = 2"
    execute(
        filled,
        "UPDATE tapefold_events SET state = "
        f"CAST(replace(state, '\"content\":[', '\"content\":[7,') AS BLOB) {where}",
    )
    before = filled.read_bytes()
    from click.testing import CliRunner

    from tapefold.cli.commands import cli

    result = CliRunner().invoke(cli, ["--db", str(filled), "events", "check"])
    assert result.exit_code == 1
    assert "session one, position 2 (tapefold.MessageFinalized)" in result.stdout
    assert filled.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("topic = 'tapefold.NotYetKnown'", "UnknownTopic"),
        (
            'state = CAST(replace(state, \',"head":\', \',"v":99,"head":\') AS BLOB)',
            "NewerEvent",
        ),
        ("state = x'00'", "UnreadableEvent"),
        ("state = 'text'", "UnreadableEvent"),
    ],
)
def test_what_a_newer_program_wrote_and_what_is_damaged_are_failures(filled, store, change, kind):
    import json

    from click.testing import CliRunner

    from tapefold.cli.commands import cli

    execute(filled, f"UPDATE tapefold_events SET {change} WHERE originator_version = 3")
    result = CliRunner().invoke(cli, ["--db", str(store), "events", "check", "--json"])
    assert result.exit_code == 1
    (failure,) = json.loads(result.stdout)["failures"]
    assert (failure["position"], failure["kind"]) == (3, kind)
    result = CliRunner().invoke(cli, ["--db", str(store), "events", "stats"])
    assert result.exit_code == 0


def test_without_a_store_it_says_so(run):
    assert "there is no store yet" in run("events", "check", code=1)
