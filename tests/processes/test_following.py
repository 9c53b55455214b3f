"""`tapefold import --follow` as a process: beside a real writer, killed, and asked to end."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapefold import Sessions
from tapefold.importing import import_file

PROGRAM = str(Path(sys.executable).with_name("tapefold"))
BIRDS = Path(__file__).parents[2] / "examples" / "bird-box.pi.jsonl"
GROWING = Path(__file__).parents[3] / "shared/conformance/inputs/d27_grow_half_line.py"
PATIENCE = 60
"""How long something may take that takes moments. Unit: seconds."""

WRITER = """
path, source, seed = sys.argv[1:]
dice = random.Random(int(seed))
data = open(source, "rb").read()
at = 0
while at < len(data):
    size = dice.choice((1, 20, 90, 300, 1500))
    with open(path, "ab") as file:
        file.write(data[at : at + size])
    at += size
    time.sleep(dice.choice((0.002, 0.02, 0.06)))
say("written")
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def follower(store_path: Path) -> Iterator[Start]:
    """Start a follower of a file."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PROGRAM, "--db", str(store_path), "import", "--follow", "--json", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ids_of(store_path: Path) -> list[str]:
    """The entries of the one session that is followed, as far as it is there."""
    if not store_path.exists():
        return []
    with Sessions(store_path) as sessions:
        found = [info.session_id for info in sessions.sessions()]
        return [head.entry_id for sid in found for _, head in sessions.heads(sid) if head.entry_id]


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has set a handler for a signal, where the system tells."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return True
    (mask,) = (line.split()[1] for line in status.read_text().splitlines() if "SigCgt" in line)
    return bool(int(mask, 16) >> (number - 1) & 1)


def complete_ids(path: Path) -> list[str]:
    records = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    return [record["id"] for record in records if record["type"] != "session"]


def assert_same_as_a_plain_import(store_path: Path, path: Path) -> None:
    with Sessions(store_path) as sessions, Sessions("memory:") as plain:
        session_id = str(import_file(plain, path).session_id)
        followed, wanted = list(sessions.tape(session_id)), list(plain.tape(session_id))
        assert [event.head for event in followed] == [event.head for event in wanted]
        assert [event.body for event in followed[1:]] == [event.body for event in wanted[1:]]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_lines_are_taken_while_they_are_written_and_the_end_is_a_report(
    store_path, tmp_path, follower, ending
):
    path = tmp_path / "growing.jsonl"
    data = BIRDS.read_bytes()
    ends = [n + 1 for n, byte in enumerate(data) if byte == 0x0A]
    process = follower(path)  # before there is a file
    written = 0
    for lines in (5, 6, 20):
        with path.open("ab") as file:
            file.write(data[written : ends[lines] - 10])  # the last line but for its end
        written = ends[lines] - 10
        wait_for(lambda lines=lines: len(ids_of(store_path)) == lines - 1)
    process.send_signal(ending)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert errors == "tapefold: 1 torn tail left out\n"
    (report,) = json.loads(printed)["files"]
    assert (report["kept"], report["skipped"]) == (20, 1)
    assert [problem["reason"] for problem in report["problems"]] == ["torn_tail"]
    assert_same_as_a_plain_import(store_path, path)


def test_a_record_that_comes_in_halves_inside_a_character(store_path, tmp_path, follower):
    if not GROWING.exists():
        pytest.skip("the writer lies beside the repository")
    path = tmp_path / "growing.jsonl"
    process = follower(path)
    for step, entries in ((1, 2), (2, 2), (3, 4)):
        subprocess.run([sys.executable, str(GROWING), str(path), str(step)], check=True)
        wait_for(lambda entries=entries: len(ids_of(store_path)) == entries)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=PATIENCE)
    (report,) = json.loads(printed)["files"]
    assert (report["kept"], report["skipped"], report["problems"]) == (5, 0, [])
    assert_same_as_a_plain_import(store_path, path)


@pytest.mark.slow
def test_followers_that_are_killed_at_any_moment_leave_no_gap_and_no_duplicate(
    store_path, tmp_path, follower, start_process
):
    """The writer goes on meanwhile, with half lines; each new follower goes on from the tape."""
    path = tmp_path / "growing.jsonl"
    dice = random.Random(11)
    records = BIRDS.read_bytes().count(b"\n") - 1
    writer = start_process(WRITER, path, BIRDS, 7)
    kills = 0
    wait_for(path.exists)
    while writer.poll() is None:
        process = follower(path)
        time.sleep(dice.uniform(0.1, 0.9))
        process.kill()
        process.communicate()
        kills += 1
        there = ids_of(store_path)
        assert there == complete_ids(path)[: len(there)]
    last = follower(path)
    wait_for(lambda: len(ids_of(store_path)) == records)
    # All may be there already: a signal that comes while it starts ends it as the system does.
    wait_for(lambda: catches(last.pid, signal.SIGTERM))
    last.terminate()
    assert last.wait(PATIENCE) == 0
    assert kills > 1
    assert_same_as_a_plain_import(store_path, path)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="nothing counts what is read here")
def test_a_new_line_costs_the_same_however_long_the_file_is(store_path, tmp_path):
    """Counted in bytes read, store included: no more than for a short file, file not read anew."""
    cost = {}
    for length in (100, 20_000):
        path = tmp_path / f"{length}.jsonl"
        store = store_path.with_name(f"{length}.db")
        records = [
            {
                "type": "message",
                "id": f"m{n}",
                "parentId": f"m{n - 1}" if n else None,
                "timestamp": "2026-03-01T09:00:00.000Z",
                "message": {"role": "user", "content": "x" * 200},
            }
            for n in range(length + 40)
        ]
        lines = [json.dumps(record) + "\n" for record in records]
        path.write_text("".join(lines[:length]))
        process = subprocess.Popen(
            [PROGRAM, "--db", str(store), "import", "--follow", str(path)],
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda store=store, length=length: position_of(store) > length)
            before = bytes_read(process.pid)
            for n in range(length, length + 40):
                with path.open("a") as file:
                    file.write(lines[n])
                wait_for(lambda store=store, n=n: position_of(store) == n + 2)
            cost[length] = (bytes_read(process.pid) - before) / 40
        finally:
            process.terminate()
            process.wait()
    assert cost[20_000] < cost[100] + 100_000
    assert cost[20_000] < 0.05 * path.stat().st_size


def bytes_read(pid: int) -> int:
    text = Path(f"/proc/{pid}/io").read_text()
    return int(text.split("rchar:")[1].split()[0])


def position_of(store: Path) -> int:
    if not store.exists():
        return 0
    with Sessions(store) as sessions:
        found = [stream.position for stream in sessions.tapes.streams()]
        return found[0] if found else 0
