"""`tapefold doctor` says what is wrong and what to do, in an exit code too, and changes nothing."""

import json
import sqlite3
from contextlib import closing

import pytest


@pytest.fixture
def damage(store, talk):
    """Runs a statement on the store of `talk`."""

    def run(statement):
        with closing(sqlite3.connect(store)) as database, database:
            database.execute(statement)

    return run


def test_a_sound_store_exits_with_0_and_stays_byte_for_byte_what_it_was(program, store, talk):
    before = store.read_bytes(), sorted(store.parent.iterdir())
    done = program("doctor")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "1 session · 9 events" in done.stdout.decode()
    assert done.stdout.decode().endswith("the store is sound\n")
    assert (store.read_bytes(), sorted(store.parent.iterdir())) == before


def test_what_is_wrong_is_said_with_its_place_and_what_to_do(program, store, damage):
    damage("DELETE FROM tapefold_events WHERE originator_version = 4")
    before = store.read_bytes()
    done = program("doctor")
    said = done.stdout.decode()
    assert done.returncode == 1
    assert "wrong session talk, position 5: position 4 is missing" in said
    assert "→ restore the session from a backup" in said
    assert said.endswith("1 thing wrong\n")
    assert store.read_bytes() == before


def test_json_has_every_finding(program, damage):
    damage("UPDATE tapefold_events SET state = x'7b7d' WHERE originator_version = 4")
    done = program("doctor", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert (answer["sound"], answer["counts"]["unreadable_event"]) == (False, 1)
    (finding,) = [found for found in answer["findings"] if found["level"] == "wrong"]
    assert (finding["session_id"], finding["position"]) == ("talk", 4)
    assert finding["advice"]


def test_one_session_is_named_as_everywhere(run_json, sessions, talk):
    sessions.save(sessions.start("other", persist=True))
    assert run_json("doctor", "tal")["session_id"] == "talk"
    assert run_json("doctor", "A talk")["events"] == 9
    assert run_json("doctor", "other")["events"] == 1
    assert run_json("doctor")["sessions"] == 2


def test_a_session_that_is_not_there_is_said(run, talk):
    assert "does not exist" in run("doctor", "nobody", code=1)


def test_a_session_of_a_store_that_cannot_be_opened_is_still_looked_for(program, store, damage):
    damage("UPDATE tapefold_meta SET value = '99' WHERE key LIKE '%schema_version'")
    done = program("doctor", "talk")
    assert done.returncode == 1
    assert b"schema version 99" in done.stdout


def test_a_store_that_is_not_there_is_an_error_and_is_not_made(program, store):
    done = program("doctor")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"there is no store yet" in done.stderr
    assert not store.exists()


def test_a_store_in_memory_is_wrong_use(program):
    assert program("--db", "memory:", "doctor").returncode == 2


def test_control_characters_of_a_damaged_row_never_reach_the_terminal(program, damage):
    damage("UPDATE tapefold_events SET originator_id = 'x' || char(27) || '[2J'")
    damage("UPDATE tapefold_events SET state = x'00' WHERE originator_version = 3")
    done = program("doctor")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert b"\\x1b[2J" in done.stdout
