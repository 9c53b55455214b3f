"""`as pi`: the rows and the state that Pi's own replay gives."""

import json

from tapefold.interop.pi_replay import as_pi


def replays(path):
    """(name, leaf, context, labels, session name) of each leaf that the newest replay lists."""
    newest = path.with_name(f"{path.stem}.replay-by-1.6.0.json")
    newest = newest if newest.exists() else path.with_name(f"{path.stem}.replay.json")
    found = json.loads(newest.read_text("utf-8"))
    if "default_context" not in found:
        # Files of older versions: one replay for each release, the newest is the last one.
        found = [inner for key, inner in found.items() if key.startswith("replay_by_")][-1]
    listed = [("default", found["leaf_id"], found["default_context"])]
    listed += [(k, k, v["context"]) for k, v in found.get("contexts_by_leaf", {}).items()]
    listed += [(k, k.rpartition("=")[2], v) for k, v in found.get("contexts_at", {}).items()]
    if "context_at_null_leaf" in found:
        listed.append(("none", None, found["context_at_null_leaf"]))
    for name, leaf, context in listed:
        yield name, leaf, context, found["labels"], found["session_name"]


def test_every_leaf_of_every_sample_is_replayed_as_pi_replays_it(load, pi_file, same_json):
    session = load(pi_file)
    for name, leaf, theirs, labels, title in replays(pi_file):
        ours = session.replay("pi", session.entry(leaf))
        rows, expected = ours["messages"], theirs["messages"]
        assert len(rows) == len(expected), name
        for at, (row, want) in enumerate(zip(rows, expected, strict=True)):
            assert same_json(row, want), (name, at)
        model = theirs["model"] or {}
        assert ours["state"] == {
            "model": model.get("modelId"),
            "provider": model.get("provider"),
            "thinking_level": theirs.get("thinkingLevel"),
            "labels": labels,
            "name": title,
        }, name


def test_an_unreadable_time_gives_what_the_tool_makes_of_it(load, pi):
    """The event takes the time before; the row shows what the tool itself shows."""
    summary = {**pi.record("branch_summary", "s", "a", summary="S", fromId="x"), "timestamp": "?"}
    session = load(pi.session(pi.user("a", None, "A"), summary))
    assert session.replay("pi")["messages"][1]["timestamp"] is None
    assert session.by_id["s"].timestamp == "2026-03-01T09:00:01.000Z"


def test_without_a_leaf_it_begins_at_ours(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.user("b", "a", "B"),
            pi.user("c", "a", "C"),
            pi.record("usage", "u", "b", kind="k", usage={}),
        )
    )
    assert [row["content"] for row in session.replay("pi")["messages"]] == ["A", "C"]
    assert [row["content"] for row in session.replay("pi", "u")["messages"]] == ["A", "B"]


def test_a_session_of_our_own_has_pis_shape(sessions):
    session = sessions.start("native")
    question = session.finalize("user", "Which file?", timestamp="2026-03-01T09:00:00.5Z")
    session.finalize(
        "assistant",
        [{"type": "tool_call", "call_id": "c1", "name": "read"}],
        under=question.entry_id,
        model="m-1",
        provider="p-1",
    )
    session.finalize("tool_result", "text of a", for_call="c1", tool_name="read")
    session.compact("So far.", first_kept=None)
    after = session.finalize("user", "Go on.")
    sessions.save(session)
    state = sessions.state("native")
    before = as_pi(state, sessions.tapes, session.view().messages[2].entry_id)
    user, assistant, result = before["messages"]
    assert (user["role"], user["timestamp"]) == ("user", 1772355600500)
    assert assistant["content"] == [
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}
    ]
    assert assistant["stopReason"] == "toolUse"
    assert (result["toolCallId"], result["toolName"]) == ("c1", "read")
    assert before["state"]["model"] == "m-1"
    assert before["state"]["thinking_level"] == "off"
    rows = as_pi(state, sessions.tapes, after.entry_id)["messages"]
    assert [row.get("summary", row["role"]) for row in rows] == ["So far.", "user"]


def test_a_session_of_tau_is_converted(load, tau):
    usage = {"input": 1, "output": 2, "totalTokens": 3, "cacheWrite1H": 4}
    session = load(
        tau.session(
            tau.user("a", None, "A"),
            tau.assistant("b", "a", "B", usage=usage),
            tau.record("branch_summary", "s", "b", summary="S"),
            tau.record("custom_message", "c", "s", custom_type="note", content="N", display=True),
        )
    )
    rows = session.replay("pi")["messages"]
    assert [row["role"] for row in rows] == ["user", "assistant", "branchSummary", "custom"]
    assert rows[1]["usage"]["cacheWrite1h"] == 4
    assert "cacheWrite1H" not in rows[1]["usage"]
    assert (rows[2]["summary"], rows[2]["timestamp"]) == ("S", 1772355601250)


def test_edits_and_later_versions(load, pi):
    """A replacement is superseded by a later version of its target; leaving out is not."""
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.user("b", "a", "B"),
            pi.record("context_edit", "e", "b", targetId="a", replacement={"content": "edited"}),
            pi.record("context_edit", "f", "e", targetId="b", replacement=None),
        )
    )
    for message_id in ("a", "b"):
        session.sessions.execute(session.id, lambda s, m=message_id: s.revise(m, "new"))
    (row,) = session.replay("pi")["messages"]
    assert row["content"] == [{"type": "text", "text": "new"}]


def test_a_fork_is_replayed_with_what_it_inherits(load, pi):
    session = load(pi.session(pi.user("a", None, "A"), pi.label("l", "a", "a", "start")))
    child = session.sessions.fork(session.id, title="Child")
    session.sessions.execute(child.id, lambda s: s.finalize("user", "B"))
    replay = as_pi(session.sessions.state(child.id), session.sessions.tapes)
    assert [row["content"] for row in replay["messages"]] == ["A", [{"type": "text", "text": "B"}]]
    assert replay["state"]["labels"] == {"a": "start"}
    assert replay["state"]["name"] == "Child"
