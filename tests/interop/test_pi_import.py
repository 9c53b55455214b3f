"""What Pi's records become."""

import json

import pytest

from tapefold.domain.content import OtherBlock, TextBlock, ThinkingBlock, ToolCallBlock
from tapefold.domain.nodes import MARK
from tapefold.interop.pi import PI
from tapefold.interop.raw import raw_of

USAGE = {"input": 9, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}


def test_an_assistant_message_is_taken_apart(load, pi):
    message = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "c2ln"},
            {"type": "text", "text": "Reading.", "textSignature": "ts"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": None}},
            {"type": "hologram", "beam": 1},
        ],
        "api": "x-api",
        "provider": "p",
        "model": "m",
        "usage": USAGE,
        "stopReason": "toolUse",
        "responseId": "r1",
        "timestamp": 1772355601000,
    }
    event = load(pi.session(pi.record("message", "a", None, message=message))).by_id["a"]
    thinking, text, call, other = event.body.content
    assert isinstance(thinking, ThinkingBlock)
    assert (thinking.thinking, thinking.signature) == ("Hm.", "c2ln")
    assert isinstance(text, TextBlock)
    assert text.extra == {"textSignature": "ts"}
    assert isinstance(call, ToolCallBlock)
    assert (call.call_id, call.name, call.arguments) == ("c1", "read", {"path": None})
    assert isinstance(other, OtherBlock)
    assert other.value == {"type": "hologram", "beam": 1}
    assert (event.body.model, event.body.provider, event.body.usage) == ("m", "p", USAGE)
    assert event.body.stop_reason == "toolUse"
    assert (event.head.role, event.head.status) == ("assistant", "sent")
    assert event.head.call_ids == ("c1",)
    assert event.head.message_id == "a"


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_a_failed_answer_has_the_status_error(load, pi, reason):
    answer = pi.assistant("a", None, "", stopReason=reason, errorMessage="overloaded")
    event = load(pi.session(answer)).by_id["a"]
    assert (event.head.status, event.body.error) == ("error", "overloaded")


def test_a_shell_command_is_taken_apart(load, pi):
    message = {
        "role": "bashExecution",
        "command": "ls",
        "output": "a.txt",
        "exitCode": 0,
        "cancelled": False,
        "truncated": True,
        "fullOutputPath": "/home/user/out.txt",
        "excludeFromContext": True,
        "timestamp": 1,
    }
    event = load(pi.session(pi.record("message", "a", None, message=message))).by_id["a"]
    assert event.head.role == "bash_execution"
    assert event.body.content[0].text == "a.txt"
    assert event.body.details == {
        "command": "ls",
        "exit_code": 0,
        "cancelled": False,
        "truncated": True,
        "full_output_path": "/home/user/out.txt",
        "exclude_from_context": True,
    }


def test_a_message_of_an_extension_is_a_custom_message_of_either_kind(load, pi):
    shown = pi.record(
        "custom_message", "a", None, customType="note", content="seen", display=False, details=[1]
    )
    stored = pi.message("b", "a", "custom", "seen too", customType="note", display=True)
    session = load(pi.session(shown, stored))
    a, b = session.by_id["a"], session.by_id["b"]
    assert a.head.role == b.head.role == "custom"
    assert a.body.custom_type == b.body.custom_type == "note"
    assert (a.body.display, b.body.display) == (False, True)
    assert a.body.details == [1]
    assert session.said() == ["seen", "seen too"]


def test_settings_and_custom_data_are_entries(load, pi):
    session = load(
        pi.session(
            pi.record("model_change", "a", None, provider="p", modelId="m"),
            pi.setting("b", "a"),
            pi.record("custom", "c", "b", customType="notes", data={"n": None}),
        )
    )
    assert [event.head.kind for event in session.events] == [
        "model_changed",
        "thinking_level_changed",
        "custom_recorded",
    ]
    model, level, custom = session.events
    assert (model.body.model, model.body.provider, level.body.level) == ("m", "p", "high")
    assert (custom.body.namespace, custom.body.data) == ("notes", {"n": None})


def test_labels_names_and_usage_are_marks_that_keep_id_and_parent(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.label("l", "a", "a", "here"),
            pi.record("usage", "u", "l", kind="cache_warm", provider="p", model="m", usage=USAGE),
            pi.mark("n", "u"),
            pi.user("b", "n", "B"),
        )
    )
    for mark, parent in (("l", "a"), ("u", "l"), ("n", "u")):
        head = session.by_id[mark].head
        assert (head.parent_id, head.stands_for, head.takes_leaf) == (parent, "a", False)
        assert session.sessions.state(session.id).entry(mark).kind == MARK
    usage = session.by_id["u"].body
    assert (usage.purpose, usage.model, usage.usage) == ("cache_warm", "m", USAGE)
    assert session.said() == ["A", "B"]


def test_a_label_is_kept_as_it_is_and_an_empty_one_clears(load, pi):
    texts = {"a": "  padded ", "b": "   ", "c": "", "d": None}
    users = [pi.user(i, None, i) for i in texts]
    first = [pi.label(f"l{i}", None, i, "first") for i in texts]
    second = [pi.label(f"m{i}", None, i, text) for i, text in texts.items()]
    del second[-1]["label"]
    session = load(pi.session(*users, *first, *second))
    assert session.sessions.view(session.id).labels == {"a": "  padded ", "b": "   "}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Plain", "Plain"),
        ("  two\nlines ", "two lines"),
        ("", None),
        ("\ufeff \n", None),
        (None, None),
    ],
)
def test_the_newest_name_counts_and_an_empty_one_clears(load, pi, name, shown):
    old = pi.record("session_info", "n", None, name="Old")
    session = load(pi.session(old, pi.record("session_info", "o", "n", name=name)))
    assert session.sessions.view(session.id).name == shown


def test_a_compaction_keeps_its_boundary_and_its_own_id_as_one(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.user("b", "a", "B"),
            pi.compaction("k", "b", "S", "b"),
            pi.compaction("n", "k", "S", "n"),
        )
    )
    k, n = session.by_id["k"], session.by_id["n"]
    assert (k.head.first_kept, n.head.first_kept) == ("b", "n")
    assert (k.head.cumulative, k.head.replaces) == (False, None)
    assert k.body.summary == "S"
    assert session.reasons == []


def test_a_boundary_that_no_earlier_record_has_is_told(load, pi):
    session = load(pi.session(pi.user("a", None, "A"), pi.compaction("k", "a", "S", "zz")))
    assert session.reasons == [(3, "boundary_unknown")]
    assert session.sent() == ["S"]


def test_messages_that_a_compaction_carries_follow_its_summary_if_they_are_others(load, pi):
    tail = [
        {"role": "user", "content": "Not in the file.", "timestamp": 1},
        pi.assistant("x", None, "", "c1")["message"],
        pi.result("y", None, "c1", "carried")["message"],
    ]
    carried = pi.record("compaction", "k", "a", summary="S", tokensBefore=1, retainedTail=tail)
    session = load(pi.session(pi.user("a", None, "A"), carried, pi.user("b", "k", "B")))
    assert session.sent() == ["S", "Not in the file.", "", "carried", "B"]
    assert session.reasons == [(3, "tail_differs")]
    by_tau = [row["role"] for row in session.replay("tau")["messages"]]
    assert by_tau == ["user", "user", "assistant", "toolResult", "user"]
    assert [row["role"] for row in session.replay("pi")["messages"]] == [
        "compactionSummary",
        "user",
    ]


def test_an_edit_names_its_target_and_its_content(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.record("context_edit", "e", "a", targetId="a", replacement={"content": "A2"}),
            pi.record("context_edit", "f", "e", targetId="zz", replacement=None),
        )
    )
    replaced, left_out = session.by_id["e"], session.by_id["f"]
    assert (replaced.head.targets, replaced.body.content[0].text) == (("a",), "A2")
    assert (left_out.head.targets, left_out.head.cleared) == (("zz",), True)
    assert session.sent() == ["A2"]


def test_a_branch_summary_names_the_branch_that_was_left(load, pi):
    session = load(
        pi.session(
            pi.user("a", None, "A"),
            pi.user("b", "a", "B"),
            pi.record("branch_summary", "s", "a", fromId="b", summary="S", details={"n": 1}),
            pi.record("branch_summary", "t", "a", fromId="a", summary="older releases"),
        )
    )
    assert session.by_id["s"].body.left == "b"
    assert session.by_id["s"].body.details == {"n": 1}
    assert session.by_id["t"].body.left is None


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"type": "mystery_kind", "payload": 1}, "unknown_type"),
        ({"payload": 1}, "unknown_type"),
        ({"type": "message", "message": {"role": "mystery", "content": "x"}}, "misfit"),
        ({"type": "message", "message": None}, "misfit"),
        ({"type": "context_edit", "targetId": "a"}, "misfit"),
    ],
)
def test_a_record_that_is_not_understood_is_a_foreign_entry(load, pi, record, reason):
    foreign = {"id": "f", "parentId": "a", "timestamp": "2026-03-01T09:00:02.000Z", **record}
    session = load(pi.session(pi.user("a", None, "A"), foreign, pi.user("b", "f", "B")))
    event = session.by_id["f"]
    assert (event.head.kind, event.head.parent_id) == ("foreign_recorded", "a")
    assert event.body.value == foreign
    assert session.reasons == [(3, reason)]
    assert session.report.foreign == 1
    assert session.said() == ["A", "B"]


@pytest.mark.parametrize("line", [b"[1,2]", b'"text"', b"5", b"null", b'{"type":"mystery"}'])
def test_a_record_without_an_id_that_is_not_understood_is_a_mark(load, pi, line):
    session = load(pi.session(pi.user("a", None, "A"), line, pi.user("b", "a", "B")))
    event = session.events[1]
    assert (event.head.kind, event.head.entry_id) == ("foreign_recorded", None)
    assert event.body.value == json.loads(line)
    assert session.report.foreign == 1


def test_the_text_of_a_record_that_was_not_read_whole_can_be_had_again(load, pi):
    doubled = pi.dump(pi.user("a", None, "A")).replace(b'"role"', b'"role":"x","role"')
    undecodable = pi.dump(pi.user("b", "a", "B?")).replace(b"?", b"\xff")
    unreadable = b'{"type":"mess\xff'
    session = load(pi.session(doubled, undecodable, unreadable, pi.user("c", "b", "C")))
    texts = [raw_of(event.body, "pi") for event in session.events]
    assert texts == [doubled, undecodable, unreadable + b"\n", None]
    assert session.said() == ["A", "B\ufffd", "C"]


def parsed(line):
    """None for a line that is no JSON."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def test_every_record_of_every_sample_is_made_again_exactly(load, pi_file):
    lines = [parsed(line) for line in pi_file.read_bytes().split(b"\n") if line.strip()]
    session = load(pi_file)
    assert session.records() == lines[1:]
    assert session.started.body.extra["pi"]["header"] == lines[0]
    own = [PI.own(event.body) or {} for event in session.events]
    whole = [o for o in own if "record" in o or "record" in o.get("older", {})]
    assert whole == [], "no record had to be stored twice"
