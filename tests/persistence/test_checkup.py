"""A check of a store finds each kind of damage, names its place, and changes nothing."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from eventsourcing.persistence import JSONTranscoder
from hypothesis import given, settings

from tapefold import Session, Sessions, StoreError, TapefoldError
from tapefold.persistence.checkup import check_store
from tapefold.persistence.checkup_file import file_system
from tapefold.persistence.checkup_findings import LISTED, MEANINGS, Findings
from tapefold.persistence.checkup_rows import RowCheck
from tapefold.persistence.mapper import TapeMapper
from tapefold.testing import counted_defaults
from tapefold.testing.strategies import commands

MAPPER = TapeMapper(JSONTranscoder())


def fill(path, entries=6):
    """A store with a talk, a fork of it, and a session of its own."""
    with Sessions(path) as sessions:
        talk = sessions.start("talk", title="A talk")
        for n in range(entries):
            talk.finalize("user", f"question {n}", entry_id=f"q{n}")
        call = {"type": "tool_call", "call_id": "c1", "name": "read"}
        talk.finalize("assistant", [{"type": "text", "text": "I read."}, call], entry_id="a")
        talk.finalize("tool_result", "all of it", for_call="c1", entry_id="r")
        talk.retract("q1")
        talk.label("a", "here")
        sessions.save(talk)
        sessions.fork("talk", child_id="child")
        other = sessions.start("other")
        other.finalize("user", "something else")
        sessions.save(other)
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A sound store; the tests damage copies of it."""
    return fill(tmp_path_factory.mktemp("sound") / "sessions.db")


@pytest.fixture
def store(sound, tmp_path):
    path = tmp_path / "sessions.db"
    path.write_bytes(sound.read_bytes())
    path.chmod(0o600)
    tmp_path.chmod(0o700)
    return path


def change(path, statement, *values):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement, values)


def delete(path, where):
    change(path, f"DELETE FROM tapefold_events WHERE {where}")


def state_of(path, session_id, position):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(
            "SELECT state FROM tapefold_events WHERE originator_id=? AND originator_version=?",
            (session_id, position),
        ).fetchone()[0]


def put(path, session_id, position, state):
    change(
        path,
        "UPDATE tapefold_events SET state=? WHERE originator_id=? AND originator_version=?",
        state,
        session_id,
        position,
    )


def examine(path, session_id=None, progress=None, **env):
    settings = {"SQLITE_DBNAME": str(path), "ORIGINATOR_ID_TYPE": "text", **env}
    return check_store(settings, session_id, progress)


def found(path, session_id=None):
    """(code, session, position) of all that is wrong; the check must leave the file as it is."""
    before = path.read_bytes()
    checkup = examine(path, session_id)
    assert path.read_bytes() == before
    return [(f.code, f.session_id, f.position) for f in checkup.findings.listed if is_wrong(f)]


def is_wrong(finding):
    return finding.level == "wrong"


def test_a_sound_store_has_no_findings_and_nothing_is_left_beside_it(store):
    checkup = examine(store)
    assert (checkup.findings.counts, checkup.sessions, checkup.events) == ({}, 3, 15)
    assert [file.name for file in store.parent.iterdir()] == ["sessions.db"]


@settings(max_examples=40)
@given(commands())
def test_whatever_the_commands_write_is_sound(steps):
    session = Session.start("s", defaults=counted_defaults())
    for step in steps:
        try:
            step(session)
        except TapefoldError:
            continue
    findings = Findings()
    check = RowCheck(findings, MAPPER)
    for one in (session, *session.take_born()):
        for event in one.pending_events:
            stored = MAPPER.to_stored_event(event)
            check.take((1, one.id, stored.originator_version, stored.topic, stored.state))
    assert findings.listed == []


# -- events ------------------------------------------------------------------------------------


def test_a_row_that_was_deleted_leaves_a_gap(store):
    delete(store, "originator_id='talk' AND originator_version=3")
    assert found(store) == [("gap", "talk", 4)]


def test_a_beginning_that_was_deleted_leaves_a_gap(store):
    change(
        store, "DELETE FROM tapefold_events WHERE originator_id='other' AND originator_version=1"
    )
    assert found(store) == [("gap", "other", 2)]


@pytest.mark.parametrize("place", [0, 3, 30, -1])
def test_a_byte_that_was_flipped_makes_its_event_unreadable_or_another_one(store, place):
    state = bytearray(state_of(store, "talk", 3))
    state[place] ^= 0x02
    put(store, "talk", 3, bytes(state))
    ((code, session_id, position),) = found(store)
    assert code in ("unreadable_event", "body_differs")
    assert (session_id, position) == ("talk", 3)


def test_every_byte_of_what_was_said_is_watched(store):
    state = state_of(store, "talk", 3)
    put(store, "talk", 3, state.replace(b"question 1", b"question 7"))
    assert found(store) == [("body_differs", "talk", 3)]


def test_a_body_that_was_swapped_with_that_of_another_event_is_noticed(store):
    one, other = state_of(store, "talk", 2), state_of(store, "talk", 4)
    (head, body), (head2, body2) = one.split(b',"body":'), other.split(b',"body":')
    put(store, "talk", 2, head + b',"body":' + body2)
    put(store, "talk", 4, head2 + b',"body":' + body)
    assert found(store) == [("body_differs", "talk", 2), ("body_differs", "talk", 4)]


def test_a_head_with_other_calls_than_its_body_is_noticed(store):
    state = state_of(store, "talk", 8)
    assert b'"call_ids":["c1"]' in state
    put(store, "talk", 8, state.replace(b'"call_ids":["c1"]', b'"call_ids":["c2"]'))
    assert found(store) == [("calls_differ", "talk", 8)]


def test_a_head_of_another_kind_is_noticed(store):
    state = state_of(store, "talk", 3)
    put(store, "talk", 3, state.replace(b'"message_finalized"', b'"messages_revised"', 1))
    assert found(store)[0] == ("unreadable_event", "talk", 3)


def test_a_length_that_is_not_the_heads_is_noticed(store):
    state = state_of(store, "talk", 3)
    length = state[5 : state.index(b",")]
    put(store, "talk", 3, state.replace(length, b"%d" % (int(length) - 1), 1))
    assert found(store) == [("unreadable_event", "talk", 3)]


def test_what_a_newer_tapefold_wrote_is_not_taken_for_damage(store):
    state = state_of(store, "talk", 3)
    put(store, "talk", 3, state.replace(b',"head"', b',"v":99,"head"', 1))
    change(
        store,
        "UPDATE tapefold_events SET topic='tapefold.Dreamt' "
        "WHERE originator_id='talk' AND originator_version=4",
    )
    assert found(store) == [("newer_event", "talk", 3), ("unknown_event", "talk", 4)]


def test_an_entry_that_is_there_twice_is_noticed(store):
    put(store, "talk", 4, state_of(store, "talk", 3))
    assert found(store) == [("id_twice", "talk", 4)]


def test_a_row_of_another_shape_is_no_event(store):
    change(
        store,
        "INSERT INTO tapefold_events (originator_id, originator_version, topic, state) "
        "VALUES ('zebra', 'one', 'tapefold.SessionStarted', 'text')",
    )
    assert found(store) == [("bad_row", "zebra", None)]


def test_an_event_of_somebody_else_inside_a_session_is_wrong_and_outside_it_is_not(store):
    insert = (
        "INSERT INTO tapefold_events (originator_id, originator_version, topic, state) "
        "VALUES (?, ?, 'host.orders:Paid', x'00')"
    )
    change(store, insert, "order-1", 1)
    assert found(store) == []
    assert examine(store).foreign == 1
    change(store, insert, "other", 3)
    assert found(store) == [("foreign_event", "other", 3)]


def test_many_findings_of_one_code_are_counted_and_the_first_ones_listed(tmp_path):
    path = fill(tmp_path / "many.db", entries=LISTED + 30)
    change(
        path, "UPDATE tapefold_events SET state=x'7b7d' WHERE originator_version BETWEEN 2 AND 70"
    )
    findings = examine(path).findings
    assert findings.counts["unreadable_event"] == 69 + 1
    assert sum(f.code == "unreadable_event" for f in findings.listed) == LISTED


# -- forks -------------------------------------------------------------------------------------


def test_a_fork_whose_parent_is_gone_is_wrong(store):
    delete(store, "originator_id='talk'")
    assert found(store) == [("origin_missing", "child", 1)]
    assert found(store, "other") == []


def test_a_parent_that_ends_before_its_fork_begins_is_wrong(store):
    delete(store, "originator_id='talk' AND originator_version>5")
    assert found(store) == [("origin_short", "child", 1)]


def test_a_parent_without_the_receipt_is_wrong(store):
    delete(store, "topic='tapefold.Forked'")
    assert found(store) == [("no_receipt", "child", 1)]


def test_a_fork_that_is_gone_is_a_note(store):
    delete(store, "originator_id='child'")
    findings = examine(store).findings
    assert (findings.counts, findings.wrong) == ({"fork_missing": 1}, 0)


def test_a_fork_and_its_receipt_that_disagree_are_wrong(store):
    state = state_of(store, "child", 1)
    put(store, "child", 1, state.replace(b'"leaf":"r"', b'"leaf":"a"'))
    assert found(store) == [("origin_differs", "child", 1)]
    assert found(store, "child") == [("origin_differs", "child", 1)]


def test_ancestors_that_lead_back_are_wrong_and_end_the_walk(store):
    state = json.loads(state_of(store, "talk", 1))
    state["head"]["origin"] = {"session_id": "child", "position": 1, "leaf": None, "inherit": True}
    head = json.dumps(state["head"], separators=(",", ":"))
    body = json.dumps(state["body"], separators=(",", ":"))
    put(store, "talk", 1, f'{{"n":{len(head)},"head":{head},"body":{body}}}'.encode())
    assert ("origin_in_ring", "child", 1) in found(store)
    assert "origin_in_ring" in [code for code, _, _ in found(store, "talk")]


def test_one_session_is_checked_with_what_it_inherits_and_nothing_else(store):
    put(store, "talk", 3, b"{}")
    assert found(store, "child") == [("unreadable_event", "talk", 3)]
    assert found(store, "other") == []


# -- the file ----------------------------------------------------------------------------------


def test_a_file_that_was_cut_short_is_noticed(store):
    os.truncate(store, store.stat().st_size // 2)
    codes = [code for code, _, _ in found(store)]
    assert "cut_short" in codes


def test_pages_that_were_overwritten_are_noticed(store):
    content = bytearray(store.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    for start in range(2 * page, len(content), page):
        content[start + 20 : start + 60] = os.urandom(40)
    store.write_bytes(content)
    codes = {code for code, _, _ in found(store)}
    assert codes & {"integrity", "cannot_read"}


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00", b"{}\n" * 100, b"\x00" * 4096])
def test_a_file_that_is_no_store_is_wrong(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    assert found(path) == [("cannot_open", None, None)]


def test_a_header_that_was_overwritten_is_wrong(store):
    content = store.read_bytes()
    store.write_bytes(b"no database at all, 16" + content[22:])
    assert found(store) == [("cannot_open", None, None)]


def test_a_database_of_somebody_else_holds_no_log(tmp_path):
    path = tmp_path / "theirs.db"
    change(path, "CREATE TABLE orders (id INTEGER)")
    assert found(path) == [("no_log", None, None)]


def test_a_store_of_a_newer_tapefold_is_named_as_such(store):
    change(store, "UPDATE tapefold_meta SET value='99' WHERE key LIKE '%schema_version'")
    (finding,) = examine(store).findings.listed
    assert finding.code == "schema"
    assert "schema version 99" in finding.text


def test_a_memory_of_used_ids_that_fell_behind_is_wrong(store):
    change(store, "UPDATE sqlite_sequence SET seq=3")
    assert found(store) == [("used_ids", None, None)]


def test_a_compressed_log_in_a_table_of_another_name_is_read_as_its_application_does(tmp_path):
    path = tmp_path / "other.db"
    env = {"COMPRESSOR_TOPIC": "zlib", "TAPEFOLD_EVENTS_TABLE": "my_events"}
    with Sessions(path, env=env) as sessions:
        sessions.save(sessions.start("s", persist=True))
    assert examine(path, **env).findings.wrong == 0
    assert examine(path, TAPEFOLD_EVENTS_TABLE="my_events").findings.counts == {
        "unreadable_event": 1
    }
    assert found(path) == [("no_log", None, None)]


def test_no_file_is_an_error_and_none_is_made(tmp_path):
    with pytest.raises(StoreError, match="there is no store yet"):
        examine(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_others_may_read_is_a_risk(store):
    store.chmod(0o644)
    store.parent.chmod(0o777)
    findings = examine(store).findings
    assert findings.counts == {"open_to_others": 1, "folder_open_to_others": 1}
    assert findings.wrong == 0


def test_a_second_name_is_a_risk(store):
    os.link(store, store.with_name("copy.db"))
    assert examine(store).findings.counts == {"several_names": 1}


def test_a_store_that_is_in_use_is_checked_in_one_snapshot_beside_its_writer(store):
    with Sessions(store) as sessions:
        sessions.execute("other", lambda s: s.finalize("user", "while it is open"))
        log = store.with_name("sessions.db-wal")
        before = store.read_bytes(), log.read_bytes()
        checkup = examine(store)
        assert (store.read_bytes(), log.read_bytes()) == before
    assert (checkup.findings.counts, checkup.events) == ({"log_waits": 1}, 16)


def test_what_a_killed_writer_left_in_the_log_is_read_and_left_there(store, tmp_path):
    killed = tmp_path / "killed.db"
    with Sessions(store) as sessions:
        sessions.execute("other", lambda s: s.finalize("user", "not yet in the file"))
        for suffix in ("", "-wal"):
            killed.with_name(killed.name + suffix).write_bytes(
                store.with_name(store.name + suffix).read_bytes()
            )
    killed.chmod(0o600)
    log = Path(f"{killed}-wal")
    before = killed.read_bytes(), log.read_bytes()
    checkup = examine(killed)
    assert checkup.events == 16
    assert (killed.read_bytes(), log.read_bytes()) == before


def test_a_network_file_system_is_known_by_its_mount(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:5 / /mnt/far\\040away rw shared:1 - nfs4 host:/x rw\n"
    )
    assert file_system(Path("/mnt/far away/sessions.db"), mounts) == "nfs4"
    assert file_system(Path("/mnt/farther/sessions.db"), mounts) == "ext4"
    assert file_system(tmp_path, tmp_path / "none") is None


def test_the_progress_tells_what_is_done_and_how_much_there_is(tmp_path):
    path = fill(tmp_path / "long.db", entries=1200)
    told = []
    examine(path, progress=lambda *said: told.append(said))
    assert [what for what, _, _ in told][:3] == ["file", "pages", "schema"]
    assert told[3] == ("events", 500, 1209)
    assert told[-1] == ("events", 1209, 1209)


def test_every_code_says_how_bad_it_is_and_what_to_do():
    assert {meaning.level for meaning in MEANINGS.values()} == {"wrong", "risk", "note"}
    assert all(meaning.advice for meaning in MEANINGS.values())
