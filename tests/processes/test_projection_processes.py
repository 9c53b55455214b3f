"""Projections run as processes of their own: started, ended, killed, taken over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapefold import Sessions
from tapefold.projections.opening import read_model

COMMAND = [sys.executable, "-P", "-m", "tapefold.cli"]


@pytest.fixture
def store(store_path):
    """A store with a session."""
    with Sessions(store_path) as sessions:
        sessions.start("s", persist=True)
        sessions.execute("s", lambda s: s.finalize("user", "hello"))
    return store_path


@pytest.fixture
def start(store, tmp_path):
    """Starts `tapefold projections …` on the store."""
    started = []

    def begin(*arguments):
        process = subprocess.Popen(
            [*COMMAND, "--db", str(store), "projections", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(model, log_id, seconds=60.0):
    """Until it was built and has passed an id."""
    from tapefold.projections.errors import ProjectionMissing

    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            if model.wait_for(log_id, 1.0):
                return
        except ProjectionMissing:
            time.sleep(0.02)
    raise AssertionError(f"it never passed id {log_id}")


def say(sessions, text):
    sessions.execute("s", lambda s: s.finalize("user", text))
    return sessions.recorder.max_notification_id()


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_an_event_is_seen_in_another_process_and_a_signal_ends_it_in_good_order(
    store, start, number
):
    process = start("run", "effective_view")
    with Sessions(store) as sessions:
        model = read_model(sessions, "effective_view")
        wait_for(model, say(sessions, "first"))
        wait_for(model, say(sessions, "second"))
        model.close()
    process.send_signal(number)
    printed, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert printed == ""
    assert errors.splitlines()[-1] == "tapefold: projection effective_view: ended"


def test_a_second_process_takes_over_when_the_first_is_killed(store, start):
    first = start("run", "effective_view")
    with Sessions(store) as sessions:
        model = read_model(sessions, "effective_view")
        wait_for(model, say(sessions, "first"))
        refused = start("run", "effective_view", "--no-wait")
        _, errors = refused.communicate(timeout=60)
        assert refused.returncode == 1
        assert f"another process (process {first.pid}) runs or builds it" in errors
        second = start("run", "effective_view", "--json")
        assert second.stdout is not None
        while json.loads(second.stdout.readline())["what"] != "trouble":
            pass  # it says that it waits
        first.kill()
        taken = json.loads(second.stdout.readline())  # it says nothing of running before it does
        assert taken["what"] == "started"
        assert f"running build 1 (process {second.pid})" in taken["text"]
        wait_for(model, say(sessions, "for the second"))
        status = start("status", "effective_view", "--json")
        printed, _ = status.communicate(timeout=60)
        (shape,) = json.loads(printed)["projections"]
        assert (shape["pid"], shape["is_running"]) == (second.pid, True)
        model.close()


def children_of(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text("ascii").split()]


def is_alive(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii")
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_all_run_as_children_and_none_outlives_the_parent_however_it_ends(store, start):
    process = start("run")
    assert process.stderr is not None
    names: set[str] = set()
    while not names >= {"effective_view", "branch_tree", "trace_index"}:
        line = process.stderr.readline()
        assert line, "it ended"
        names.add(line.split("projection ")[1].split(":")[0])
    children = children_of(process.pid)
    assert len(children) == 3
    process.kill()
    ends = time.monotonic() + 30
    while any(map(is_alive, children)):
        assert time.monotonic() < ends, "a child goes on without its parent"
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_a_child_that_is_killed_is_named_and_the_others_end_with_it(store, start):
    process = start("run", "effective_view", "branch_tree")
    assert process.stderr is not None
    running: dict[str, int] = {}
    while len(running) < 2:
        line = process.stderr.readline()
        assert "running build 1 (process " in line
        running[line.split()[2]] = int(line.split("process ")[1].rstrip(")\n"))
    os.kill(running["branch_tree:"], signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "projection branch_tree: its process was killed (signal 9)" in errors
    assert "projection effective_view: ended" in errors
    assert errors.count("was killed") == 1


@pytest.mark.slow
def test_one_that_fails_ends_the_others_and_the_exit_code_tells(store, start):
    done = start("run", "effective_view", "--once")
    done.communicate(timeout=60)
    folder = store.with_name(store.name + ".projections")
    (folder / "effective_view.1.db").write_bytes(b"damaged" * 4000)
    process = start("run", "effective_view", "branch_tree")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "projections rebuild effective_view --from-scratch" in errors


@pytest.mark.slow
def test_a_service_may_be_started_before_there_is_a_store(tmp_path, start, store):
    moved = store.rename(store.with_name("elsewhere.db"))
    process = start("run", "branch_tree")
    assert process.stderr is not None
    assert "waiting for it" in process.stderr.readline()
    moved.rename(store)
    with Sessions(store) as sessions:
        model = read_model(sessions, "branch_tree")
        wait_for(model, sessions.recorder.max_notification_id())
        model.close()
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0
