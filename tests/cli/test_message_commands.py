"""append, revise, retract, restore, show: messages, through the command line."""

import json

import pytest

from .conftest import T

CALL = {"type": "tool_call", "call_id": "c9", "name": "measure", "arguments": {"side": "right"}}


def texts(run_json, *options):
    """What the messages say at the leaf; calls by name."""
    shown = run_json("view", "talk", *options)["messages"]
    return [" ".join(b.get("text") or b["name"] for b in m["content"]) for m in shown]


# -- append --------------------------------------------------------------------------------------


def test_an_answer_says_which_model_gave_it(run, run_json, talk):
    run(*"append talk 119 --role assistant --under 5 --model m-2 --provider q".split())
    last = run_json("view", "talk", "--leaf", "none")["position"]
    (event,) = [json.loads(line) for line in run("tape", "talk", "--json").splitlines()[last - 1 :]]
    assert (event["fields"]["model"], event["fields"]["provider"]) == ("m-2", "q")


def test_a_delivery_with_a_key_is_appended_once(run, run_json, talk):
    first = run_json("append", "talk", "Once", "--key", "k")
    again = run_json("append", "talk", "Once", "--key", "k")
    assert (again["position"], again["entry_id"]) == (first["position"], first["entry_id"])
    assert (first["changed"], again["changed"]) == (True, False)
    assert run("append", "talk", "Once", "--key", "k").startswith("nothing changed: position 10")
    assert "'k' already names" in run("append", "talk", "Twice", "--key", "k", code=1)
    run("fork", "talk", "--id", "child")
    said = run("append", "child", "Once", "--key", "k")
    assert said.startswith("nothing changed: position 10 of talk, entry ")


def test_whole_content_comes_from_json(run, run_json, talk, tmp_path):
    blocks = tmp_path / "blocks.json"
    blocks.write_text(json.dumps([{"type": "text", "text": "I look."}, CALL]))
    asked = run_json(
        *("append", "talk", "--role", "assistant", "--under", talk["answer"]),
        *("--json-content", blocks),
    )
    answer = ("append", "talk", "9 cm", "--role", "tool_result", "--call", "c9", "--error")
    assert "no message on the path made the call 'c9'" in run(*answer, code=1)
    run(*answer, "--of", asked["entry_id"])
    call = run_json("show", "talk", asked["entry_id"])["calls"][0]
    assert (call["status"], call["result"]["content"][0]["text"]) == ("error", "9 cm")


def test_what_hangs_beside_the_path_says_that_the_leaf_stays(run, run_json, talk):
    said = run("append", "talk", "Aside", "--under", talk["question"])
    assert f"beside the path: the leaf is still {talk['slip']}" in said
    assert run_json("append", "talk", "On")["leaf"] != talk["slip"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--role", "user", "--model", "m"),
        ("--role", "user", "--call", "c1"),
        ("--role", "user", "--error"),
        ("--role", "tool_result"),
        ("--role", "tool_result", "--call", "c1", "--model", "m"),
        ("--json-content", "-"),
        ("--of", "3"),
    ],
)
def test_what_a_role_does_not_have_is_wrong_use(run, talk, arguments):
    run("append", "talk", "hi", *arguments, code=2)


def test_a_second_result_of_a_call_is_kept_and_warned_of(run, run_json, talk):
    second = ("append", "talk", "119 cm", "--role", "tool_result", "--call", "c1")
    assert "! its call has a result already" in run(*second)
    (warning,) = run_json(*second)["warnings"]
    assert warning["code"] == "duplicate_result"
    run("branch", "talk", talk["call"])
    assert run_json(*second)["warnings"] == []  # on that branch it is the first


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{broken", "is not JSON (line 1, column 2)"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("5", "standard input is no list of blocks"),
        ('{"type": "text", "text": "a"}', "is no list of blocks"),
        ('"a"', "is no list of blocks"),
        ('["a"]', "block 1 is no object"),
        ('[{"type": "text", "text": "a"}, {"type": "txt"}]', "block 2 has the type 'txt'; the ty"),
        ('[{"type": ["text"]}]', "text, thinking, image, file, tool_call, other"),
        ('[{"type": "text"}]', "text block"),
        ('[{"type": "text", "text": "a", "txet": 1}]', "txet"),
    ],
)
def test_content_that_is_none_is_refused(run, talk, content, said):
    assert said in run("append", "talk", "--json-content", "-", stdin=content, code=1)
    assert len(run("tape", "talk").splitlines()) == 9


def test_a_block_of_another_type_has_to_be_meant(run, run_json, talk):
    blocks = [{"type": "other", "value": {"type": "video", "of": "wrens"}}]
    run("append", "talk", "--json-content", "-", stdin=json.dumps(blocks))
    assert run_json("view", "talk")["messages"][-1]["content"] == blocks


# -- revise --------------------------------------------------------------------------------------


def test_a_revision_replaces_the_text_and_keeps_all_else(run, run_json, talk):
    said = run("revise", "talk", talk["call"], "I measure it.", "--reason", "clearer")
    assert said.splitlines() == [
        f"position 10, entry {talk['call']}",
        "  its text is replaced; kept: 1 tool call block",
    ]
    message = run_json("view", "talk", "--leaf", talk["answer"])["messages"][1]
    assert [block["type"] for block in message["content"]] == ["text", "tool_call"]
    assert message["content"][0]["text"] == "I measure it."
    assert (message["model"], message["provider"], message["usage"]) == ("m-1", "p", {"input": 3})
    assert message["calls"][0]["status"] == "success"


def test_text_for_a_message_of_calls_alone_stands_in_front_of_them(run, run_json, talk):
    run("revise", "talk", "3", "--json-content", "-", stdin=json.dumps([CALL, CALL]))
    run("revise", "talk", "3", "Now I say something.")
    message = run_json("view", "talk", "--leaf", talk["answer"])["messages"][1]
    assert [b["type"] for b in message["content"]] == ["text", "tool_call", "tool_call"]


def test_the_same_text_again_changes_nothing(run, talk):
    said = run("revise", "talk", "2", "How long is it?")
    assert said == f"nothing changed: position 2, entry {talk['question']}\n"


def test_a_revision_below_a_summary_resets_it_unless_it_is_kept(run, talk):
    run("branch", "talk", talk["answer"])
    run("compact", "talk", "--first-kept", talk["answer"], "--summary", "S")
    assert "the summary covered what changed" in run("revise", "talk", "2", "How wide?")
    run("compact", "talk", "--first-kept", talk["answer"], "--summary", "S")
    kept = run("revise", "talk", "2", "How deep?", "--keep-summary")
    assert "the summary covered" not in kept


@pytest.mark.parametrize(
    ("entry", "said"),
    [("slip", "is struck out; restore it first"), ("none", "is the root"), ("zzz", "no entry")],
)
def test_what_cannot_be_revised_says_why(run, talk, entry, said):
    assert said in run("revise", "talk", talk.get(entry, entry), "x", code=1)


def test_an_entry_that_is_no_message_is_named_with_its_kind(run, run_json, talk):
    entry = run_json("model", "talk", "m-2")["entry_id"]
    for command in (["revise", "talk", entry, "x"], ["restore", "talk", entry]):
        assert f"entry '{entry}' is no message but a model" in run(*command, code=1)
    assert "is no message" in run("retract", "talk", entry, code=1)
    assert "position 8 is Retracted" in run("restore", "talk", "8", code=1)


# -- retract, restore ----------------------------------------------------------------------------


def test_one_message_is_struck_out_and_shown_again(run, run_json, talk):
    run("branch", "talk", talk["answer"])
    said = run("retract", "talk", talk["answer"], "--reason", "wrong")
    assert said.splitlines() == [
        f"position 11, entry {talk['answer']}",
        f"  struck out: 1 message ({talk['answer']})",
    ]
    assert "118 cm." not in texts(run_json)
    assert run("retract", "talk", talk["answer"]).startswith("nothing changed")
    assert run("restore", "talk", talk["answer"]) == f"position 12, entry {talk['answer']}\n"
    assert texts(run_json)[-1] == "118 cm."
    assert "is not struck out" in run("restore", "talk", talk["answer"], code=1)


def test_all_messages_from_one_on_are_struck_out(run, run_json, talk):
    run("branch", "talk", talk["answer"])
    struck = run_json("retract", "talk", "--from", talk["call"])["struck"]
    assert struck == [talk["call"], talk["result"], talk["answer"]]
    assert texts(run_json) == ["How long is it?"]
    assert "not on the path" in run("retract", "talk", "--from", talk["side"], code=1)


def test_several_messages_are_struck_out_at_once(run_json, talk):
    struck = run_json("retract", "talk", talk["side"], talk["answer"])
    assert struck["struck"] == [talk["side"], talk["answer"]]
    assert run_json("retract", "talk", talk["side"])["struck"] == []


@pytest.mark.parametrize("arguments", [(), ("5", "--from", "5")])
def test_a_retraction_names_messages_or_where_to_begin(run, talk, arguments):
    run("retract", "talk", *arguments, code=2)


# -- show ----------------------------------------------------------------------------------------


def test_an_entry_is_shown_whole(run, talk):
    run("revise", "talk", talk["call"], "I measure it.", "--reason", "clearer")
    said = run("show", "talk", talk["call"])
    assert said.startswith(f"{talk['call']}  assistant\n")
    for part in (
        "version 1 of 2 · MessageFinalized · #3 · ",
        "version 2 of 2 · MessageRevised · #10 · ",
        "· sent  shows",
        "I measure.",
        "I measure it.",
        "reason: clearer",
        'usage: {"input": 3}',
        "✓ measure(side=left)",
        "118 cm",
    ):
        assert part in said, said


def test_the_marks_about_an_entry_are_shown(run, run_json, talk):
    said = run("show", "talk", talk["answer"])
    assert "label [the length]" in said
    assert "Labelled · #9" in said
    shown = run_json("show", "talk", talk["slip"])
    assert (shown["struck"], shown["wins"], shown["label"]) == (True, None, None)
    assert [mark["type"] for mark in shown["marks"]] == ["Retracted"]
    assert "struck out" in run("show", "talk", talk["slip"])


def test_the_shape_of_show(run_json, talk):
    shown = run_json("show", "talk", "3")
    assert (
        list(shown)
        == (
            "session_id entry_id parent_id position kind stands_for message_id role label struck "
            "on_path children versions wins calls marks"
        ).split()
    )
    assert (shown["entry_id"], shown["parent_id"]) == (talk["call"], talk["question"])
    assert (shown["on_path"], shown["children"]) == (True, [talk["result"]])
    assert (shown["wins"], len(shown["versions"])) == (0, 1)
    assert shown["versions"][0]["timestamp"] == T[1]
    assert shown["calls"][0]["result"]["entry_id"] == talk["result"]


def test_beside_the_path_the_calls_are_those_of_the_newest_branch(run, run_json, talk):
    run("branch", "talk", talk["side"])
    shown = run_json("show", "talk", talk["call"])
    assert shown["on_path"] is False
    assert shown["calls"][0]["result"]["entry_id"] == talk["result"]
    assert "beside the path" in run("show", "talk", talk["call"])


def test_a_mark_is_shown_by_its_position(run, run_json, talk):
    said = run("show", "talk", "8")
    assert said.startswith("Retracted · #8 · ")
    assert f'targets: ["{talk["slip"]}"]' in said
    shown = run_json("show", "talk", "#9")
    assert (shown["kind"], shown["event"]["type"]) == ("mark", "Labelled")
    assert "positions 1 to 9" in run("show", "talk", "10", code=1)
    assert "is the root" in run("show", "talk", "none", code=1)


def test_raw_is_what_the_tape_says(run, talk):
    run("revise", "talk", "2", "How long?")
    tape = run("tape", "talk", "--json").splitlines()
    assert run("show", "talk", talk["question"], "--raw").splitlines() == [tape[1], tape[9]]
    assert run("show", "talk", "8", "--raw").splitlines() == [tape[7]]


def test_an_inherited_entry_is_shown_with_what_the_fork_did_to_it(run, run_json, talk):
    run("fork", "talk", "--id", "child")
    run("revise", "talk", "2", "Not in the fork")
    run("revise", "child", talk["question"], "In the fork")
    shown = run_json("show", "child", talk["question"])
    versions = [(v["session_id"], v["position"]) for v in shown["versions"]]
    assert versions == [("talk", 2), ("child", 2)]
    assert (shown["session_id"], shown["position"], shown["wins"]) == ("talk", 2, 1)
    assert "position 2 of talk (inherited)" in run("show", "child", talk["question"])


def test_an_entry_as_it_was_at_a_past_position(run_json, talk):
    assert run_json("show", "talk", talk["slip"], "--at", "7")["struck"] is False
    assert run_json("show", "talk", talk["slip"])["struck"] is True


def test_digits_that_are_an_id_and_no_position_say_how_the_id_is_written(run, sessions, talk):
    sessions.execute("talk", lambda s: s.finalize("user", "7 o'clock", entry_id="45817061"))
    said = run("show", "talk", "45817061", code=1)
    assert "there is no position 45817061; the entry with that id is written @45817061" in said
    assert "7 o'clock" in run("show", "talk", "@45817061")
