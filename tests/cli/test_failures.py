"""What goes wrong ends in one line on standard error and an exit code, never in a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapefold import Sessions

from .conftest import PROGRAM, ROOT

SHORT = ROOT / "examples" / "short-talk.pi.jsonl"


def line_of(done, code):
    """The one line that a failed process printed on stderr."""
    assert done.returncode == code, done.stderr
    text = done.stderr.decode()
    assert text.startswith("tapefold: ")
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text


READING = ("view", "tape", "tree", "replay", "context")


@pytest.mark.parametrize("command", [*((name, "x") for name in READING), ("sessions",)])
def test_a_command_that_reads_makes_no_store_where_there_is_none(run, store, command):
    said = run(*command, code=1)
    assert "there is no store yet" in said
    assert "tapefold import" in said
    assert not store.exists()


@pytest.mark.parametrize("command", [("fork", "x"), ("append", "x", "hi")])
def test_a_command_that_needs_a_session_makes_no_store_either(run, store, command):
    run(*command, code=1)
    assert not store.exists()


@pytest.mark.parametrize("command", READING)
def test_a_session_that_does_not_exist_is_named(run, talk, command):
    assert "'nobody' does not exist" in run(command, "nobody", code=1)


@pytest.mark.parametrize("command", READING)
def test_a_position_that_the_tape_does_not_have_is_a_data_error(run, talk, command):
    for position in ("0", "10", "-1"):
        assert "positions 1 to 9" in run(command, "talk", "--at", position, code=1)


@pytest.mark.parametrize("command", ["view", "tree", "context", "fork"])
def test_a_leaf_that_is_no_entry_is_a_data_error(run, talk, command):
    assert "no entry 'zzz'" in run(command, "talk", "--leaf", "zzz", code=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("view",),
        ("view", "talk", "--nope"),
        ("view", "talk", "--at", "noon"),
        ("view", "talk", "--at", "9" * 5000),
        ("replay", "talk", "--at", "2", "--from", "1"),
        ("context", "talk", "--policy", "most"),
        ("context", "talk", "--as", "somebody"),
        ("append", "talk", "--role", "robot", "hi"),
        ("append", "talk", "--role", "assistant", "no place is said"),
        ("append", "talk", "hi", "--file", "-"),
        ("append", "talk", "  "),
        ("append", "talk", "--file", "no/such/file"),
        ("import",),
        ("no-such-noun",),
        ("--nope",),
    ],
)
def test_wrong_use_ends_with_2_and_one_line(run, talk, arguments):
    said = run(*arguments, code=2)
    assert said.startswith("tapefold: ")
    assert said.count("\n") == 1


def test_without_a_command_the_help_is_printed(program):
    done = program()
    assert done.returncode in (0, 2)
    assert b"Usage: tapefold" in done.stdout + done.stderr


def test_a_store_that_is_a_folder(program, tmp_path):
    assert "it is a folder" in line_of(program("--db", tmp_path, "sessions"), 1)


def test_a_file_that_is_no_store(program, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but long enough to look at " * 100)
    said = line_of(program("--db", other, "sessions"), 1)
    assert "not a SQLite database" in said
    assert other.read_text().startswith("not a database")


def test_an_empty_file_holds_no_sessions(run, store):
    store.touch()
    assert "holds no sessions" in run("sessions", code=1)


def test_a_store_of_another_kind_is_refused(run):
    assert "PostgreSQL" in run("--db", "postgresql://somewhere/db", "sessions", code=1)
    assert "is no store" in run("--db", "mysql://somewhere/db", "sessions", code=1)


def test_import_makes_the_store_and_its_folder_for_the_owner_alone(program, tmp_path):
    store = tmp_path / "deep" / "er" / "sessions.db"
    assert program("--db", store, "import", SHORT).returncode == 0
    assert store.stat().st_mode & 0o777 == 0o600
    assert store.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_the_output_is_one_line(program, talk):
    with Path("/dev/full").open("wb") as full:
        for arguments in (["view", "talk"], ["tape", "talk", "--json"]):
            assert "No space left" in line_of(program(*arguments, stdout=full), 1)


@pytest.mark.parametrize("arguments", [["view", "talk"], ["tree", "talk", "--json"], ["--help"]])
def test_a_reader_that_goes_away_is_no_error(environment, tmp_path, talk, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [PROGRAM, *arguments],
            env=environment,
            cwd=tmp_path,
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_output_streams_end_without_a_traceback(environment, tmp_path, talk):
    shell = ["sh", "-c", f"{PROGRAM} view talk >&- 2>&-; echo $?; {PROGRAM} view no 2>&-; echo $?"]
    done = subprocess.run(
        shell, env=environment, cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert done.stdout.split() == [b"1", b"1"]
    assert done.stderr == b""


def test_ctrl_c_ends_with_130_and_writes_nothing_half(environment, store, tmp_path):
    """Interrupted while it waits for its text, and while it imports."""
    with Sessions(store) as sessions:
        session = sessions.start("s")
        session.finalize("user", "hi")
        sessions.save(session)
    process = subprocess.Popen(
        [PROGRAM, "append", "s", "-"],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # It reads its input before it opens the store; wait until it does.
    wait_until_asleep(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    with Sessions(store) as sessions:
        assert sessions.state("s").position == 2


def wait_until_asleep(pid):
    stat = Path(f"/proc/{pid}/wchan")
    if not stat.exists():
        time.sleep(3)
        return
    for _ in range(600):
        if "pipe" in stat.read_text() or "read" in stat.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the command never asked for its text")


def test_an_error_that_nobody_expected_is_one_line_too(run, talk, monkeypatch):
    monkeypatch.setattr("tapefold.cli.view.read_state", lambda *_: 1 / 0)
    said = run("view", "talk", code=1)
    assert said.startswith("tapefold: unexpected ZeroDivisionError: division by zero")
    assert said.count("\n") == 1


def test_control_characters_in_arguments_come_back_as_escapes(program, talk):
    for arguments, code in ((["view", "\x1b[2J\x07"], 1), (["view", "talk", "--x\x1b[2J"], 2)):
        said = line_of(program(*arguments), code)
        assert "\x1b" not in said
        assert "\x07" not in said


def test_an_argument_that_is_not_utf_8_is_no_traceback(environment, tmp_path, talk):
    for arguments in ([b"view", b"\xff"], [b"append", b"talk", b"\xff"], [b"import", b"\xff"]):
        done = subprocess.run(
            [os.fsencode(PROGRAM), *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
            check=False,
        )
        line_of(done, 1)


def test_the_program_starts_as_a_module_too(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tapefold.cli", "--version"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith(b"tapefold ")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--version"], "eventsourcing pydantic rich msgspec sqlite3 tapefold.sessions"),
        (["--help"], "eventsourcing pydantic rich msgspec sqlite3 tapefold.sessions"),
        (["view", "--help"], "eventsourcing pydantic rich msgspec sqlite3"),
        (["view", "talk"], "pydantic pydantic_core rich tapefold.domain.outline"),
        (["sessions"], "rich.console rich.progress importlib.metadata"),
    ],
)
def test_a_command_loads_only_what_it_needs(environment, tmp_path, talk, arguments, absent):
    """Start-up is what a person waits for each time."""
    code = (
        "import sys; from tapefold.cli.main import main; sys.argv[1:] = " + repr(arguments) + "\n"
        "code = main(); print(sorted(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    loaded = done.stderr.decode()
    assert "'click'" in loaded
    assert [name for name in absent.split() if f"'{name}'" in loaded] == []
