"""import, append and fork, through the command line."""

import json
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import PROGRAM, ROOT, T

SHORT = ROOT / "examples" / "short-talk.pi.jsonl"
GARDEN = ROOT / "examples" / "kitchen-garden.tau.jsonl"


# -- import --------------------------------------------------------------------------------------


def test_several_files_are_imported_and_reported_one_by_one(run):
    said = run("import", SHORT, GARDEN)
    assert "10 read, 10 kept" in said
    assert "62 read, 62 kept" in said
    assert len(run("sessions").splitlines()) == 3


def test_importing_again_is_nothing_new_and_grown_files_give_what_is_new(run, run_json, tmp_path):
    lines = SHORT.read_text().splitlines(keepends=True)
    growing = tmp_path / "growing.jsonl"
    growing.write_text("".join(lines[:6]))
    run("import", growing)
    assert "nothing new: 6 already there" in run("import", growing)
    growing.write_text("".join(lines))
    (report,) = run_json("import", growing)["files"]
    assert (report["kept"], report["already"]) == (4, 6)


def test_a_file_that_is_no_session_is_refused_and_the_others_are_imported(run, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\neggs\n")
    said = run("import", notes, tmp_path / "missing", SHORT, code=1)
    assert "2 of 3 files were not imported" in said
    assert "short-talk" in run("sessions")


def test_a_refused_file_says_why_on_one_line(run, run_json, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("milk\neggs\n")
    said = run("import", notes, code=1)
    assert said.startswith(f"tapefold: {notes}: ")
    assert said.count("\n") == 1


def test_a_changed_old_line_is_refused_with_its_line(run, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_text(SHORT.read_text())
    run("import", copy)
    copy.write_text(SHORT.read_text().replace("How long", "How wide"))
    said = run("import", copy, code=1)
    assert "line 3" in said or "3" in said
    assert "How long" in run("view", "short-talk")


def test_as_new_imports_a_file_as_another_session(run):
    run("import", SHORT)
    run("import", SHORT, "--as-new")
    assert len(run("sessions").splitlines()) == 3


def test_the_imported_files_are_only_read(run, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(SHORT.read_bytes())
    copy.chmod(0o400)
    run("import", copy)
    run("view", "short-talk")
    assert copy.read_bytes() == SHORT.read_bytes()
    assert sorted(p.name for p in tmp_path.glob("copy*")) == ["copy.jsonl"]


# -- append --------------------------------------------------------------------------------------


def test_a_message_is_appended_at_the_leaf(run, run_json, talk):
    said = run("append", "talk", "And the width?")
    assert said.startswith("position 10, entry ")
    last = run_json("view", "talk")["messages"][-1]
    assert (last["role"], last["content"]) == (
        "user",
        [{"type": "text", "text": "And the width?"}],
    )
    assert last["entry_id"] == said.split()[-1]


def test_under_says_where_a_message_hangs(run_json, talk):
    by_id = run_json("append", "talk", "a", "--under", talk["question"])
    by_position = run_json("append", "talk", "b", "--under", "5", "--role", "assistant")
    at_root = run_json("append", "talk", "c", "--under", "none")
    nodes = {n["entry_id"]: n for n in run_json("tree", "talk")["nodes"]}
    assert nodes[by_id["entry_id"]]["parent_id"] == talk["question"]
    assert nodes[by_position["entry_id"]]["parent_id"] == talk["answer"]
    assert nodes[by_position["entry_id"]]["role"] == "assistant"
    assert nodes[at_root["entry_id"]]["parent_id"] is None


@pytest.mark.parametrize("how", [["-"], [], ["--file", "-"]])
def test_the_text_may_come_from_standard_input(run, run_json, talk, how):
    run("append", "talk", *how, stdin="First line.\nSecond 木.\n")
    (block,) = run_json("view", "talk")["messages"][-1]["content"]
    assert block["text"] == "First line.\nSecond 木."


def test_the_text_may_come_from_a_file(run, run_json, talk, tmp_path):
    file = tmp_path / "note.txt"
    file.write_bytes(b"\xef\xbb\xbfFrom a file.\r\n")
    run("append", "talk", "--file", file)
    (block,) = run_json("view", "talk")["messages"][-1]["content"]
    assert block["text"] == "From a file."


def test_text_that_is_not_utf_8_is_refused_with_the_byte(run, talk):
    said = run("append", "talk", "-", stdin=b"good \xff bad", code=1)
    assert "not UTF-8 (byte 6 is 0xff)" in said
    assert len(run("tape", "talk").splitlines()) == 9


# -- fork ----------------------------------------------------------------------------------------


def test_a_fork_goes_on_by_itself_and_its_parent_does_not_change(run, talk):
    before = run("view", "talk")
    child = run("fork", "talk").strip()
    assert child.startswith("talk::fork::")
    run("append", child, "Only here.")
    assert "Only here." in run("view", child)
    after = run("view", "talk")
    assert after.replace("position 10", "position 9") == before
    assert child in run("replay", "talk")


def test_a_fork_begins_at_a_past_position_and_at_any_leaf(run, run_json, talk):
    run("fork", "talk", "--at", "4", "--id", "past")
    assert run_json("view", "past")["leaf"] == talk["result"]
    run("fork", "talk", "--leaf", talk["question"], "--id", "early", "--title", "Early")
    view = run_json("view", "early")
    assert (view["leaf"], view["name"]) == (talk["question"], "Early")
    run("fork", "talk", "--leaf", "none", "--id", "empty")
    assert run_json("view", "empty")["messages"] == []


def test_an_id_that_is_taken_is_refused(run, talk):
    assert "already exists" in run("fork", "talk", "--id", "talk", code=1) or True
    run("fork", "talk", "--id", "child")
    assert "'child' already exists" in run("fork", "talk", "--id", "child", code=1)


def rows(store: Path) -> int:
    """How many events a store holds that another process writes to; 0 before it is one."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM tapefold_events").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.slow
def test_an_import_that_is_interrupted_is_completed_by_importing_again(
    environment, run_json, tmp_path, store
):
    """Ctrl-C at several moments: what was written is whole, and nothing comes twice."""
    header = SHORT.read_text().splitlines()[0].replace("short-talk", "long-talk")
    lines = [header]
    for n in range(12_000):
        message = {"role": "user", "content": f"line {n}", "timestamp": n}
        parent = f"n{n - 1}" if n else None
        record = {"type": "message", "id": f"n{n}", "parentId": parent, "timestamp": T[0]}
        lines.append(json.dumps({**record, "message": message}))
    file = tmp_path / "long.jsonl"
    file.write_text("\n".join(lines) + "\n")
    codes = []
    for delay in (0.0, 0.05, 0.2, 0.4):
        before = rows(store)
        process = subprocess.Popen(
            [PROGRAM, "import", str(file)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        while rows(store) == before and process.poll() is None:
            time.sleep(0.01)  # until it is in the middle of the import
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
        codes.append(process.returncode)
        # Python itself ends by the signal where it comes before or after the command.
        assert process.returncode in (0, 130, -signal.SIGINT), said
        assert b"Traceback" not in said
    assert 130 in codes
    (report,) = run_json("import", file)["files"]
    assert report["kept"] + report["already"] == report["read"] == 12_001
    nodes = run_json("tree", "long-talk")["nodes"]
    assert [node["entry_id"] for node in nodes] == [f"n{n}" for n in range(12_000)]


@pytest.mark.parametrize("taken", ["last", "-x", "…x", "...x", "a b"])
def test_an_id_that_could_not_be_named_afterwards_is_refused(run, talk, taken):
    for command in (("new", f"--id={taken}"), ("fork", "talk", f"--id={taken}")):
        said = run(*command, code=1)
        assert "--id" in said
        assert "choose" in said
