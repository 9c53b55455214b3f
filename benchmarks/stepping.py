"""Stepping through a long session in a terminal: from a key to the end of its redraw."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from select import select
from statistics import median
from time import perf_counter

from tapefold import Sessions

from .commands import command
from .measuring import Bench, Figure, spell
from .stores import ANSWER, QUESTION, SESSION

LINES, COLUMNS = 40, 120
"""A large window: the more columns, the more there is to draw."""
QUIET = 0.15
"""A redraw is over when nothing comes for so long. Not counted. Unit: seconds."""
LIMIT = 0.05
"""What people do not notice. Unit: seconds."""


def measure(bench: Bench) -> Iterator[Figure]:
    """The whole way: the key through the terminal, the step, the screen, the last byte of it."""
    events, times = bench.size(10_000, 40), bench.size(20, 2)
    path = talked(bench.folder, events)
    jumps = [1 + (n * 7_919) % (events - 1) for n in range(times)]
    with stepping(path) as terminal:
        yield _figure("forward", _timed(terminal, ["j"] * times))
        _timed(terminal, ["\x1b[F"])  # to the end: the tape has been walked through then
        yield _figure("back", _timed(terminal, ["k"] * times))
        yield _figure("jump", _timed(terminal, [f":{n}\r" for n in jumps]))
        _timed(terminal, ["c"])
        yield _figure("back, seeing the context", _timed(terminal, ["k"] * times))
        os.write(terminal, b"q")


def _figure(what: str, times: Sequence[float]) -> Figure:
    # The least, as for other commands: a screen on a machine that is busy waits for that.
    detail = f"median {spell(median(times))}, most {spell(max(times))}"
    return Figure(f"key to redraw: {what}", min(times), "seconds", LIMIT, detail=detail)


def _timed(terminal: int, keys: Sequence[str]) -> list[float]:
    times = []
    for key in keys:
        os.write(terminal, key.encode())
        times.append(drawn(terminal))
    return times


def drawn(terminal: int) -> float:
    """Read until the terminal is quiet; answer when the last byte came. Unit: seconds."""
    began = last = perf_counter()
    while True:
        # The first byte is waited for as long as it takes.
        ready, _, _ = select([terminal], [], [], 60 if last == began else QUIET)
        if not ready:
            return last - began
        if not os.read(terminal, 65_536):
            return last - began
        last = perf_counter()


@contextmanager
def stepping(path: Path) -> Iterator[int]:
    """`replay --step` in a terminal of its own; the end that we hold, when it has drawn."""
    terminal, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    for name in ("LINES", "COLUMNS"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [command(), "--db", str(path), "replay", SESSION, "--step"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        drawn(terminal)
        yield terminal
    finally:
        process.terminate()
        process.wait()
        os.close(terminal)


def talked(folder: Path, events: int) -> Path:
    """A store with one session of questions, calls, results, answers and some compactions."""
    path = folder / "talk.db"
    with Sessions(path) as sessions:
        talk = sessions.start(SESSION)
        turn = 0
        while talk.version < events:
            turn += 1
            talk.finalize("user", QUESTION)
            call = {"type": "tool_call", "call_id": f"c{turn}", "name": "look", "arguments": {}}
            talk.finalize("assistant", [call], model="demo-1", provider="demo")
            talk.finalize("tool_result", ANSWER, for_call=f"c{turn}")
            answer = talk.finalize("assistant", ANSWER, model="demo-1", provider="demo")
            if turn % 500 == 0:
                talk.compact(summary=ANSWER, first_kept=answer.entry_id)
            if turn % 100 == 0:
                sessions.save(talk)
        sessions.save(talk)
    return path
