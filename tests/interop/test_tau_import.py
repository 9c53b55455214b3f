"""What Tau's records become."""

import json

import pytest

from tapefold.domain.nodes import MARK


def test_a_file_without_header_is_named_after_its_first_entry(load, tau):
    info = tau.record("session_info", "i", None, created_at=1.0, cwd="/home/user/demo", title="T")
    session = load(tau.session(info, tau.user("a", "i", "A")))
    assert session.id == "tau-i"
    assert session.started.body.directory == "/home/user/demo"
    assert session.started.body.imported_from["format"] == "tau"
    assert session.sessions.view(session.id).name == "T"


def test_a_title_is_a_mark_and_one_without_title_leaves_the_name(load, tau):
    session = load(
        tau.session(
            tau.record("session_info", "i", None, created_at=1.0, title="T"),
            tau.user("a", "i", "A"),
            tau.record("session_info", "j", "a", created_at=2.0, cwd="/home/user/other"),
        )
    )
    assert session.by_id["j"].body.directory == "/home/user/other"
    assert session.sessions.view(session.id).name == "T"


def test_leaf_lines_are_kept_walked_through_and_move_nothing(load, tau):
    session = load(
        tau.session(
            tau.user("a", None, "A"),
            tau.user("b", "a", "B"),
            tau.record("leaf", "l", "b", entry_id="a"),
            tau.user("c", "l", "C"),
            tau.record("leaf", "m", "c"),
        )
    )
    leaf = session.by_id["l"].head
    assert (leaf.kind, leaf.targets, leaf.takes_leaf) == ("leaf_moved", ("a",), False)
    assert session.sessions.state(session.id).entry("l").kind == MARK
    assert session.leaf == "c"
    assert session.said() == ["A", "B", "C"]


def test_labels_are_trimmed_and_without_text_cleared(load, tau):
    texts = {"a": " kept\u00a0", "b": " \u3000", "c": "", "d": None}
    users = [tau.user(i, None, i) for i in texts]
    first = [tau.label(f"l{i}", None, i, "first") for i in texts]
    second = [tau.label(f"m{i}", None, i, text) for i, text in texts.items()]
    session = load(tau.session(*users, *first, *second))
    assert session.sessions.view(session.id).labels == {"a": "kept"}
    assert session.records()[8]["label"] == " kept\u00a0"


def test_a_label_without_a_target_is_put_on_the_first_message_of_the_file(load, tau):
    old = tau.record("label", "l", "i", label="mine")
    session = load(tau.session(tau.record("session_info", "i", None), old, tau.user("a", "l", "A")))
    assert session.sessions.view(session.id).labels == {"a": "mine"}


def test_without_any_message_such_a_label_is_put_on_the_first_other_entry(load, tau):
    old = tau.record("label", "l", None, label="mine")
    session = load(tau.session(old, tau.setting("s", "l")))
    assert session.sessions.view(session.id).labels == {"s": "mine"}


def test_compactions_are_cumulative_and_a_present_list_wins_even_if_empty(load, tau):
    listed = tau.record(
        "compaction", "n", "k", summary="S2", replaces_entry_ids=[], first_kept_entry_id="zz"
    )
    session = load(
        tau.session(tau.user("a", None, "A"), tau.compaction("k", "a", "S", "a"), listed)
    )
    k, n = session.by_id["k"].head, session.by_id["n"].head
    assert (k.cumulative, k.replaces, k.first_kept) == (True, None, "a")
    assert (n.cumulative, n.replaces) == (True, ())
    assert session.reasons == []
    assert session.sent() == ["S", "A", "S2"]


def test_an_interruption_is_known_by_its_sentence(load, tau):
    sentence = "Tool call interrupted by user"
    session = load(
        tau.session(
            tau.assistant("a", None, "", "c1", "c2", "c3"),
            tau.result("r1", "a", "c1", sentence, error=True),
            tau.result("r2", "r1", "c2", sentence),
            tau.result("r3", "r2", "c3", "Tool call interrupted by user.", error=True),
        )
    )
    flags = {i: session.by_id[i].head.interruption for i in ("r1", "r2", "r3")}
    assert flags == {"r1": True, "r2": False, "r3": False}


def test_shapes_of_older_releases_are_read_as_the_newest_reads_them(load, tau):
    calls = [{"id": "c1", "name": "ls", "arguments": {}}]
    old = {"role": "assistant", "content": "Looking.", "tool_calls": calls}
    tool = {"role": "tool", "tool_call_id": "c1", "name": "ls", "ok": False, "error": "denied"}
    session = load(
        tau.session(
            tau.record("message", "a", None, message=old),
            tau.record("message", "b", "a", message=tool),
        )
    )
    a, b = session.by_id["a"], session.by_id["b"]
    assert (a.head.role, a.head.call_ids) == ("assistant", ("c1",))
    assert (b.head.role, b.head.call_ids, b.head.owner) == ("tool_result", ("c1",), "a")
    assert (b.body.is_error, b.body.content[0].text) == (True, "denied")
    assert session.records()[1]["message"] == tool


def test_what_the_reader_fills_in_is_not_taken_for_what_was_said(load, tau):
    said = {"role": "assistant", "content": [], "timestamp": 1}
    body = load(tau.session(tau.record("message", "a", None, message=said))).by_id["a"].body
    assert (body.model, body.provider) == (None, None)


def test_a_message_that_no_release_writes_is_kept_as_a_custom_one(load, tau):
    summary = {"role": "branchSummary", "summary": "S", "fromId": "x", "timestamp": 1}
    session = load(tau.session(tau.record("message", "a", None, message=summary)))
    assert (session.by_id["a"].head.role, session.said()) == ("custom", ["S"])
    assert session.replay("tau")["messages"] == [summary]


@pytest.mark.parametrize("token", [1772355601, 1772355601.123456, "1772355601.5"])
def test_times_are_kept_as_they_were_written(load, tau, token):
    record = {**tau.user("a", None, "A"), "timestamp": token}
    session = load(tau.session(tau.user("z", None, "Z"), record))
    assert session.by_id["a"].timestamp == token
    assert session.reasons == []


def test_every_record_of_every_sample_is_made_again_exactly(load, tau_file):
    lines = [json.loads(line) for line in tau_file.read_bytes().split(b"\n") if line.strip()]
    assert load(tau_file).records() == lines
