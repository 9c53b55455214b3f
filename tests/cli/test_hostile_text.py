"""What is stored never steers the terminal, and no encoding of the output makes a command fail."""

import json
import os
import pty
import select
import subprocess
import time

import pytest

from tapefold.cli.visible import one_line, visible

from .conftest import PROGRAM

ESC, BELL, BACK, C1, BIDI, DEL = "\x1b", "\x07", "\x08", "\x9b", "\u202e", "\x7f"
FORBIDDEN = (ESC, BELL, BACK, C1, BIDI, DEL, "\u2066", "\u200f", "\u2028", "\x00", "\x85")

HOSTILE = (
    "real\rSPOOFED passwd\b\b\b \x1b[2J\x1b[H\x1b]0;TITLE\x07 \x1b]52;c;aGk=\x07 \x9b31m "
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f \u2028 \x85 \x00 \x7f [red]markup[/red] :smile:"
)


@pytest.fixture
def hostile(sessions):
    """A session with hostile text in every place that takes text."""
    s = sessions.start("hostile", title=f"Fan{HOSTILE}", directory=f"/home/{HOSTILE}")
    question = s.finalize("user", f"Run it. {HOSTILE}\r\nsecond line")
    call = {"type": "tool_call", "call_id": "c1", "name": f"run{HOSTILE}", "arguments": {}}
    call["arguments"] = {f"cmd{HOSTILE}": HOSTILE, "deep": [HOSTILE, 1]}
    thinking = {"type": "thinking", "thinking": HOSTILE}
    odd = {"type": "other", "value": {"type": HOSTILE}}
    image = {"type": "image", "mime_type": HOSTILE, "url": HOSTILE}
    s.finalize("assistant", [thinking, call, odd], model=f"m{HOSTILE}", provider=HOSTILE)
    s.finalize("tool_result", [{"type": "text", "text": HOSTILE}, image], for_call="c1")
    slip = s.finalize("assistant", HOSTILE, error=HOSTILE, status="error")
    s.retract(slip.entry_id, reason=HOSTILE)
    s.label(question.entry_id, HOSTILE)
    s.set_thinking_level(HOSTILE)
    s.summarize_branch(slip.entry_id, HOSTILE)
    s.compact(HOSTILE, first_kept=None)
    s.finalize("user", f"After {HOSTILE}")
    s.finalize("custom", HOSTILE, custom_type=HOSTILE)
    sessions.save(s)
    return "hostile"


COMMANDS = (
    ("view", "hostile"),
    ("view", "hostile", "--full"),
    ("view", "hostile", "--at", "6"),
    ("tree", "hostile"),
    ("tree", "hostile", "--only", "labelled"),
    ("diff", "hostile", "none"),
    ("diff", "hostile", "4"),
    ("tape", "hostile"),
    ("replay", "hostile"),
    ("context", "hostile"),
    ("context", "hostile", "--policy", "full"),
    ("sessions",),
    ("sessions", "--grep", "spoofed"),
    ("append", "hostile", f"again {HOSTILE}"),
    ("fork", "hostile", "--title", HOSTILE),
)


def has_control_characters(text):
    alone = text.replace("\r\n", "")
    return [c for c in (*FORBIDDEN, "\r") if c in alone]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(c)[:24])
def test_no_text_output_holds_a_control_character(run, hostile, command):
    assert has_control_characters(run(*command)) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(c)[:24])
def test_json_output_holds_none_either(run, hostile, command):
    text = run(*command, "--json")
    assert has_control_characters(text) == []
    for line in text.splitlines():
        json.loads(line)


def test_json_output_decodes_to_what_was_stored(run, hostile):
    (after, *_) = json.loads(run("view", hostile, "--json"))["messages"][-2]["content"]
    assert after["text"] == f"After {HOSTILE}"


def test_stored_text_that_looks_like_markup_is_printed_as_it_is(run, hostile):
    for command in ("view", "tree", "context", "replay"):
        assert "[red]markup" in run(command, hostile)


def test_an_import_report_shows_nothing_of_a_hostile_name(program, tmp_path):
    name = tmp_path / "evil\x1b[2J\x07.jsonl"
    name.write_text('{"type":"session"\x1b')
    done = program("import", name)
    assert done.returncode == 1
    assert has_control_characters(done.stdout.decode() + done.stderr.decode()) == []


def test_one_rule_makes_characters_visible():
    assert visible("a\x1bb\x9bc\u202ed") == "a\\x1bb\\x9bc\\u202ed"
    assert visible("half \ud83d, whole 🌱") == "half \ufffd, whole 🌱"
    assert visible("one\r\ntwo\tthree\rfour\n") == "one\ntwo\tthree\\x0dfour\n"
    assert one_line(" one\r\n two\x1b ") == "one two\\x1b"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_encoding_of_the_output_can_print_everything(program, sessions, encoding):
    """A terminal of another time shows escapes; it never ends the program."""
    s = sessions.start("wide", title="Größe 小松菜 🌱 \ud83d")
    s.finalize("user", "小松菜 🌱 Größe \ud83d", entry_id="größe")
    s.finalize("assistant", "…", under="größe")
    s.finalize("user", "side", under="größe")
    sessions.save(s)
    done = program("tree", "wide", env={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert ("\\u5c0f" in text) == (encoding != "utf-8")
    assert ("├─" in text) == (encoding == "utf-8")
    assert ("|-" in text) == (encoding != "utf-8")


def test_an_error_about_wide_text_reaches_a_narrow_encoding(program, talk):
    done = program("view", "小松菜", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert b"\\u5c0f" in done.stderr


# -- on a terminal -------------------------------------------------------------------------------


@pytest.fixture
def terminal(environment, tmp_path):
    """Runs a command on a pseudo-terminal; answers what it shows."""

    def run(*arguments, columns="80", **env):
        parent, child = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=tmp_path,
            env={**environment, "COLUMNS": columns, **env},
            stdin=subprocess.DEVNULL,
            stdout=child,
            stderr=child,
        )
        os.close(child)
        output, until = b"", time.monotonic() + 60
        while time.monotonic() < until:
            ready, _, _ = select.select([parent], [], [], 1)
            if ready:
                try:
                    chunk = os.read(parent, 65536)
                except OSError:  # Linux says so when the other side is closed
                    break
                if not chunk:
                    break
                output += chunk
        os.close(parent)
        assert process.wait(timeout=60) == 0, output
        return output.decode().replace("\r\n", "\n")

    return run


def test_colours_are_ours_alone_and_only_on_a_terminal(terminal, hostile):
    shown = terminal("view", hostile)
    assert "\x1b[1;36muser\x1b[0m" in shown
    rest = shown
    for code in ("0", "1", "2", "1;36", "1;32", "31", "32", "33", "35", "36"):
        rest = rest.replace(f"\x1b[{code}m", "")
    assert has_control_characters(rest) == []


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(terminal, talk, setting):
    assert "\x1b" not in terminal("tree", "talk", **setting)


@pytest.mark.parametrize(
    "command",
    [
        "tree talk",
        "tree talk --only user",
        "diff talk 3",
        "sessions",
        "sessions --grep cm",
        "replay talk",
        "tape talk",
    ],
)
def test_a_terminal_of_20_columns_is_never_overrun(terminal, talk, command):
    for line in terminal(*command.split(), columns="20", NO_COLOR="1").splitlines():
        assert len(line) <= 20, line


def test_a_narrow_terminal_wraps_what_was_said_and_loses_nothing(terminal, sessions):
    words = [f"word{n}" for n in range(60)]
    s = sessions.start("long")
    s.finalize("user", " ".join(words) + " " + "x" * 100)
    sessions.save(s)
    shown = terminal("view", "long", columns="24", NO_COLOR="1")
    lines = [line for line in shown.splitlines() if "word" in line or "xx" in line]
    assert max(map(len, lines)) <= 24
    assert " ".join(lines).split()[:60] == words
    assert sum(line.count("x") for line in lines) == 100


def test_wide_characters_count_as_two_columns(terminal, sessions):
    s = sessions.start("wide")
    s.finalize("user", "小松菜" * 20)
    sessions.save(s)
    lines = terminal("view", "wide", columns="30", NO_COLOR="1").splitlines()
    said = [line.strip() for line in lines if "小" in line or "松" in line]
    assert "".join(said) == "小松菜" * 20
    assert max(map(len, said)) <= 14
