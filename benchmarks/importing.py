"""Importing a session file, against the least that any importer would do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path
from time import perf_counter, process_time

from tapefold import Sessions, import_file
from tapefold.importing import CHUNK

from .durable_append import INSERT, raw_store
from .measuring import Bench, Figure, Sides, spell
from .pi_file import SESSION, write_pi_file

ENTRY = "tapefold.MessageFinalized"

CHILD = """
import sys
from tapefold import Sessions, import_file
with Sessions(sys.argv[2]) as sessions:
    report = import_file(sessions, sys.argv[1])
assert report.kept + report.already == report.read, report
try:
    # Not getrusage: there a child begins with what its parent had when it was started.
    with open("/proc/self/status") as status:
        print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
except OSError:
    import resource
    unit = 1024 if sys.platform == "darwin" else 1
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit)
"""
"""Imports a file in a process of its own and prints its peak of resident memory in KiB."""


def bare_loop(file: Path, store: Path, like: Path) -> None:
    """Split, parse and insert: the same table, as durable, as many rows in a transaction."""
    raw = raw_store(store, like)
    raw.isolation_level = None
    with file.open("rb") as lines:
        numbers = count(1)
        while chunk := list(islice(lines, CHUNK)):
            rows = []
            for line in chunk:
                json.loads(line)
                rows.append((SESSION, next(numbers), ENTRY, line))
            raw.execute("BEGIN IMMEDIATE")
            raw.executemany(INSERT, rows)
            raw.execute("COMMIT")
    raw.close()


def measure(bench: Bench) -> Iterator[Figure]:
    """First the speed, at a size that lets the rounds follow each other soon; then the memory."""
    lines = bench.size(30_000, 200)
    file = bench.folder / "session.jsonl"
    size = write_pi_file(file, lines)
    like = bench.folder / "like.db"
    with Sessions(like) as sessions:
        sessions.start("like", persist=True)
    rounds, walls, again = [], [], []
    for number in range(bench.size(5, 1)):
        ours, theirs = bench.folder / f"ours{number}.db", bench.folder / f"bare{number}.db"
        bare = _times(partial(bare_loop, file, theirs, like))
        first = _times(partial(_imported, file, ours, lines))
        second = _times(partial(_imported, file, ours, lines))
        rounds.append((first[0], bare[0]))
        walls.append((first[1], bare[1]))
        again.append((second[0], first[0]))
        ours.unlink()
        theirs.unlink()
    speed, wall = Sides(rounds), Sides(walls)
    yield Figure(
        f"import of {lines} lines, {size / 1e6:.0f} MB : split, json.loads, insert (processor)",
        speed.ratio(0, 1),
        limit=4,
        aim=3,
        detail=speed.describe("import", "bare loop")
        + f"; {spell(speed.time(0) / lines)} a line; waiting for the disk too: "
        + wall.describe("import", "bare loop"),
    )
    yield Figure(
        "the same file imported again, with nothing new : the first time (processor)",
        Sides(again).ratio(0, 1),
        limit=1,
    )
    yield from _memory(bench)


def _memory(bench: Bench) -> Iterator[Figure]:
    lines = 1_500_000 if bench.full else bench.size(150_000, 200)
    file, store = bench.folder / "long.jsonl", bench.folder / "long.db"
    size = write_pi_file(file, lines)
    for what in ("import", "import again"):
        command = [sys.executable, "-c", CHILD, str(file), str(store)]
        said = subprocess.run(command, check=True, capture_output=True, text=True)
        yield Figure(
            f"peak memory of a process: {what} of {lines} lines, {size / 1e6:.0f} MB",
            int(said.stdout) * 1024 / 1e6,
            "MB",
            # What a process needs anyway, and a share of the limit for 1.5 million entries.
            limit=1000 if bench.full else 100 + 900 * lines / 1_500_000,
        )


def _imported(file: Path, store: Path, lines: int) -> None:
    with Sessions(store) as sessions:
        report = import_file(sessions, file)
    assert report.kept + report.already == lines, report


def _times(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the processor, and of the clock on the wall."""
    used, started = process_time(), perf_counter()
    action()
    return process_time() - used, perf_counter() - started
