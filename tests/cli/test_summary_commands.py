"""compact, handoff, reset-summary, and the commands that write summaries, on the command line."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapefold import Sessions

from .conftest import PROGRAM


@pytest.fixture
def long(sessions):
    """Four questions with their answers, at positions 2 to 9; entry ids by position."""
    long = sessions.start("long")
    ids = {}
    for n in range(1, 5):
        ids[2 * n] = long.finalize("user", f"Question {n}").entry_id
        ids[2 * n + 1] = long.finalize("assistant", f"Answer {n}").entry_id
    sessions.save(long)
    return ids


def rows(run_json):
    return [row["content"][0]["text"] for row in run_json("context", "long")["rows"]]


# -- compact -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["argument", "stdin", "file", "command"])
def test_a_summary_takes_the_place_of_what_lies_before(run, run_json, long, tmp_path, how):
    (tmp_path / "summary.txt").write_text("1 to 3\n")
    given = {
        "argument": ["--summary", "1 to 3"],
        "stdin": ["--summary", "-"],
        "file": ["--file", tmp_path / "summary.txt"],
        "command": ["--with", "grep -c Question | sed 's/^/1 to /'"],
    }[how]
    done = run_json("compact", "long", "--keep", "2", *given, stdin="1 to 3\n")
    assert done["first_kept_entry_id"] == long[8]
    assert rows(run_json) == ["1 to 3", "Question 4", "Answer 4"]
    assert len(run_json("view", "long")["messages"]) == 8


def test_the_rows_that_a_summary_stands_for_are_those_that_show_covered_lists(
    run, run_json, sessions, long
):
    """An empty answer is covered, and is no row of the context."""
    sessions.execute("long", lambda s: s.finalize("assistant", "", under=long[9]))
    sessions.execute("long", lambda s: s.finalize("user", "And then?"))
    shown = run_json("compact", "long", "--keep", "1", "--show-covered")["rows"]
    assert len(shown) == 8
    assert "stands for 8 rows" in run("compact", "long", "--keep", "1", "--summary", "All")


def test_what_stays_is_said_by_an_entry_or_a_number(run, run_json, long):
    said = run("compact", "long", "--first-kept", "6", "--summary", "1 and 2")
    assert said.splitlines()[1].split("; ") == [
        "  the summary stands for 4 rows of the context",
        f"what stays begins at {long[6]}",
    ]
    said = run("compact", "long", "--keep", "0", "--summary", "All of it")
    assert "5 rows of the context; nothing before it stays" in said
    assert rows(run_json) == ["All of it"]


def test_what_a_summary_should_cover_is_shown(run, run_json, long):
    run("compact", "long", "--keep", "4", "--summary", "1 and 2")
    shown = run("compact", "long", "--keep", "2", "--show-covered")
    assert shown == (
        "[summary #10]\n1 and 2\n\n[user #6]\nQuestion 3\n\n[assistant #7]\nAnswer 3\n"
    )
    shape = run_json("compact", "long", "--keep", "2", "--show-covered")
    assert (shape["kept_entry_id"], shape["moved"], shape["position"]) == (long[8], False, 10)
    assert shape["text"] == shown.rstrip("\n")
    assert run_json("view", "long")["position"] == 10


def test_a_boundary_that_would_split_a_call_is_moved_back_and_that_is_said(run, run_json, talk):
    run("branch", "talk", talk["answer"])
    shape = run_json("compact", "talk", "--keep", "2", "--show-covered")
    assert (shape["kept_entry_id"], shape["moved"]) == (talk["call"], True)
    said = run("compact", "talk", "--keep", "2", "--summary", "S")
    assert f"what stays begins at {talk['call']}" in said
    assert "the boundary was moved back" in said


def test_nothing_to_cover_is_refused(run, long):
    for what in (["--keep", "8"], ["--keep", "99"], ["--first-kept", "2"]):
        said = run("compact", "long", *what, "--summary", "S", code=1)
        assert "nothing lies before the boundary" in said


def test_a_summary_of_what_has_changed_since_is_refused(run, run_json, long):
    run("revise", "long", "2", "Question one")
    how = ("compact", "long", "--keep", "2", "--summary", "S", "--made-at", "9")
    assert "changed after position 9" in run(*how, code=1)
    assert run_json("view", "long")["position"] == 10


def test_what_stays_is_counted_where_the_summary_was_made(run, run_json, long):
    """Else a message that came meanwhile would push one out that the summary does not tell of."""
    run("append", "long", "Meanwhile")
    done = run_json("compact", "long", "--keep", "2", "--summary", "1 to 3", "--made-at", "9")
    assert done["first_kept_entry_id"] == long[8]
    assert rows(run_json) == ["1 to 3", "Question 4", "Answer 4", "Meanwhile"]


def test_compacting_again_is_refused_for_there_is_nothing_new(run, long):
    run("compact", "long", "--keep", "2", "--summary", "S")
    said = run("compact", "long", "--keep", "2", "--summary", "S", code=1)
    assert "nothing lies before the boundary" in said


def test_a_reset_makes_the_context_whole_again(run, run_json, long):
    run("compact", "long", "--keep", "0", "--summary", "S")
    assert run("reset-summary", "long", "--reason", "too short").startswith("position 11, entry ")
    assert len(rows(run_json)) == 8


@pytest.mark.parametrize(
    "arguments",
    [
        ("--summary", "S"),
        ("--keep", "2"),
        ("--keep", "-1", "--summary", "S"),
        ("--keep", "2", "--first-kept", "4", "--summary", "S"),
        ("--keep", "2", "--summary", "S", "--with", "cat"),
        ("--keep", "2", "--summary", "S", "--show-covered"),
        ("--keep", "2", "--with", "cat", "--made-at", "9"),
        ("--keep", "2", "--summary", ""),
    ],
)
def test_what_makes_no_sense_is_wrong_use(run, long, arguments):
    run("compact", "long", *arguments, code=2)


# -- handoff -------------------------------------------------------------------------------------


def test_a_conversation_is_handed_on(run, run_json, long, tmp_path):
    state = tmp_path / "state.json"
    state.write_text('{"next": "question 5"}')
    done = run_json("handoff", "long", "All is asked.", "--name", "night", "--json-state", state)
    assert rows(run_json) == ["All is asked."]
    fields = run_json("show", "long", done["entry_id"])["versions"][0]["fields"]
    assert (fields["name"], fields["state"]) == ("handoff/night", {"next": "question 5"})


def test_a_hand_off_keeps_what_it_is_told_to_and_what_is_unfinished(run, run_json, long):
    run("handoff", "long", "-", "--first-kept", "8", stdin="1 to 3\n")
    assert rows(run_json) == ["1 to 3", "Question 4", "Answer 4"]
    blocks = '[{"type": "tool_call", "call_id": "c", "name": "look"}]'
    asked = run_json(
        *("append", "long", "--role", "assistant", "--under", "10", "--json-content", "-"),
        stdin=blocks,
    )
    said = run("handoff", "long", "Look!")
    assert "the boundary was moved back" in said
    assert asked["entry_id"] in said


# -- a command that writes the summary -----------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("false", "failed with exit code 1"),
        ("echo half; exit 3", "failed with exit code 3"),
        ("no-such-program", "failed with exit code 127"),
        ("true", "gave an empty answer"),
        ("echo; echo '  '", "gave an empty answer"),
        ("printf 'a\\377'", "not UTF-8 (byte 2 is 0xff)"),
        ("kill -KILL $$", "was ended by SIGKILL"),
        ("sh -c 'kill -TERM $$'", "was ended by SIGTERM"),
        ("yes", "more than 1,000,000 bytes"),
        ("a\0b", "NUL"),
    ],
)
@pytest.mark.parametrize("noun", ["compact", "branch"])
def test_an_answer_that_cannot_be_used_writes_nothing(run, run_json, long, noun, command, said):
    what = ["compact", "long", "--keep", "2"] if noun == "compact" else ["branch", "long", "2"]
    line = run(*what, "--with", command, code=1)
    assert said in line
    assert line.endswith("; nothing was written\n")
    assert line.count("\n") == 1
    assert run_json("view", "long")["position"] == 9


def test_a_command_need_not_read_all(run, run_json, sessions, long):
    """A text that is longer than any pipe holds."""
    sessions.execute("long", lambda s: s.finalize("user", "x" * 500_000))
    run("compact", "long", "--keep", "1", "--with", "echo short")
    run("branch", "long", "2", "--with", "head -c 20")
    assert rows(run_json)[-1].startswith("[summary #11]")


def test_while_the_command_runs_others_write(run, run_json, long, store):
    """The store is not locked; what comes meanwhile lies behind the boundary, and stays."""
    append = meanwhile(store, "append long Meanwhile", "1 to 3")
    run("compact", "long", "--keep", "2", "--with", append)
    assert rows(run_json) == ["1 to 3", "Question 4", "Answer 4", "Meanwhile"]


@pytest.mark.parametrize(
    ("other", "what", "said"),
    [
        ("append long More", "branch long 2", "what is left has changed after position 9"),
        pytest.param(
            "retract long 3",
            "compact long --keep 2",
            "changed after position 9",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "branch long 2",
            "compact long --keep 0",
            "the leaf was moved after",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "branch long 5",
            "branch long 2",
            "what is left has changed after position 9",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_summary_that_is_stale_when_it_comes_is_refused(
    run, run_json, long, store, other, what, said
):
    line = run(*what.split(), "--with", meanwhile(store, other, "S"), code=1)
    assert said in line
    assert line.count("\n") == 1
    assert run_json("view", "long")["position"] == 10


def meanwhile(store, command, answer):
    """A command of the shell that runs another one of ours, then answers."""
    program = f"TAPEFOLD_DB={shlex.quote(str(store))} {shlex.quote(PROGRAM)}"
    return f"{program} {command} >/dev/null && echo {answer}"


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_signal_ends_the_command_and_writes_nothing(environment, store, tmp_path, long, number):
    """The command's own children too."""
    pids = tmp_path / "pids"
    asked = f"sleep 600 & echo $$ $! > {shlex.quote(str(pids))}; wait"
    process = subprocess.Popen(
        [PROGRAM, "compact", "long", "--keep", "0", "--with", asked],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not (pids.exists() and pids.read_text().endswith("\n")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (128 + number, b"", b"")
    for pid in pids.read_text().split():
        assert is_gone(int(pid))
    with Sessions(store) as sessions:
        assert sessions.state("long").position == 9


def is_gone(pid):
    """Whether a process has ended; nobody may have asked for its exit code yet."""
    stat = Path(f"/proc/{pid}/stat")
    if sys.platform != "linux":
        return subprocess.run(["ps", "-p", str(pid)], check=False).returncode != 0
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_where_no_summary_rules_there_is_nothing_to_reset(run, run_json, long):
    assert "no summary rules" in run("reset-summary", "long", code=1)
    run("compact", "long", "--keep", "2", "--summary", "1 to 3")
    first = run_json("reset-summary", "long", "--key", "k")
    again = run_json("reset-summary", "long", "--key", "k")
    assert (again["position"], again["changed"]) == (first["position"], False)
    assert "nothing was written" in run("reset-summary", "long", "--key", "other", code=1)
    assert run_json("tape", "long")[-1]["position"] == first["position"]
