"""`tapefold import`: files, folders, standard input, dry runs, what it says and how it ends."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pexpect
import pytest

from tapefold import Sessions
from tapefold.tape_files import write_tape

from .conftest import PROGRAM, ROOT

SHORT = ROOT / "examples" / "short-talk.pi.jsonl"
GARDEN = ROOT / "examples" / "kitchen-garden.tau.jsonl"
BIRDS = ROOT / "examples" / "bird-box.pi.jsonl"


@pytest.fixture
def folder(tmp_path):
    """A folder with two sessions, one of them without the usual ending, and other files."""
    top = tmp_path / "in"
    (top / "deep" / "er").mkdir(parents=True)
    (top / "b.jsonl").write_bytes(SHORT.read_bytes())
    (top / "deep" / "er" / "session").write_bytes(GARDEN.read_bytes())
    (top / "notes.txt").write_text("milk\n")
    (top / "deep" / "settings.json").write_text('{"theme":"dark"}\n')
    (top / "deep" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    return top


def paths_of(answer):
    return [file["path"] for file in answer["files"]]


# -- folders -------------------------------------------------------------------------------------


def test_a_folder_stands_for_all_session_files_below_it(run, run_json, folder):
    answer = run_json("import", folder)
    assert paths_of(answer) == [str(folder / "b.jsonl"), str(folder / "deep" / "er" / "session")]
    assert [file["kept"] for file in answer["files"]] == [10, 62]
    assert answer["passed_over"] == 3
    assert "3 other files passed over" in run("import", folder)


def test_a_loop_of_links_is_reported_and_ends(run_json, folder):
    (folder / "deep" / "up").symlink_to(folder)
    answer = run_json("import", folder)
    (loop,) = [file for file in answer["files"] if file["path"].endswith("up")]
    assert [problem["reason"] for problem in loop["problems"]] == ["seen_before"]
    assert sum(file["kept"] for file in answer["files"]) == 72


def test_a_link_that_leads_nowhere_is_reported_and_stops_nothing(run, run_json, folder):
    (folder / "a.jsonl").symlink_to(folder / "gone")
    said = run("import", folder, code=1)
    assert "a.jsonl: the file cannot be read" in said
    assert len(run("sessions").splitlines()) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_cannot_be_looked_into_is_reported(run, folder):
    (folder / "deep").chmod(0)
    try:
        said = run("import", folder, code=1)
    finally:
        (folder / "deep").chmod(0o700)
    assert "deep" in said
    assert "short-talk" in run("sessions")


def test_a_file_that_vanishes_before_its_turn_is_reported(run, folder, monkeypatch):
    from tapefold import importing

    found = importing.open_file

    def late(path):
        if path.endswith("b.jsonl"):
            (folder / "b.jsonl").unlink()
        return found(path)

    monkeypatch.setattr(importing, "open_file", late)
    said = run("import", folder, code=1)
    assert "b.jsonl: the file cannot be read: No such file" in said
    assert len(run("sessions").splitlines()) == 2


def test_a_file_called_jsonl_that_is_no_session_is_refused_and_others_are_passed_over(run, folder):
    (folder / "data.jsonl").write_text('{"price":3}\n')
    said = run("import", folder, code=1)
    assert "data.jsonl: no record of a session" in said
    assert said.count("\n") == 1


def test_a_folder_without_any_session_file_is_a_failure_that_says_so(run, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no session file in it" in run("import", tmp_path / "empty", code=1)


# -- standard input ------------------------------------------------------------------------------


def test_a_file_comes_through_standard_input(program):
    done = program("import", "-", stdin=SHORT.read_bytes())
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"10 read, 10 kept" in done.stdout
    again = program("import", "-", SHORT, "--json", stdin=SHORT.read_bytes())
    first, second = json.loads(again.stdout)["files"]
    assert (first["path"], first["already"], second["already"]) == ("-", 10, 10)


@pytest.mark.slow
def test_a_long_file_through_standard_input_with_a_parent_that_comes_later(program, store):
    """What is longer than fits in memory is read several times, from a temporary file."""
    late = {"type": "message", "timestamp": "2026-03-02T09:00:00Z"}
    words = {"role": "user", "content": "x" * 9_000_000}
    child = {**late, "id": "child", "parentId": "mother", "message": words}
    mother = {**late, "id": "mother", "parentId": None, "message": {**words, "content": "M"}}
    records = b"".join(json.dumps(record).encode() + b"\n" for record in (child, mother))
    done = program("import", "-", "--json", stdin=SHORT.read_bytes() + records)
    (report,) = json.loads(done.stdout)["files"]
    assert (report["kept"], report["repaired"], report["problems"]) == (12, 0, [])
    with Sessions(store) as sessions:
        parents = {head.entry_id: head.parent_id for _, head in sessions.heads("short-talk")}
    assert parents["child"] == "mother"


def test_standard_input_is_read_once(run):
    assert "once" in run("import", "-", "-", code=2, stdin="x")


def test_nothing_on_standard_input_is_refused(run):
    assert run("import", "-", code=1, stdin="").startswith("tapefold: -: ")


# -- dry runs ------------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_done_and_makes_no_store(run, run_json, store, folder):
    answer = run_json("import", "--dry-run", folder, SHORT)
    assert answer["dry_run"] is True
    assert [file["kept"] for file in answer["files"]] == [10, 62, 10]
    assert "dry run: nothing was written" in run("import", "--dry-run", SHORT)
    assert not store.exists()


def test_a_dry_run_looks_at_what_is_there_and_changes_nothing(run, run_json, store, tmp_path):
    lines = SHORT.read_text().splitlines(keepends=True)
    copy = tmp_path / "copy.jsonl"
    copy.write_text("".join(lines[:6]))
    run("import", copy)
    before = rows(store)
    copy.write_text("".join(lines))
    (report,) = run_json("import", "--dry-run", copy)["files"]
    assert (report["kept"], report["already"]) == (4, 6)
    copy.write_text("".join(lines).replace("How long", "How wide"))
    assert "line 3" in run("import", "--dry-run", copy, code=1)
    assert rows(store) == before


def rows(store):
    with sqlite3.connect(store) as reader:
        return reader.execute("SELECT * FROM tapefold_events ORDER BY id").fetchall()


# -- what it says --------------------------------------------------------------------------------


def damaged_file(tmp_path):
    lines = SHORT.read_bytes().splitlines(keepends=True)
    path = tmp_path / "damaged.jsonl"
    no_parent = lines[4].replace(b'"parentId":"', b'"parentId":"x')
    assert no_parent != lines[4]
    path.write_bytes(b"".join([*lines[:4], no_parent, b"rubbish\n", *lines[5:], lines[3][:50]]))
    return path


def test_one_line_of_stderr_counts_what_is_foreign_repaired_and_torn(program, tmp_path):
    done = program("import", damaged_file(tmp_path), SHORT.parent / "kitchen-garden.tau.jsonl")
    assert done.returncode == 0
    (line,) = done.stderr.decode().splitlines()
    assert "1 record not understood and kept raw" in line
    assert "1 record repaired" in line
    assert "1 torn tail left out" in line


def test_a_refusal_and_the_counts_stand_on_one_line(program, tmp_path):
    done = program("import", damaged_file(tmp_path), tmp_path / "missing.jsonl")
    assert done.returncode == 1
    (line,) = done.stderr.decode().splitlines()
    assert "missing.jsonl: the file cannot be read" in line
    assert "1 torn tail left out" in line


def test_a_file_of_which_no_record_is_understood_is_a_failure(run, tmp_path):
    header = SHORT.read_text().splitlines()[0]
    path = tmp_path / "future.jsonl"
    path.write_text(f'{header}\n{{"type":"hologram","id":"h1"}}\nrubbish\n')
    assert "no record that is understood" in run("import", path, code=1)
    path.write_text(f"{header}\n")
    run("import", path, "--as-new")


def test_a_tape_file_is_known_by_its_first_line(run, run_json, talk, sessions, tmp_path):
    path = tmp_path / "some.name"
    path.write_bytes(b"".join(write_tape(sessions, "talk")))
    (report,) = run_json("--db", tmp_path / "other.db", "import", path)["files"]
    assert (report["format"], report["session_id"], report["kept"]) == ("jsonl", "talk", 9)
    assert run("--db", tmp_path / "other.db", "view", "talk") == run("view", "talk")


def test_a_tape_that_could_not_be_taken_whole_is_a_failure(run, talk, sessions, tmp_path):
    path = tmp_path / "tape.jsonl"
    path.write_bytes(b"".join(write_tape(sessions, "talk"))[:-30])
    said = run("--db", tmp_path / "other.db", "import", path, code=1)
    assert "ended before its tape did" in said
    assert "1 torn tail" in said


# -- stores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"milk\n", b'{"format":"tapefold-tape","version":9}\n'])
def test_a_refused_first_import_leaves_no_store_behind(run, store, tmp_path, data):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    run("import", path, code=1)
    assert not store.exists()
    run("import", path, SHORT, code=1)
    assert len(run("sessions").splitlines()) == 2


@pytest.mark.parametrize(
    "command",
    [
        ("sessions",),
        ("view", "last"),
        ("tape", "x"),
        ("append", "x", "words"),
        ("import", "--dry-run", SHORT),
    ],
    ids=lambda command: command[0],
)
def test_an_empty_file_is_not_made_a_store_by_what_does_not_begin_one(run, store, command):
    store.touch()
    run(*command, code=0 if command[0] == "import" else 1)
    assert store.stat().st_size == 0
    assert sorted(p.name for p in store.parent.glob("sessions.db*")) == ["sessions.db"]


def test_an_empty_file_becomes_a_store_by_an_import(run, store):
    """As for SQLite itself, and for whoever made the file by hand to give it its rights."""
    store.touch()
    run("import", SHORT)
    assert "short-talk" in run("sessions")


def test_a_copied_store_is_not_changed_by_reading_it(run, store, tmp_path):
    """`VACUUM INTO` and the like leave no write-ahead log; only a writer turns it on again."""
    run("import", SHORT)
    copy = tmp_path / "copy.db"
    with sqlite3.connect(store) as reader:
        reader.execute("VACUUM INTO ?", (str(copy),))
    before = copy.read_bytes()
    assert "left plank" in run("--db", copy, "view", "last")
    assert copy.read_bytes() == before
    run("--db", copy, "append", "last", "words")
    assert "words" in run("--db", copy, "view", "last")


# -- following -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((".",), "is a folder"),
        (("a.jsonl", "b.jsonl"), "takes one file"),
        (("-",), "takes one file"),
        (("a.jsonl", "--dry-run"), "neither"),
        (("a.jsonl", "--as-new"), "neither"),
    ],
)
def test_what_cannot_be_followed_is_said(run, store, arguments, says):
    assert says in run("import", "--follow", *arguments, code=2)
    assert not store.exists()


# -- interrupted ---------------------------------------------------------------------------------


def test_ctrl_c_says_that_what_was_committed_stays(environment, tmp_path, store):
    """Input that does not end: the import is in the middle for as long as we like."""
    process = subprocess.Popen(
        [PROGRAM, "import", str(SHORT), "-"],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()  # the first file is reported, so it is committed
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = errors.decode().splitlines()
    assert line.startswith("tapefold: interrupted")
    assert "stays" in line
    with Sessions(store) as sessions:
        assert [info.session_id for info in sessions.sessions()] == ["short-talk"]


def test_ctrl_c_while_the_program_is_still_starting_is_one_line(environment):
    """Python's own ending would be a traceback out of the middle of an import."""
    script = """
        import os, signal, sys
        class Meanwhile:
            def find_spec(self, name, path=None, target=None):
                if name == "click":
                    os.kill(os.getpid(), signal.SIGINT)
        from tapefold.cli.main import main
        sys.meta_path.insert(0, Meanwhile())
        sys.exit(main())
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), "sessions"],
        env={**environment, "PYTHONSAFEPATH": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, b"tapefold: interrupted\n", b"")


# -- progress ------------------------------------------------------------------------------------


def test_a_long_import_shows_how_far_it_is_and_how_long_it_takes(environment, tmp_path):
    lines = SHORT.read_bytes().splitlines(keepends=True)
    path = tmp_path / "long.jsonl"
    filler = b" " * 300_000
    path.write_bytes(b"".join(line[:-2] + filler + b"}\n" for line in lines))
    child = pexpect.spawn(
        PROGRAM, ["import", str(path), str(SHORT)], env=environment, dimensions=(24, 100)
    )
    child.expect(r"long\.jsonl 1/2.*%.*left", timeout=60)
    child.expect("10 read, 10 kept", timeout=60)
    child.expect(pexpect.EOF, timeout=60)
    child.close()
    assert child.exitstatus == 0
