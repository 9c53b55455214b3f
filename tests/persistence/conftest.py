"""What the tests of the SQLite store share: a store in a folder of its own, and processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent

from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_recorder import TapeRecorder

PREAMBLE = """
import os, sys, time
from eventsourcing.persistence import StoredEvent
from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_recorder import TapeRecorder

def open_store(path, **options):
    recorder = TapeRecorder(TapeDatastore(path, **options))
    recorder.create_table()
    return recorder

def event(stream, position, state=b"state", topic="topic"):
    return StoredEvent(stream, position, topic, state)
"""


def make_event(
    stream: str, position: int, state: bytes = b"state", topic: str = "topic"
) -> StoredEvent:
    return StoredEvent(stream, position, topic, state)


@pytest.fixture
def event() -> Callable[..., StoredEvent]:
    return make_event


@pytest.fixture
def open_store() -> Iterator[Callable[..., TapeRecorder]]:
    """Open a store, with its tables; closed at the end of the test."""
    opened: list[TapeDatastore] = []

    def open_one(where: Path | str, **options) -> TapeRecorder:
        datastore = TapeDatastore(str(where), **options)
        opened.append(datastore)
        recorder = TapeRecorder(datastore)
        recorder.create_table()
        return recorder

    yield open_one
    for datastore in opened:
        datastore.close()


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture(params=["file", "memory"])
def recorder(request, open_store: Callable[..., TapeRecorder], store_path) -> TapeRecorder:
    """A store in a file, and one in memory: both must behave the same."""
    return open_store(store_path if request.param == "file" else ":memory:")


@pytest.fixture
def run_python() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another process with a script; `open_store` and `event` are defined in it."""
    started: list[subprocess.Popen[str]] = []

    def run(script: str, *args: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*before, sys.executable, "-c", PREAMBLE + textwrap.dedent(script), *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def finish() -> Callable[[subprocess.Popen[str]], str]:
    """Wait for a process that must succeed; return what it printed."""

    def wait(process: subprocess.Popen[str]) -> str:
        printed, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        return printed

    return wait
