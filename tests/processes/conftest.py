"""What the tests with several processes share: a store in a file, and real processes on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tapefold import Sessions

PREAMBLE = """
import json, os, random, sys, time
from tapefold import *

def say(*words):
    print(*words, flush=True)
"""

# Starting Python and importing takes far longer than what is tested here, so one process does
# that, and forks a child for each moment of dying. It has no store open then.
NURSERY = """
import json, os, signal, sys, tempfile, time
from tapefold import Sessions

with tempfile.TemporaryDirectory() as folder, Sessions(folder + "/warm.db") as sessions:
    sessions.start("s", persist=True)
    sessions.execute("s", lambda s: s.finalize("user", "all is imported now"))

for line in sys.stdin:
    arguments, lines, seconds = json.loads(line)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.close(reading)
        sys.argv[1:] = arguments
        try:
            exec(compile(SCRIPT, "script", "exec"), {"__name__": "__main__"})
        finally:
            os._exit(1)
    os.close(writing)
    printed = b""
    while printed.count(b"\\n") < lines and (piece := os.read(reading, 65536)):
        printed += piece
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    while piece := os.read(reading, 65536):
        printed += piece
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    print(json.dumps([printed.decode(), os.WIFSIGNALED(status)]), flush=True)
"""


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def start_process() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process with a script; all of tapefold's names and `say` are defined in it."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object, before: tuple[str, ...] = ()):
        code = PREAMBLE + textwrap.dedent(script)
        process = subprocess.Popen(
            [*before, sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def finish() -> Callable[[subprocess.Popen[str]], list[str]]:
    """Wait for a process that must succeed; answer the lines that it printed."""

    def wait(process: subprocess.Popen[str]) -> list[str]:
        printed, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert errors == ""
        return printed.splitlines()

    return wait


@pytest.fixture
def kill(start_process) -> Callable[..., list[str]]:
    """Run a script in a process of its own, and kill it (SIGKILL) in the middle of its work.

    That is when it has printed `lines` lines, and then `seconds` later. Answers the whole lines
    that it had printed by then. The script must not end by itself.
    """
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot kill a process as these tests do")
    nurseries: dict[str, subprocess.Popen[str]] = {}

    def run(script: str, *arguments: object, lines: int = 0, seconds: float = 0.0) -> list[str]:
        nursery = nurseries.get(script)
        if nursery is None:
            whole = PREAMBLE + textwrap.dedent(script)
            nursery = nurseries[script] = start_process(f"SCRIPT = {whole!r}\n{NURSERY}")
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(json.dumps([[str(a) for a in arguments], lines, seconds]) + "\n")
        nursery.stdin.flush()
        printed, was_killed = json.loads(nursery.stdout.readline())
        assert was_killed, f"the script ended by itself; it printed {printed!r}"
        whole_lines: list[str] = printed.split("\n")[:-1]
        return whole_lines

    return run


@pytest.fixture
def open_sessions() -> Iterator[Callable[..., Sessions]]:
    """Open a store; closed at the end of the test, or before by the test."""
    opened: list[Sessions] = []

    def open_one(path: Path, **options) -> Sessions:
        opened.append(Sessions(path, **options))
        return opened[-1]

    yield open_one
    for sessions in opened:
        sessions.close()
