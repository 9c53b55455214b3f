"""The blocks and the role under which a model is sent a message."""

import pytest

from tapefold.domain.content import content_json, plain_text
from tapefold.testing import Tape, said

THOUGHT = {"type": "thinking", "thinking": "Oak?", "signature": "sig"}
CALL = {"type": "tool_call", "call_id": "c", "name": "saw"}


def sent(content, role="assistant", **fields):
    """The blocks of the one message, as they are sent, by type."""
    tape = Tape()
    tape.message(role, content, **fields)
    return [[block.TYPE for block in row.content] for row in tape.context().rows]


def test_empty_text_blocks_are_dropped():
    assert sent(["", "Oak.", " \n"]) == [["text"]]
    assert sent(["", {"type": "image", "url": "x"}], "user") == [["image"]]


@pytest.mark.parametrize("content", [[], [""], ["  ", "\n"]])
def test_a_message_of_nothing_is_left_out(content, why):
    tape = Tape()
    tape.user(content, id="u")
    assert said(tape.context()) == []
    assert why(tape.context()) == {"u": "empty"}


@pytest.mark.parametrize(
    ("block", "stays"),
    [
        ({"type": "thinking", "thinking": "Oak?"}, True),
        ({"type": "thinking", "thinking": "", "signature": "sig"}, True),
        ({"type": "thinking", "thinking": "", "signature": "sig", "redacted": True}, True),
        ({"type": "thinking", "thinking": ""}, False),
        ({"type": "thinking", "thinking": " ", "signature": ""}, False),
    ],
    ids=["unsigned", "signed", "redacted", "hollow", "hollow with an empty signature"],
)
def test_hollow_reasoning_is_dropped(block, stays):
    """Without text and signature there is nothing in it, and providers refuse it."""
    assert sent([block, "Oak."]) == [["thinking", "text"] if stays else ["text"]]


def test_reasoning_stays_byte_for_byte():
    tape = Tape()
    block = {
        "type": "thinking",
        "thinking": " Oak?\n",
        "signature": "s\u00e9==\n",
        "redacted": True,
    }
    tape.assistant([block, "Oak."])
    assert content_json(tape.context().rows[0].content)[0] == block


@pytest.mark.parametrize("next_model", [("oak-3", "forest"), ("oak-2", "meadow"), ("x", "y")])
def test_reasoning_of_another_model_is_dropped(next_model):
    tape = Tape()
    tape.assistant([THOUGHT, "Oak."], model="oak-2", provider="forest")
    assert len(tape.context().rows[0].content) == 2
    tape.model(*next_model)
    assert said(tape.context()) == ["assistant: Oak."]


def test_reasoning_stays_while_the_same_model_is_asked():
    tape = Tape()
    tape.assistant([THOUGHT, "Oak."], model="oak-2", provider="forest")
    tape.model("oak-2")
    tape.user("Glue?")
    assert len(tape.context().rows[0].content) == 2


def test_reasoning_of_a_writer_that_is_not_known_stays():
    tape = Tape()
    tape.assistant([THOUGHT, "Oak."])
    tape.model("oak-2", "forest")
    assert len(tape.context().rows[0].content) == 2


@pytest.mark.parametrize("unknown", ["model", "provider"])
def test_the_writer_unknown_is_no_other_writer(unknown):
    """Tau fills in "unknown" where the model or provider was not given."""
    tape = Tape()
    tape.assistant([THOUGHT, "Oak."], **{unknown: "unknown"})
    tape.model("oak-2", "forest")
    assert len(tape.context().rows[0].content) == 2


def test_a_message_of_nothing_but_reasoning_is_left_out(why):
    tape = Tape()
    tape.assistant([THOUGHT], id="a")
    tape.assistant([THOUGHT, " "], id="b")
    assert said(tape.context()) == []
    assert why(tape.context()) == {"a": "reasoning_only", "b": "reasoning_only"}


def test_reasoning_before_a_call_is_sent_with_it():
    tape = Tape()
    tape.assistant([THOUGHT, CALL])
    assert said(tape.context()) == ["assistant: [thinking] saw(c)", "synthetic: interrupted"]


def test_the_view_and_the_tape_keep_all_blocks():
    tape = Tape()
    tape.assistant(["", {"type": "thinking", "thinking": ""}, "Oak."])
    assert len(tape.view().messages[0].content) == 3


def test_a_call_in_a_message_that_cannot_call_is_dropped():
    assert sent([CALL, "Hi"], "user") == [["text"]]
    assert sent([CALL], "user") == []


def test_unknown_blocks_files_and_images_are_sent():
    blocks = [
        {"type": "hologram"},
        {"type": "image", "url": "x"},
        {"type": "file", "name": "a.txt"},
    ]
    assert sent(blocks) == [["other", "image", "file"]]


@pytest.mark.parametrize(
    ("role", "as_role"),
    [
        ("user", "user"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("custom", "user"),
        ("bash_execution", "user"),
    ],
)
def test_a_model_knows_fewer_roles_than_a_tape(role, as_role):
    tape = Tape()
    tape.message(role, "Hi", details={"command": "ls"})
    assert [row.role for row in tape.context().rows] == [as_role]


def test_a_message_that_users_do_not_see_is_sent():
    tape = Tape()
    tape.message("custom", "Be brief", custom_type="hint", display=False)
    assert said(tape.context()) == ["user: Be brief"]


def test_a_failed_message_is_sent_with_what_it_says():
    tape = Tape()
    tape.assistant("Half an ans", status="error", error="cut off")
    tape.assistant("", status="error", error="overloaded")
    assert said(tape.context()) == ["assistant: Half an ans"]


def test_a_draft_is_not_sent():
    tape = Tape()
    tape.user("Wood?")
    tape.draft("Oa")
    assert said(tape.context()) == ["user: Wood?"]


# -- shell commands -------------------------------------------------------------------------------


def bash(output="", **details):
    tape = Tape()
    tape.message("bash_execution", output, details=details)
    return [plain_text(row.content) for row in tape.context().rows]


def test_a_shell_command_is_told_with_its_output():
    assert bash("a.txt\nb.txt", command="ls") == ["Ran `ls`\n```\na.txt\nb.txt\n```"]


def test_a_shell_command_without_output_says_so():
    assert bash(command="true", exit_code=0) == ["Ran `true`\n(no output)"]


def test_how_a_shell_command_ended_is_told():
    assert bash("x", command="false", exit_code=1)[0].endswith("Command exited with code 1")
    assert bash("x", command="sleep 9", cancelled=True, exit_code=130)[0].endswith(
        "(command cancelled)"
    )


def test_output_that_was_cut_names_the_file_with_all_of_it():
    told = bash("x", command="cat", truncated=True, full_output_path="/tmp/all.txt")[0]
    assert told.endswith("/tmp/all.txt")


def test_a_shell_command_that_is_excluded_is_not_sent():
    assert bash("x", command="env", exclude_from_context=True) == []
    assert bash("x", command="env", exclude_from_context=False) != []


def test_output_with_fences_does_not_end_its_fence():
    told = bash("```\nnow I speak\n```", command="cat notes.md")[0]
    fence = told.split("\n")[1]
    assert fence not in "```\nnow I speak\n```".split("\n")
    assert told.endswith(f"\n{fence}")


@pytest.mark.parametrize("details", [None, "text", ["list"], 7, {"command": None}, {"command": 7}])
def test_odd_details_of_a_shell_command_are_no_crash(details):
    tape = Tape()
    tape.message("bash_execution", "out", details=details)
    assert "out" in said(tape.context())[0]
