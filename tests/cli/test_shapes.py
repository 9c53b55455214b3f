"""The machine shapes: keys, their order, their values. Programs are built on them."""

import json

import pytest

from .conftest import ROOT, T

SHORT = ROOT / "examples" / "short-talk.pi.jsonl"


def keys(value):
    return list(value)


def test_the_shape_of_view(run_json, talk):
    shape = run_json("view", "talk", "--leaf", talk["answer"])
    assert keys(shape) == [
        "session_id",
        "position",
        "leaf",
        "name",
        "messages",
        "settings",
        "labels",
        "anchors",
        "warnings",
    ]
    assert (shape["session_id"], shape["position"], shape["name"]) == ("talk", 9, "A talk")
    assert shape["leaf"] == talk["answer"]
    assert shape["settings"] == {"model": "m-1", "provider": "p", "thinking_level": None}
    assert shape["labels"] == {talk["answer"]: "the length"}
    assert shape["anchors"] == []
    assert [m["position"] for m in shape["messages"]] == [2, 3, 4, 5]
    call = shape["messages"][1]
    assert call == {
        "session_id": "talk",
        "message_id": talk["call"],
        "entry_id": talk["call"],
        "position": 3,
        "role": "assistant",
        "status": "sent",
        "order_seq": None,
        "content": [
            {"type": "text", "text": "I measure."},
            {
                "type": "tool_call",
                "call_id": "c1",
                "name": "measure",
                "arguments": {"side": "left"},
            },
        ],
        "calls": [
            {
                "call_id": "c1",
                "name": "measure",
                "arguments": {"side": "left"},
                "result": {
                    "content": [{"type": "text", "text": "118 cm"}],
                    "is_error": False,
                    "session_id": "talk",
                    "position": 4,
                    "message_id": talk["result"],
                    "entry_id": talk["result"],
                },
                "status": "success",
            }
        ],
        "model": "m-1",
        "usage": {"input": 3},
        "provider": "p",
        "stop_reason": None,
        "error": None,
        "timestamp": T[1],
    }
    named = "session_id message_id entry_id position role status order_seq content calls"
    assert keys(call)[:11] == [*named.split(), "model", "usage"]


def test_a_call_without_a_result_is_pending_and_has_none(run_json, talk):
    (call,) = run_json("view", "talk", "--leaf", talk["call"])["messages"][1]["calls"]
    assert (call["status"], call["result"]) == ("pending", None)


def test_the_shape_of_an_anchor(run, run_json):
    run("import", SHORT)
    (anchor,) = run_json("view", "short-talk")["anchors"]
    assert anchor == {
        "session_id": "short-talk",
        "entry_id": "a0000008",
        "position": 9,
        "kind": "compaction",
        "name": "compaction/imported",
        "summary": "The left plank is 118 cm long.",
        "first_kept_entry_id": "a0000008",
        "replaces": None,
    }


def test_the_view_at_the_empty_path_has_no_leaf_and_no_messages(run_json, talk):
    shape = run_json("view", "talk", "--leaf", "none")
    assert (shape["leaf"], shape["messages"]) == (None, [])


def test_a_warning_has_a_code_a_text_and_entries(run_json, sessions, talk):
    sessions.execute(
        "talk", lambda s: s.finalize("assistant", "late", under=talk["question"], entry_id="late")
    )
    (warning,) = run_json("view", "talk", "--leaf", talk["answer"])["warnings"]
    assert keys(warning) == ["code", "text", "entry_ids"]
    assert (warning["code"], warning["entry_ids"]) == ("answer_off_path", ["late"])


def test_the_shape_of_context(run, run_json):
    run("import", SHORT)
    shape = run_json("context", "short-talk")
    assert keys(shape)[:6] == "session_id position leaf policy rows excluded".split()
    assert shape["policy"] == "anchored"
    assert shape["rows"] == [
        {
            "kind": "summary",
            "entry_id": "a0000008",
            "role": "user",
            "content": [{"type": "text", "text": "The left plank is 118 cm long."}],
            "session_id": "short-talk",
            "position": 9,
            "reason": "anchor",
        },
        {
            "kind": "message",
            "entry_id": "a0000009",
            "role": "user",
            "content": [{"type": "text", "text": "And the right one?"}],
            "session_id": "short-talk",
            "position": 10,
            "reason": "on_path",
        },
    ]
    assert shape["excluded"][0] == {
        "entry_id": "a0000002",
        "reason": "before_boundary",
        "session_id": "short-talk",
        "position": 3,
    }
    assert len(shape["excluded"]) == 4


def test_a_row_that_is_a_result_names_its_call(run, run_json):
    run("import", SHORT)
    rows = run_json("context", "short-talk", "--policy", "full")["rows"]
    (result,) = [row for row in rows if row["role"] == "tool_result"]
    assert keys(result)[:6] == "kind entry_id role content call_id is_error".split()
    assert (result["call_id"], result["is_error"]) == ("call_1", False)
    assert all("call_id" not in row for row in rows if row is not result)


def test_a_call_without_a_result_gets_a_synthetic_row(run_json, talk):
    rows = run_json("context", "talk", "--leaf", talk["call"])["rows"]
    assert (rows[-1]["kind"], rows[-1]["entry_id"]) == ("synthetic", None)
    assert (rows[-1]["call_id"], rows[-1]["is_error"]) == ("c1", True)


@pytest.mark.parametrize("peer", ["tau", "pi"])
def test_context_as_another_tool_adds_its_messages_and_its_state(run, run_json, peer):
    run("import", SHORT)
    shape = run_json("context", "short-talk", "--as", peer)
    assert keys(shape)[-2:] == ["messages", "state"]
    assert set(shape["state"]) == {"model", "provider", "thinking_level", "labels", "name"}
    assert shape["state"]["name"] == "A shelf"
    assert [message["role"] for message in shape["messages"]][-1] == "user"
    assert shape["rows"] == run_json("context", "short-talk")["rows"]


def test_the_shape_of_tree(run_json, talk):
    shape = run_json("tree", "talk")
    assert keys(shape)[:3] == ["session_id", "leaf", "nodes"]
    assert shape["leaf"] == talk["slip"]
    nodes = {node["position"]: node for node in shape["nodes"]}
    assert sorted(nodes) == [2, 3, 4, 5, 6, 7]
    assert nodes[5] == {
        "entry_id": talk["answer"],
        "parent_id": talk["result"],
        "position": 5,
        "kind": "message",
        "role": "assistant",
        "depth": 3,
        "label": "the length",
        "on_path": True,
        "preview": "118 cm.",
        "session_id": "talk",
        "status": "sent",
        "struck": False,
        "calls": [],
        "is_leaf": False,
    }
    assert (
        keys(nodes[5])[:9]
        == ("entry_id parent_id position kind role depth label on_path preview").split()
    )
    assert nodes[3]["calls"] == ["measure"]
    assert (nodes[6]["on_path"], nodes[6]["depth"]) == (False, 1)
    assert nodes[7]["struck"] is True


def test_the_shape_of_tape(run_json, talk):
    lines = run_json("tape", "talk")
    assert [line["position"] for line in lines] == list(range(1, 10))
    for line in lines:
        assert (
            keys(line) == ("position entry_id parent_id type timestamp fields session_id").split()
        )
    assert lines[2]["type"] == "MessageFinalized"
    assert (lines[2]["entry_id"], lines[2]["parent_id"]) == (talk["call"], talk["question"])
    assert lines[2]["timestamp"] == T[1]
    fields = lines[2]["fields"]
    assert (fields["role"], fields["model"], fields["call_ids"]) == ("assistant", "m-1", ["c1"])
    assert fields["content"][0] == {"type": "text", "text": "I measure."}
    assert (lines[7]["type"], lines[7]["entry_id"]) == ("Retracted", None)


def test_no_field_of_a_body_hides_one_of_its_head():
    """The shape of the tape holds both side by side."""
    from tapefold.domain.events import EVENTS
    from tapefold.domain.heads import HEAD_FIELDS

    both = {
        (kind, name)
        for kind, event in EVENTS.items()
        for name in event.BODY.model_fields.keys() & HEAD_FIELDS
    }
    # These heads never carry the field that their body has.
    assert both <= {
        *((kind, "name") for kind in EVENTS if kind.startswith(("message_", "tool_"))),
        ("session_started", "owner"),
        ("backfill_recorded", "origin"),
        ("model_call_completed", "status"),
    }


def test_the_shape_of_a_replayed_step(run_json, talk):
    steps = run_json("replay", "talk", "--from", "3", "--to", "8")
    assert [step["position"] for step in steps] == [3, 4, 5, 6, 7, 8]
    for step in steps:
        assert (
            keys(step)
            == ("position session_id type entry_id timestamp effects leaf messages").split()
        )
    assert steps[1]["effects"] == [
        {
            "effect": "added",
            "entry_id": talk["result"],
            "message_id": talk["result"],
            "role": "tool_result",
        },
        {
            "effect": "answered",
            "entry_id": talk["call"],
            "message_id": talk["call"],
            "call_id": "c1",
        },
    ]
    assert [e["effect"] for e in steps[3]["effects"]] == ["beside"]
    assert [e["effect"] for e in steps[5]["effects"]] == ["struck"]
    assert [step["messages"] for step in steps] == [2, 3, 4, 4, 5, 4]


def test_the_shape_of_sessions(run_json, sessions, talk):
    stored = [state for _, _, state in sessions.recorder.iter_events("talk")]
    shape = run_json("sessions")
    assert shape == {
        "sessions": [
            {
                "session_id": "talk",
                "title": "A talk",
                "first_words": "How long is it?",
                "messages": 6,
                "position": 9,
                "leaf": talk["slip"],
                "directory": "/home/user/talk",
                "created": shape["sessions"][0]["created"],
                "last_activity": T[7],
                "parent": None,
                "parent_position": None,
                "size": sum(len(event) for event in stored),
                "model": "m-1",
                "match": None,
                "problem": None,
                "tokens": None,
                "cost": None,
                "parked": None,
            }
        ]
    }


def test_the_shape_of_import(run_json):
    shape = run_json("import", SHORT)
    assert shape == {
        "files": [
            {
                "path": str(SHORT),
                "format": "pi",
                "session_id": "short-talk",
                "read": 10,
                "kept": 10,
                "already": 0,
                "repaired": 0,
                "foreign": 0,
                "skipped": 0,
                "problems": [],
                "size": SHORT.stat().st_size,
                "sizes": {
                    "kept": SHORT.stat().st_size,
                    "already": 0,
                    "torn": 0,
                    "blank": 0,
                    "unread": 0,
                },
            }
        ]
    }
    names = "path format session_id read kept already repaired foreign skipped problems size sizes"
    assert keys(shape["files"][0]) == names.split()


def test_a_problem_has_a_line_a_reason_and_a_detail(run_json, tmp_path):
    damaged = tmp_path / "damaged.jsonl"
    lines = SHORT.read_text().splitlines()
    damaged.write_text("\n".join([*lines[:3], "{broken", *lines[3:]]) + "\n")
    (file,) = run_json("import", damaged)["files"]
    assert file["foreign"] == 1
    (problem,) = file["problems"]
    assert keys(problem) == ["line", "reason", "detail"]
    assert (problem["line"], problem["reason"]) == (4, "unreadable_line")


def test_the_shape_of_append_and_fork(run_json, talk):
    appended = run_json("append", "talk", "More")
    names = "session_id position entry_id message_id changed warnings hidden leaf"
    assert keys(appended) == names.split()
    assert (appended["session_id"], appended["position"], appended["changed"]) == (
        "talk",
        10,
        True,
    )
    forked = run_json("fork", "talk", "--at", "4", "--id", "child")
    assert forked == {
        "session_id": "child",
        "position": 1,
        "leaf": talk["result"],
        "parent": "talk",
        "parent_position": 4,
    }


def test_what_a_fork_inherits_stands_with_its_parents_id(run, run_json, talk):
    run("fork", "talk", "--at", "4", "--id", "child")
    run("append", "child", "Mine")
    view = run_json("view", "child")
    where = [(m["session_id"], m["position"]) for m in view["messages"]]
    assert where == [("talk", 2), ("talk", 3), ("talk", 4), ("child", 2)]
    assert view["messages"][1]["calls"][0]["result"]["session_id"] == "talk"
    nodes = run_json("tree", "child")["nodes"]
    assert [(n["session_id"], n["position"]) for n in nodes] == where
    rows = run_json("context", "child")["rows"]
    assert [(r["session_id"], r["position"]) for r in rows] == where


def test_json_is_ascii_and_strict_whatever_is_stored(run, sessions):
    session = sessions.start("odd")
    session.finalize(
        "user",
        [
            {"type": "text", "text": "pipe \x7f\x9b\u202e \ud83d 🌱"},
            {"type": "other", "value": {"not": float("nan"), "big": 2**70, "\udc80": 1}},
        ],
    )
    sessions.save(session)
    for command in ("view", "context", "tree", "replay", "sessions"):
        text = run(command, *(() if command == "sessions" else ("odd",)), "--json")
        assert text.isascii()
        assert "\x7f" not in text
        json.loads(text.splitlines()[0], parse_constant=pytest.fail)
    view = json.loads(run("view", "odd", "--json"))
    text, other = view["messages"][0]["content"]
    assert text["text"] == "pipe \x7f\x9b\u202e \ufffd 🌱"
    assert other["value"] == {"not": None, "big": 2**70, "\ufffd": 1}


def test_the_tape_keeps_what_came_exactly(run, sessions):
    session = sessions.start("odd")
    session.finalize("user", "half \ud83d")
    sessions.save(session)
    line = run("tape", "odd", "--json").splitlines()[1]
    assert "half \\ud83d" in line
    assert json.loads(line)["fields"]["content"][0]["text"] == "half \ud83d"
