"""`replay --step` where there is no full terminal: prompts and lines."""

import pytest

from .screens import Terminal


def step(run, answers, *arguments, session="talk"):
    return run("replay", session, "--step", *arguments, stdin=answers)


def lines_of(text):
    return [line.rpartition("> ")[2] for line in text.splitlines()]


def test_answers_go_forward_and_back(run, talk):
    said = step(run, "\nn\nb\nq\n")
    lines = lines_of(said)
    assert "session started" in lines[0]
    assert "user  How long is it?" in lines[1]
    assert "assistant  I measure." in lines[2]
    assert "user  How long is it?" in lines[3]
    assert "1 of 9 (? help) > " in said
    assert said.endswith("2 of 9 (? help) > ")


def test_answers_go_to_user_messages_tool_calls_anchors_and_positions(run, talk):
    lines = lines_of(step(run, "u\nt\nu\nT\n8\nu\na\nA\n:2\n"))
    assert [line.split()[0] for line in lines[:6]] == ["1", "2", "3", "6", "3", "8"]
    assert lines[6] == "no user message comes after this"
    assert lines[7] == "no anchor comes after this"
    assert lines[8] == "no anchor stands before this"
    assert lines[9].startswith("    2 ")


def test_the_end_of_the_answers_ends_it(run, talk):
    assert step(run, "").endswith("> \n")


def test_view_context_and_raw_are_printed(run, talk):
    said = step(run, "4\nv\nc\nr\n")
    assert "✓ measure(side=left)" in said
    assert "context of talk" in said
    assert '"type": "MessageFinalized"' in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("99", "the tape has positions 1 to 9"),
        ("0", "this is the first event"),
        ("-1", "not understood"),
        ("9" * 400, "not understood"),
        ("b", "this is the first event"),
        ("9\n\n", "this is the last event"),
        ("?", "the next user message"),
        ("\x1b[A", "not understood"),
    ],
)
def test_what_cannot_be_done_is_said(run, talk, answer, said):
    assert said in step(run, f"{answer}\nq\n")


def test_answers_that_are_no_text_are_not_understood(program, talk):
    done = program("replay", "talk", "--step", stdin=b"\xff\xfe\n\nq\n")
    assert done.returncode == 0
    assert b"not understood" in done.stdout
    assert b"How long is it?" in done.stdout


def test_a_dumb_terminal_has_prompts(environment, tmp_path, talk):
    command = ["replay", "talk", "--step"]
    with Terminal(command, environment, tmp_path, env={"TERM": "dumb"}) as terminal:
        terminal.wait_for("1 of 9 (? help) >")
        terminal.send("u", "enter")
        terminal.wait_for("2 of 9 (? help) >")
        assert "How long is it?" in terminal.text
        assert terminal.quit("q", "enter") == 0
        assert b"\x1b" not in terminal.output


@pytest.mark.slow
def test_ctrl_c_at_a_prompt_ends_with_130(environment, tmp_path, talk):
    command = ["replay", "talk", "--step"]
    with Terminal(command, environment, tmp_path, env={"TERM": ""}) as terminal:
        terminal.wait_for("1 of 9 (? help) >")
        assert terminal.quit("ctrl-c") == 130
        assert "Traceback" not in terminal.text


def test_stored_text_steers_no_terminal(run, sessions):
    hostile = sessions.start("hostile")
    hostile.finalize("user", "text \x1b[2J\u202e")
    sessions.save(hostile)
    said = step(run, "\nv\nc\nr\n", session="hostile")
    assert "\x1b" not in said
    assert "\u202e" not in said


@pytest.mark.slow
def test_following_counts_what_came_meanwhile(environment, tmp_path, sessions, talk):
    command = ["replay", "talk", "--step", "--follow", "--at", "9"]
    with Terminal(command, environment, tmp_path, env={"TERM": "dumb"}) as terminal:
        terminal.wait_for("9 of 9 (? help) >")
        sessions.execute("talk", lambda session: session.finalize("user", "One more"))
        terminal.send("enter")
        terminal.wait_for("9 of 10 (? help) >")
        terminal.send("enter")
        terminal.wait_for("One more")
        assert terminal.quit("q", "enter") == 0
