"""What a file of Tau or Pi holds of a session, piece by piece; what it cannot, the report names."""

import json
from pathlib import Path

import pytest

from tapefold.exporting import export_lines
from tapefold.interop.writing.report import LOSSES, ExportReport
from tapefold.testing import Tape

ROOT = Path(__file__).parents[2]


def test_a_message_shows_its_winning_version_where_it_first_stood(write, form):
    tape = Tape()
    tape.user("first", id="a")
    tape.user("B", id="b")
    tape.version("a", "second")
    written = write(tape, form)
    assert written.record("a")["message"]["content"] == [{"type": "text", "text": "second"}]
    assert written.reasons == {"older_version": 1}


def test_what_hung_under_a_struck_message_hangs_under_its_parent(write, form, parent):
    tape = Tape()
    tape.user("A", id="a")
    tape.user("B", id="b")
    tape.user("C", id="c")
    tape.retract("b")
    written = write(tape, form)
    assert parent(written.record("c")) == "a"
    assert "b" not in {record["id"] for record in written.records}
    assert written.reasons == {"struck": 1, "retraction": 1}
    assert [
        (loss.position, loss.entry_id) for loss in written.report.losses if loss.reason == "struck"
    ] == [(3, "b")]


def test_the_leafs_line_comes_last_when_the_leaf_was_moved(write, form):
    tape = Tape()
    for name in "abc":
        tape.user(name.upper(), id=name)
    tape.move_leaf("b")
    written = write(tape, form)
    assert written.records[-1]["id"] == "b"
    assert written.report.leaf == "b"


def test_a_session_without_a_leaf_opens_on_the_empty_path(write, form):
    tape = Tape()
    tape.user("A", id="a")
    tape.move_leaf(None)
    written = write(tape, form)
    assert written.reasons == {"leaf": 1}
    assert written.report.leaf is None
    assert written.records[-1]["type"] == "custom"


def test_a_recorded_result_becomes_a_message_after_its_calls(write, form, parent):
    tape = Tape()
    tape.assistant("reading", calls=["c1"], id="a")
    tape.result_fact("a", "c1", "42")
    tape.user("next", id="b")
    written = write(tape, form)
    added = written.record(parent(written.record("b")))
    assert added["message"]["toolCallId"] == "c1"
    assert added["message"]["content"] == [{"type": "text", "text": "42"}]
    assert parent(added) == "a"
    assert written.reasons == {"result_fact": 1}


def test_a_fork_is_written_with_all_that_it_inherits(write, form, parent):
    tape = Tape()
    tape.user("A", id="a")
    child = tape.fork("child")
    child.user("B", id="b")
    written = write(child, form)
    assert parent(written.record("b")) == "a"
    assert written.reasons["fork"] == 1


def test_a_hand_off_is_a_compaction(write, form):
    tape = Tape()
    tape.user("A", id="a")
    tape.hand_off("all done", id="h")
    written = write(tape, form)
    assert (written.record("h")["type"], written.record("h")["summary"]) == (
        "compaction",
        "all done",
    )
    assert written.reasons == {"handoff": 1}


def test_a_summary_that_was_reset_is_data_that_no_replay_looks_at(write, form):
    tape = Tape()
    tape.user("A", id="a")
    tape.compact("short", id="k")
    tape.reset(id="r")
    written = write(tape, form)
    assert {written.record(i)["type"] for i in ("k", "r")} == {"custom"}
    assert written.reasons == {"summary_reset": 1, "reset_summary": 1}


def test_tau_gets_the_edited_message_and_pi_the_edit(write):
    tape = Tape()
    tape.user("A", id="a")
    tape.edit("a", "B", id="e")
    assert write(tape, "pi").record("e")["replacement"] == {
        "content": [{"type": "text", "text": "B"}]
    }
    written = write(tape, "tau")
    assert written.record("a")["message"]["content"] == [{"type": "text", "text": "B"}]
    assert written.reasons == {"edit_applied": 1}


def test_tau_gets_a_list_where_it_would_let_an_older_summary_stand(write):
    tape = Tape()
    for name in "abcd":
        tape.user(name.upper(), id=name)
    tape.compact("S1", keep="c", id="k1")
    tape.user("E", id="e")
    tape.compact("S2", keep="d", id="k2")
    written = write(tape, "tau")
    assert written.record("k1")["first_kept_entry_id"] == "c"
    assert written.record("k2")["replaces_entry_ids"] == ["c", "k1"]
    assert written.reasons == {"cumulative": 1}


def test_labels_and_the_name_stand_behind_the_entries_under_the_leaf(write, form, parent):
    tape = Tape()
    tape.user("A", id="a")
    tape.label("a", "here")
    tape.title("Named")
    tape.user("B", id="b")
    written = write(tape, form)
    label = next(r for r in written.records if r["type"] == "label")
    assert parent(label) == "b"
    assert label["label"] == "here"
    assert any("Named" in (r.get("name"), r.get("title")) for r in written.records)


@pytest.mark.parametrize("reason", sorted(LOSSES))
def test_every_reason_is_told_in_words(reason):
    assert LOSSES[reason].endswith(".")
    assert f"| `{reason}` | {LOSSES[reason]} |" in (ROOT / "docs" / "export.md").read_text("utf-8")


def test_a_reason_that_is_not_declared_is_an_error():
    with pytest.raises(KeyError):
        ExportReport("s", "pi").add("not declared")


# -- rare reasons ------------------------------------------------------------------------------


def _numbered(tape):
    tape.user("A", order_seq=2)
    tape.user("B", order_seq=1)


def _timeless(tape):
    tape.user("A", timestamp="some day")


def _carrying(tape):
    tape.compact("S", kept=[{"role": "user", "content": [{"type": "text", "text": "k"}]}])


def _bushy(tape):
    tape.assistant("a", calls=["c1"], id="a")
    tape.call_fact("a", "c2")
    for n in range(120):
        tape.user(f"{n}", id=f"chain{n}")
    for n in range(150):
        tape.user(f"{n}", under="chain119")


def _lost_boundary(tape):
    tape.user("A", id="a")
    tape.retract("a")
    tape.compact("S", keep="a")


def _never_read(tape):
    tape.foreign_mark()


@pytest.mark.parametrize(
    ("script", "reason", "count"),
    [
        (_numbered, "order_number", 2),
        (_timeless, "time", 1),
        (_carrying, "carried_messages", 1),
        (_bushy, "branches_unchecked", 1),
        (_lost_boundary, "boundary_lost", 1),
        (_never_read, "unreadable", 1),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_rare_is_named_too(write, form, script, reason, count):
    tape = Tape()
    script(tape)
    assert write(tape, form).reasons[reason] == count


def test_a_record_that_was_not_read_whole_is_named_when_it_has_to_move(load, pi):
    twice = pi.dump(pi.user("b", "a", "B"))[:-1] + b',"type":"message"}'
    session = load(pi.session(pi.user("a", None, "A"), twice))
    session.sessions.execute(session.id, lambda s: s.retract("a"))
    export = export_lines(session.sessions, session.id, "pi")
    records = [json.loads(line) for line in export.lines]
    assert (records[1]["id"], records[1]["parentId"]) == ("b", None)
    assert export.report.reasons["raw_text"] == 1
