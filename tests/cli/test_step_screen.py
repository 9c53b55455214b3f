"""`replay --step` in a terminal: keys in, screens out."""

import signal
import subprocess
import sys

import pytest

from tapefold import Sessions

from .conftest import T
from .screens import Terminal

ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202eevil\u202c \x9b31m"


@pytest.fixture
def stepping(environment, tmp_path):
    """Opens the stepping screen of a session."""

    def open_screen(session="talk", *arguments, **how):
        command = ["replay", session, "--step", *arguments]
        return Terminal(command, environment, tmp_path, **how)

    return open_screen


def test_the_first_screen_says_where_one_is_and_what_happened(stepping, talk):
    with stepping() as terminal:
        terminal.wait_for("? help")
        assert terminal.rows[0].startswith("A talk  1 of 9 · ")
        assert terminal.rows[0].endswith(" · view")
        assert terminal.rows[1] == "* session started “A talk” · in /home/user/talk"
        assert terminal.rows[2] == "─" * 80
        assert terminal.quit("q") == 0
        assert terminal.is_given_back()


def test_keys_go_forward_and_back(stepping, talk):
    with stepping() as terminal:
        for key in ("j", "n", " ", "down", "right"):
            terminal.send(key)
        terminal.wait_for("6 of 9")
        assert terminal.rows[1].startswith("○ user on another branch  Another way")
        for key in ("k", "p", "up"):
            terminal.send(key)
        terminal.wait_for("3 of 9")
        terminal.send("left")
        terminal.wait_for("2 of 9")
        assert terminal.rows[0] == "A talk  2 of 9 · 2026-03-02 09:00 · view"
        assert terminal.rows[3:] == [
            "",
            "user  #2 · 2026-03-02 09:00",
            "  How long is it?",
            *[""] * 17,
            terminal.rows[-1],
        ]
        terminal.send("end")
        terminal.wait_for("9 of 9")
        terminal.send("j")
        terminal.wait_for("this is the last event")
        terminal.send("home")
        terminal.wait_for("1 of 9")
        terminal.send("k")
        terminal.wait_for("this is the first event")
        assert terminal.quit("q") == 0


def test_a_result_shows_under_its_call_from_its_event_on(stepping, talk):
    with stepping("talk", "--at", "3") as terminal:
        terminal.wait_for("no result yet")
        terminal.send("j")
        terminal.wait_for("4 of 9")
        assert "✓ tool_result answers measure (c1)  118 cm" in terminal.text
        assert "    │ 118 cm" in terminal.rows
        terminal.send("k")
        terminal.wait_for("no result yet")
        assert terminal.quit("q") == 0
        assert GREEN in terminal.output


@pytest.mark.slow
def test_effects_that_a_reader_does_not_see_are_said(stepping, sessions, talk):
    def back(session):
        return session.move_leaf(talk["question"], reason="again")

    sessions.execute("talk", back)
    with stepping("talk", "--at", "10") as terminal:
        terminal.wait_for("10 of 10")
        assert "leaf moved to" in terminal.rows[1]
        assert "  - 3 messages left with their branch" in terminal.rows[2]
        assert terminal.quit("q") == 0


def test_keys_go_to_the_next_user_message_anchor_and_tool_call(stepping, sessions, talk):
    def more(session):
        session.compact("All was measured.", first_kept=talk["answer"])
        session.finalize("user", "And the height?")

    sessions.execute("talk", more)
    with stepping() as terminal:
        for key, position in (
            ("u", 2), ("t", 3), ("u", 6), ("U", 2), ("a", 10), ("T", 3), ("a", 10), ("u", 11),
            ("A", 10), ("U", 7),
        ):  # fmt: skip
            terminal.send(key)
            terminal.wait_for(f"  {position} of 11")
        terminal.send("A")
        terminal.wait_for("no anchor stands before this")
        terminal.send("end", "t")
        terminal.wait_for("no tool call comes after this")
        assert terminal.quit("q") == 0


def test_one_can_jump_to_a_position(stepping, talk):
    with stepping() as terminal:
        terminal.wait_for("1 of 9")
        terminal.send("g")
        terminal.wait_for("position:")
        terminal.send("8", "enter")
        terminal.wait_for("8 of 9")
        for typed, said in (
            ("99", "the tape has positions 1 to 9"),
            ("x", "a position is a number"),
            ("9" * 300, "a position is a number"),
            ("0", "the tape has positions 1 to 9"),
        ):
            terminal.send(":")
            terminal.wait_for("position:")
            terminal.send(typed, "enter")
            terminal.wait_for(said)
        terminal.send(":")
        terminal.wait_for("position:")
        terminal.send("3", "escape")
        terminal.wait_for(lambda text: "position:" not in text)
        assert "8 of 9" in terminal.text
        assert terminal.quit("q") == 0


def test_view_context_and_raw_are_toggled(stepping, sessions, talk):
    def more(session):
        session.compact("All was measured.", first_kept=talk["answer"])

    sessions.execute("talk", more)
    with stepping("talk", "--at", "10") as terminal:
        terminal.wait_for("· view")
        assert "3 messages hidden from the context by a summary" in terminal.text
        terminal.send("c")
        terminal.wait_for("· context")
        assert "user  summary  #10" in terminal.text
        assert "How long is it?" not in terminal.text
        terminal.send("r")
        terminal.wait_for("· raw")
        assert '  "type": "CompactionAnchored",' in terminal.rows
        terminal.send("v")
        terminal.wait_for("· view")
        terminal.send("pageup")
        terminal.wait_for("How long is it?")
        assert terminal.quit("q") == 0


@pytest.mark.slow
def test_the_help_tells_the_keys_and_goes_away_again(stepping, talk):
    with stepping("talk", "--at", "2") as terminal:
        terminal.wait_for("How long is it?")
        terminal.send("?")
        terminal.wait_for("the next user message")
        assert "How long is it?" not in "\n".join(terminal.rows[3:])
        terminal.send("?")
        terminal.wait_for("  How long is it?")
        terminal.send("?")
        terminal.wait_for("the next user message")
        terminal.send("j")
        terminal.wait_for("3 of 9")
        assert "the next user message" not in terminal.text
        assert terminal.quit("q") == 0


@pytest.mark.slow
def test_what_is_longer_than_the_screen_scrolls(stepping, sessions):
    long = sessions.start("long")
    long.finalize("user", "\n".join(f"line {n}" for n in range(60)), timestamp=T[0])
    sessions.save(long)
    with stepping("long", "--at", "2") as terminal:
        terminal.wait_for("line 0")
        assert "line 30" not in terminal.text
        terminal.send("pagedown")
        terminal.wait_for("line 36")
        terminal.send("w")
        terminal.wait_for("line 37")
        terminal.send("pagedown", "pagedown", "pagedown")
        terminal.wait_for("line 59")
        terminal.send("b")
        terminal.wait_for(lambda text: "line 59" not in text and "line 58" in text)
        terminal.send("pageup", "pageup", "pageup")
        terminal.wait_for("line 0")
        assert terminal.quit("q") == 0


def test_a_terminal_that_changes_its_size_is_filled_anew(stepping, talk):
    with stepping("talk", "--at", "5") as terminal:
        terminal.wait_for("5 of 9")
        terminal.resize(40, 10)
        terminal.wait_for(lambda text: "\n" + "─" * 40 in text and "118 cm." in text)
        assert all(len(row) <= 40 for row in terminal.rows)
        terminal.resize(100, 30)
        terminal.wait_for(lambda text: "─" * 100 in text)
        terminal.send("k")
        terminal.wait_for("4 of 9")
        assert terminal.quit("q") == 0


def test_a_terminal_of_twenty_columns_is_enough(stepping, talk):
    with stepping("talk", columns=20, lines=8) as terminal:
        terminal.wait_for("1 of 9")
        terminal.send("j")
        terminal.wait_for("2 of 9")
        assert terminal.rows[0] == "2 of 9 · 2026-03-02…"
        assert terminal.rows[1] == "+ user  How long is…"
        assert "  How long is it?" in terminal.rows
        terminal.send("end")
        terminal.wait_for("9 of 9")
        assert terminal.quit("q") == 0
        assert terminal.is_given_back()


@pytest.mark.slow
def test_the_smallest_terminals_break_nothing(stepping, talk):
    with stepping("talk", columns=1, lines=1) as terminal:
        for columns, lines in ((1, 1), (3, 2), (20, 1), (5, 4)):
            terminal.resize(columns, lines)
            terminal.send("jjkcrv?", "escape", ":", "4", "enter", "end", "c", "r", "v")
            terminal.resize(40, 10)
            terminal.wait_for("9 of 9")
            terminal.send("home")
            terminal.wait_for("1 of 9")
        assert terminal.quit("q") == 0
        assert terminal.is_given_back()


GREEN = b"\x1b[0;32m"


def test_without_colours_nothing_is_coloured(stepping, talk):
    with stepping("talk", "--at", "3", env={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for("no result yet")
        terminal.quit("q")
        assert GREEN not in terminal.output


def test_stored_text_steers_no_terminal(stepping, sessions):
    hostile = sessions.start(title=f"title {ESCAPES}", session_id="hostile")
    hostile.finalize("user", f"text {ESCAPES}", timestamp=T[0])
    call = {"type": "tool_call", "call_id": f"c{ESCAPES}", "name": f"n{ESCAPES}", "arguments": {}}
    hostile.finalize("assistant", [call], timestamp=T[1])
    hostile.label(hostile.state.leaf, f"label {ESCAPES}")
    hostile.record_custom(namespace=f"ns {ESCAPES}", data={"k": ESCAPES})
    sessions.save(hostile)
    with stepping("hostile") as terminal:
        terminal.wait_for("1 of 5")
        for position in range(2, 6):
            terminal.send("j")
            terminal.wait_for(f"{position} of 5")
            for mode in "crv":
                terminal.send(mode)
                terminal.wait_for({"c": "· context", "r": "· raw", "v": "· view"}[mode])
        assert terminal.quit("q") == 0
        for sent in (b"\x1b]0;", b"\x1b[2J\xe2", b"\xe2\x80\xae", b"\xc2\x9b"):
            assert sent not in terminal.output


@pytest.mark.slow
def test_a_session_that_only_began_is_one_screen(stepping, sessions):
    sessions.start("empty", persist=True)
    with stepping("empty") as terminal:
        terminal.wait_for("1 of 1")
        terminal.send("jkcrv", "u")
        terminal.wait_for("no user message comes after this")
        assert terminal.quit("q") == 0


def test_ctrl_c_ends_with_130_and_gives_the_terminal_back(stepping, talk):
    with stepping() as terminal:
        terminal.wait_for("1 of 9")
        assert terminal.quit("ctrl-c") == 130
        assert terminal.is_given_back()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_a_signal_that_ends_it_gives_the_terminal_back(stepping, talk, number):
    with stepping() as terminal:
        terminal.wait_for("1 of 9")
        terminal.child.kill(number)
        assert terminal.quit() == 128 + number
        assert terminal.is_given_back()


def test_an_error_gives_the_terminal_back_and_is_one_line(stepping, store, talk):
    with stepping() as terminal:
        terminal.wait_for("1 of 9")
        for path in store.parent.glob(store.name + "*"):
            path.write_bytes(b"no store any more" * 4096)
        assert terminal.quit("end") == 1
        assert terminal.is_given_back()
        assert "tapefold: store" in terminal.text
        assert "Traceback" not in terminal.text


@pytest.mark.slow
def test_following_shows_that_there_is_more(stepping, store, talk):
    with stepping("talk", "--at", "9", "--follow") as terminal:
        terminal.wait_for("9 of 9")
        with Sessions(store) as others:
            others.execute("talk", lambda session: session.finalize("user", "One more"))
        terminal.wait_for("9 of 10")
        assert "1 ahead" in terminal.text
        terminal.send("j")
        terminal.wait_for("One more")
        assert terminal.quit("q") == 0


def test_the_library_of_the_screen_is_loaded_by_the_screen_alone(environment, talk):
    code = (
        "import sys; from tapefold.cli.main import main; main(); "
        "print('prompt_toolkit' in sys.modules, file=sys.stderr)"
    )
    for arguments in (["--version"], ["replay", "talk"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=environment,
            capture_output=True,
            check=False,
        )
        assert done.stderr.split() == [b"False"]


@pytest.mark.slow
def test_ten_thousand_events_are_stepped_through(stepping, sessions):
    """Back from the end, a jump and the context, in a session of 10,000 messages."""
    deep = sessions.start("deep")
    for n in range(10_000):
        deep.finalize("user" if n % 2 == 0 else "assistant", f"message {n}", timestamp=T[0])
    sessions.save(deep)
    with stepping("deep") as terminal:
        terminal.send("end")
        terminal.wait_for("10,001 of 10,001")
        for n in range(10_000, 9_900, -1):
            terminal.send("k")
            terminal.wait_for(f"{n:,} of 10,001")
        assert "message 9899" in terminal.text
        terminal.send("c", ":", "77", "enter")
        terminal.wait_for("77 of 10,001")
        assert "message 75" in terminal.text
        assert terminal.quit("q") == 0
