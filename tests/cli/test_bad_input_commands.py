"""Bad input for the commands that write: one clear line, an exit code, and nothing half written."""

import ctypes
import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from eventsourcing.cipher import AESCipher

from tapefold import Sessions

from .conftest import PROGRAM
from .screens import Terminal
from .test_failures import line_of, wait_until_asleep

WRITING = {
    "append": ("append", "SESSION", "hi"),
    "revise": ("revise", "SESSION", "ENTRY", "hi"),
    "retract": ("retract", "SESSION", "ENTRY"),
    "retract from": ("retract", "SESSION", "--from", "ENTRY"),
    "restore": ("restore", "SESSION", "ENTRY"),
    "label": ("label", "SESSION", "ENTRY", "hi"),
    "branch": ("branch", "SESSION", "ENTRY"),
    "branch, summarised": ("branch", "SESSION", "ENTRY", "--summary", "S"),
    "branch, shown": ("branch", "SESSION", "ENTRY", "--show-abandoned"),
    "compact": ("compact", "SESSION", "--first-kept", "ENTRY", "--summary", "S"),
    "compact, shown": ("compact", "SESSION", "--first-kept", "ENTRY", "--show-covered"),
    "reset-summary": ("reset-summary", "SESSION"),
    "handoff": ("handoff", "SESSION", "S", "--first-kept", "ENTRY"),
    "model": ("model", "SESSION", "m"),
    "thinking": ("thinking", "SESSION", "low"),
    "title": ("title", "SESSION", "hi"),
    "show": ("show", "SESSION", "ENTRY"),
    "fork": ("fork", "SESSION"),
    "forks": ("forks", "SESSION"),
}
WITH_ENTRY = {name: how for name, how in WRITING.items() if "ENTRY" in how}


def filled(how, session="talk", entry="2"):
    return [{"SESSION": session, "ENTRY": entry}.get(part, part) for part in how]


# -- names ---------------------------------------------------------------------------------------


def test_an_unknown_session_is_named(run, talk):
    for how in WRITING.values():
        assert "'nobody' does not exist" in run(*filled(how, "nobody"), code=1)


def test_an_ambiguous_session_lists_the_candidates(run, sessions, talk):
    sessions.start("tale", persist=True)
    for how in (WRITING["append"], WRITING["forks"]):
        said = run(*filled(how, "ta"), code=1)
        assert "'ta' fits 2 sessions: " in said
        assert "talk" in said
        assert "tale" in said


def test_an_ambiguous_entry_lists_the_candidates(run, sessions, talk):
    for entry_id in ("oak-1", "oak-2"):
        sessions.execute("talk", lambda s, i=entry_id: s.finalize("user", "x", entry_id=i))
    for name in ("revise", "show"):
        said = run(*filled(WRITING[name], entry="oak"), code=1)
        assert "'oak' fits 2 entries: oak-1, oak-2" in said


def test_an_entry_that_is_not_there_is_a_data_error(run, talk):
    for how in WITH_ENTRY.values():
        assert "positions 1 to 9" in run(*filled(how, entry="10"), code=1)
        assert "no entry 'zzz'" in run(*filled(how, entry="zzz"), code=1)
    assert "positions 1 to 9" in run(*filled(WITH_ENTRY["label"], entry="0"), code=1)


# -- text ----------------------------------------------------------------------------------------

TEXTS = [
    ("append", "talk"),
    ("revise", "talk", "2"),
    ("label", "talk", "2"),
    ("title", "talk"),
    ("handoff", "talk"),
    ("branch", "talk", "2", "--summary"),
    ("compact", "talk", "--keep", "1", "--summary"),
]


@pytest.mark.parametrize("command", TEXTS, ids=" ".join)
def test_text_is_taken_and_refused_everywhere_alike(run, talk, tmp_path, command):
    """From standard input and from a file; not UTF-8, empty, given twice."""
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good \xff bad")
    assert "standard input is not UTF-8 (byte 6 is 0xff)" in run(
        *command, "-", stdin=b"good \xff bad", code=1
    )
    bare = [part for part in command if part != "--summary"]
    assert f"{bad} is not UTF-8 (byte 6 is 0xff)" in run(*bare, "--file", bad, code=1)
    assert "the text is empty" in run(*command, "-", stdin=b" \n", code=2)
    assert "the text is empty" in run(*command, " ", code=2)
    run(*command, "both", "--file", bad, code=2)
    assert "no/such" in run(*bare, "--file", "no/such", code=2)
    assert len(run("tape", "talk").splitlines()) == 9
    bad.write_bytes(b"\xef\xbb\xbfgood\r\n")
    run(*bare, "--file", bad)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        *TEXTS,
        ("model", "talk"),
        ("thinking", "talk"),
        ("new", "--title"),
        ("new", "--id"),
        ("new", "--dir"),
        ("fork", "talk", "--title"),
        ("fork", "talk", "--id"),
        ("append", "talk", "x", "--key"),
    ],
    ids=" ".join,
)
def test_an_argument_that_is_not_utf_8_is_refused(environment, tmp_path, talk, command):
    arguments = [os.fsencode(PROGRAM), *map(os.fsencode, command), b"\xff"]
    done = subprocess.run(
        arguments, env=environment, cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    line_of(done, 1)


# -- output --------------------------------------------------------------------------------------


def test_where_there_is_no_output_nothing_is_done(environment, tmp_path, talk, sessions):
    """`>&-`: what is done could not be said. And a file opened next would be standard output."""
    for command in ("append talk hi", "view talk", "--help"):
        done = subprocess.run(
            ["sh", "-c", f"exec {PROGRAM} {command} >&-"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert "standard output is closed" in line_of(done, 1)
    assert sessions.state("talk").position == 9


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["append", "talk", "hi"], ["--help"], ["show", "--help"]])
def test_a_full_disk_behind_the_output_is_one_line(program, talk, command):
    with Path("/dev/full").open("wb") as full:
        said = line_of(program(*command, stdout=full), 1)
    assert "the output cannot be written: No space left" in said


def test_a_reader_that_goes_away_is_no_error(environment, tmp_path, sessions, talk):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = subprocess.run(
            [PROGRAM, "append", "talk", "hi"],
            env=environment,
            cwd=tmp_path,
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sessions.state("talk").position == 10


SCREENS = [
    ["show", "talk", "3"],
    ["label", "talk", "3", "a label that is longer than twenty columns"],
    *(
        pytest.param(command, marks=pytest.mark.slow)
        for command in (
            ["show", "talk", "8"],
            ["forks", "talk"],
            ["compact", "talk", "--keep", "1", "--show-covered"],
        )
    ),
]


@pytest.mark.parametrize("command", SCREENS, ids=str)
def test_twenty_columns_are_enough(environment, tmp_path, run, talk, command):
    run("fork", "talk", "--title", "A title that is rather long")
    with Terminal(command, environment, tmp_path, columns=20, lines=60) as terminal:
        assert terminal.quit() == 0
        lines = terminal.output.decode().replace("\x1b[", "\0").split("\r\n")
        rows = [row for row in terminal.rows if row]
        # A line that were longer than the terminal would stand on two rows of it.
        assert len(rows) == len([line for line in lines if line.strip()]), terminal.text


def test_a_dumb_terminal_gets_plain_text(environment, tmp_path, talk):
    command = ["show", "talk", "3"]
    with Terminal(command, environment, tmp_path, env={"TERM": "dumb"}) as terminal:
        assert terminal.quit() == 0
        assert b"\x1b" not in terminal.output
    with Terminal(command, environment, tmp_path) as terminal:
        assert terminal.quit() == 0
        assert b"\x1b[" in terminal.output


def test_control_characters_of_stored_text_are_shown_not_sent(run, sessions, talk):
    sessions.execute("talk", lambda s: s.finalize("user", "a\x1b[2Jb\x07", entry_id="bad"))
    sessions.execute("talk", lambda s: s.label("bad", "x\x9by"))
    for command in (["show", "talk", "bad"], ["compact", "talk", "--keep", "0", "--show-covered"]):
        said = run(*command)
        assert "a\\x1b[2Jb\\x07" in said
        assert not {"\x1b", "\x07", "\x9b"} & set(said)
    assert "\x1b" not in run("branch", "talk", "bad", "--before")


# -- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/wchan").exists(), reason="needs /proc")
def test_ctrl_c_while_it_waits_for_the_lock_writes_nothing(environment, store, tmp_path, talk):
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        process = subprocess.Popen(
            [PROGRAM, "branch", "talk", "2", "--summary", "S"],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until_locked_out(process)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (130, b"", b"")
    with Sessions(store) as sessions:
        assert sessions.state("talk").position == 9


def wait_until_locked_out(process):
    """Wait until a process has nothing to do but to wait for a lock: it sleeps, with the file."""
    files = Path(f"/proc/{process.pid}/fd")
    asleep = 0
    while asleep < 3:
        assert process.poll() is None
        opened = [str(link.readlink()) for link in files.iterdir() if link.is_symlink()]
        waits = "sleep" in Path(f"/proc/{process.pid}/wchan").read_text()
        asleep = asleep + 1 if waits and any(name.endswith("-wal") for name in opened) else 0
        signal.sigtimedwait([], 0.02)


def test_ctrl_c_while_a_text_is_awaited_writes_nothing(environment, store, tmp_path, talk):
    process = subprocess.Popen(
        [PROGRAM, "compact", "talk", "--keep", "1", "--summary", "-"],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until_asleep(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")
    with Sessions(store) as sessions:
        assert sessions.state("talk").position == 9


# -- the store -----------------------------------------------------------------------------------

STORE_COMMANDS = [["append", "talk", "hi"], ["new"], ["branch", "talk", "2", "--summary", "S"]]


@pytest.mark.parametrize("command", STORE_COMMANDS, ids=" ".join)
def test_what_is_no_store_of_ours_is_left_alone(run, tmp_path, command):
    notes = tmp_path / "notes.txt"
    notes.write_text("not a database, but long enough to look at " * 100)
    before = notes.read_bytes()
    assert "not a SQLite database" in run("--db", notes, *command, code=1)
    assert notes.read_bytes() == before
    assert "it is a folder" in run("--db", tmp_path, *command, code=1)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as made:
        made.execute("CREATE TABLE tapefold_events (id INTEGER)")
        made.commit()
    assert "was not made by tapefold" in run("--db", other, *command, code=1)


@pytest.mark.parametrize("command", [*STORE_COMMANDS, ["view", "talk"]], ids=" ".join)
def test_a_store_of_a_newer_version_is_not_touched(run, store, sessions, talk, command):
    sessions.close()
    with closing(sqlite3.connect(store)) as made:
        made.execute("UPDATE tapefold_meta SET value = '99' WHERE key LIKE '%schema_version'")
        made.commit()
    said = run(*command, code=1)
    assert "it has schema version 99" in said
    assert "use the tapefold that wrote it, or a newer one" in said
    with closing(sqlite3.connect(store)) as made:
        assert made.execute("SELECT count(*) FROM tapefold_events").fetchone() == (9,)


def test_only_new_makes_a_store(run, store):
    for how in WRITING.values():
        assert "`tapefold new` makes it" in run(*filled(how), code=1)
    assert not store.exists()


def without_root_s_rights():
    """In a child before it begins: root, too, is bound by the rights of files."""
    prctl = ctypes.CDLL(None).prctl
    for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if os.geteuid() == 0 and prctl(24, right, 0, 0, 0):  # PR_CAPBSET_DROP
            raise OSError("the rights of root cannot be given up here")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs rights of files")
def test_a_read_only_store_is_read_and_not_written(environment, store, tmp_path, sessions, talk):
    sessions.close()
    store.chmod(0o400)

    def run(*arguments):
        return subprocess.run(
            [PROGRAM, *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            preexec_fn=without_root_s_rights,
            timeout=60,
            check=False,
        )

    try:
        assert run("show", "talk", "3").returncode == 0
    except subprocess.SubprocessError:
        pytest.skip("root's rights cannot be given up here")
    for command in (["append", "talk", "hi"], ["title", "talk", "Another"]):
        assert "it is read-only" in line_of(run(*command), 1)
    store.chmod(0o600)
    assert run("view", "talk", "--json").stdout.startswith(b'{"session_id": "talk", "position": 9')


@pytest.mark.slow
def test_a_file_that_may_not_grow_keeps_what_it_has(environment, store, tmp_path, sessions, talk):
    """As on a full disk, for any user: the system refuses to make a file longer."""
    resource = pytest.importorskip("resource")
    sessions.close()

    def run(most, *arguments):
        return subprocess.run(
            [PROGRAM, *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
            timeout=60,
            check=False,
        )

    (tmp_path / "long.txt").write_text("x" * 200_000)
    for most in (1_000, 60_000):
        said = line_of(run(most, "append", "talk", "--file", "long.txt"), 1)
        assert "it cannot be written" in said
        assert "the space on the disk" in said
    with Sessions(store) as again:
        assert again.state("talk").position == 9
    assert run(10_000_000, "append", "talk", "--file", "long.txt").returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="needs root, to make a small disk",
)
def test_a_full_disk_keeps_what_it_has(environment, tmp_path):
    """A disk of its own, which is gone with its process."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size=220k tmpfs {disk} || exit 77
        cd {disk}; export TAPEFOLD_DB=small.db; {PROGRAM} new --id s
        head -c 30000 /dev/zero | tr '\\0' x > {tmp_path}/long.txt
        for n in 1 2 3 4 5 6 7; do
            {PROGRAM} append s --file {tmp_path}/long.txt >/dev/null 2>>{tmp_path}/said; echo $?
        done
        {PROGRAM} view s --json
    """
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        env=environment,
        capture_output=True,
        timeout=300,
        check=False,
    )
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip("no disk can be mounted here")
    made, *codes, view = done.stdout.decode().splitlines()
    written = codes.count("0")
    assert (made, codes) == ("s", ["0"] * written + ["1"] * (7 - written))
    assert 0 < written < 7
    assert f'"position": {1 + written}' in view
    lines = (tmp_path / "said").read_text().splitlines()
    assert len(lines) == 7 - written
    assert all("the disk is full" in line for line in lines)


def test_a_store_that_an_application_encrypts_is_opened_with_its_settings(
    program, environment, tmp_path
):
    """The library's own settings, from the environment; without them the error names them."""
    settings = {
        "CIPHER_TOPIC": "eventsourcing.cipher:AESCipher",
        "CIPHER_KEY": AESCipher.create_key(16),
        "COMPRESSOR_TOPIC": "zlib",
    }
    with Sessions(tmp_path / "host.db", env=settings) as host:
        host.start("s", title="Secret", persist=True)
    environment["TAPEFOLD_DB"] = str(tmp_path / "host.db")
    assert program("append", "s", "hi", env=settings).stdout.startswith(b"position 2, entry ")
    said = line_of(program("append", "s", "hi"), 1)
    assert "CIPHER_TOPIC, CIPHER_KEY and COMPRESSOR_TOPIC" in said
    with Sessions(tmp_path / "host.db", env=settings) as host:
        assert host.state("s").position == 2
