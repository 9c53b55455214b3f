"""`as tau`: the rows and the state that Tau's own replay gives."""

import json

import pytest

SUMMARIES = ("compaction", "branch_summary")


def replays(path):
    """(name, leaf, state) of each leaf that the newest replay lists."""
    found = json.loads(path.with_name(f"{path.stem}.replay-by-0.4.8.json").read_text("utf-8"))
    default = found["state_default"]
    yield "default", default["active_leaf_id"], default
    for key in ("states_by_branch_tip", "states_at"):
        for leaf, state in found.get(key, {}).items():
            yield leaf, leaf, state
    if found.get("state_at_none"):
        yield "none", None, found["state_at_none"]


def untimed(records, entry_ids):
    """The rows for which the file has no time: Tau gives them the moment of replay."""
    for row, entry_id in enumerate(entry_ids):
        record = records[entry_id]
        message = record.get("message", {})
        custom = "custom_type" in message or "customType" in message
        if record["type"] in SUMMARIES or (
            record["type"] == "message" and message.get("timestamp") is None and not custom
        ):
            yield row


def test_every_leaf_of_every_sample_is_replayed_as_tau_replays_it(load, tau_file, same_json):
    lines = [json.loads(line) for line in tau_file.read_bytes().split(b"\n") if line.strip()]
    records = {record["id"]: record for record in lines}
    session = load(tau_file)
    for name, leaf, theirs in replays(tau_file):
        ours = session.replay("tau", leaf)
        rows, expected = ours["messages"], theirs["messages"]
        assert len(rows) == len(expected), name
        free = set(untimed(records, theirs["context_entry_ids"]))
        for at, (row, want) in enumerate(zip(rows, expected, strict=True)):
            time = {"timestamp": row["timestamp"]} if at in free else {}
            assert all(type(moment) is int for moment in time.values())
            assert same_json(row, {**want, **time}), (name, at)
        info = records.get(theirs["session_info_id"], {})
        assert ours["state"] == {
            "model": theirs["model"],
            "provider": theirs["provider"],
            "thinking_level": theirs["thinking_level"],
            "labels": theirs["labels_by_id"],
            "name": info.get("title"),
        }, name


def test_without_a_leaf_it_begins_at_ours(load, tau):
    """Tau itself would take the last line, a label on another branch."""
    session = load(
        tau.session(
            tau.user("a", None, "A"),
            tau.user("b", "a", "B"),
            tau.user("c", "a", "C"),
            tau.label("l", "b", "b", "here"),
        )
    )
    assert [row["content"] for row in session.replay("tau")["messages"]] == ["A", "C"]
    assert [row["content"] for row in session.replay("tau", "l")["messages"]] == ["A", "B"]


def test_rows_get_the_same_times_at_every_call_those_of_the_records(load, tau):
    session = load(
        tau.session(
            tau.user("a", None, "A"),
            tau.compaction("k", "a", "S", "a"),
            tau.record("message", "b", "k", message={"role": "user", "content": "no time"}),
        )
    )
    rows = session.replay("tau")["messages"]
    assert [row["timestamp"] for row in rows] == [1772355601250, 1772355601000, 1772355601250]
    assert session.replay("tau")["messages"] == rows


def test_a_session_of_our_own_has_taus_shape(sessions, load, tau):
    session = sessions.start("native")
    session.set_model("m-1", "p-1")
    question = session.finalize("user", "Which file?", timestamp="2026-03-01T09:00:00.5Z")
    answer = session.finalize(
        "assistant",
        [
            {"type": "text", "text": "This one."},
            {"type": "tool_call", "call_id": "c1", "name": "read", "arguments": {"path": "a"}},
        ],
        under=question.entry_id,
        model="m-1",
        provider="p-1",
    )
    session.record_result(answer.message_id, "c1", "text of a")
    session.set_title("Files")
    session.label(question.entry_id, "start")
    sessions.save(session)
    replay = as_tau_of(sessions, "native")
    user, assistant, result = replay["messages"]
    assert user == {
        "role": "user",
        "content": [{"type": "text", "text": "Which file?"}],
        "timestamp": 1772355600500,
    }
    assert assistant["content"] == [
        {"type": "text", "text": "This one."},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
    ]
    assert (assistant["stopReason"], assistant["model"]) == ("toolUse", "m-1")
    assert assistant["usage"]["totalTokens"] == 0
    assert (result["role"], result["toolCallId"], result["isError"]) == ("toolResult", "c1", False)
    assert replay["state"] == {
        "model": "m-1",
        "provider": "p-1",
        "thinking_level": None,
        "labels": {question.entry_id: "start"},
        "name": "Files",
    }


def as_tau_of(sessions, session_id, **leaf):
    from tapefold.interop.tau_replay import as_tau

    return as_tau(sessions.state(session_id), sessions.tapes, **leaf)


def test_struck_messages_are_left_out_and_the_newest_version_counts(load, tau):
    session = load(tau.session(tau.user("a", None, "A"), tau.user("b", "a", "B")))
    session.sessions.execute(session.id, lambda s: s.retract("a"))
    session.sessions.execute(session.id, lambda s: s.revise("b", "B, again"))
    (row,) = session.replay("tau")["messages"]
    assert row["content"] == [{"type": "text", "text": "B, again"}]


def test_a_fork_is_replayed_with_what_it_inherits(load, tau):
    session = load(tau.session(tau.user("a", None, "A"), tau.user("b", "a", "B")))
    child = session.sessions.fork(session.id)
    session.sessions.execute(child.id, lambda s: s.finalize("user", "C"))
    rows = as_tau_of(session.sessions, child.id)["messages"]
    assert [row["content"] for row in rows] == ["A", "B", [{"type": "text", "text": "C"}]]


def test_a_session_of_pi_is_converted_and_system_messages_have_no_place(load, pi):
    usage = {"input": 1, "output": 2, "totalTokens": 3, "cacheWrite1h": 4}
    session = load(
        pi.session(
            pi.message("s", None, "system", "You help."),
            pi.user("a", "s", "A"),
            pi.assistant("b", "a", "B", usage=usage, stopReason="pending", thinkingLevel="high"),
            pi.record("context_edit", "e", "b", targetId="a", replacement={"content": "A2"}),
        )
    )
    user, assistant = session.replay("tau")["messages"]
    assert user["content"] == [{"type": "text", "text": "A2"}]
    assert assistant["usage"]["cacheWrite1H"] == 4
    assert assistant["stopReason"] == "stop"
    assert "thinkingLevel" not in assistant


@pytest.mark.parametrize("given", [None, "m-2"])
def test_only_model_changes_change_the_model(load, tau, given):
    changes = [] if given is None else [tau.record("model_change", "c", "b", model=given)]
    session = load(tau.session(tau.user("a", None, "A"), tau.assistant("b", "a", "B"), *changes))
    assert session.replay("tau")["state"]["model"] == given
