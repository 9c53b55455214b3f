"""What projections need where there is much: memory, cost of an event, pages that are read."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from tapefold import Sessions
from tapefold.projections.branch_tree.index import SessionFilter, SessionIndex
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.database import connect
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.effective_view.reading import EffectiveReader
from tapefold.projections.log import Log

from .agents import session_name, store
from .measuring import Bench, Figure, spell, time_of
from .projections import PROJECTIONS, follow, rebuild, remove, times_of

PAGE = 20
CHILD = """
import json, sys
from pathlib import Path
sys.path.append(sys.argv[1])
from benchmarks.projection_sizes import in_child
print(json.dumps(in_child(Path(sys.argv[2]), sys.argv[3], sys.argv[4], Path(sys.argv[5]))))
"""


def measure(bench: Bench) -> Iterator[Figure]:
    """Pages first; then memory, with --full at a million events."""
    yield from _last_page(bench)
    yield from _index(bench)
    yield from _memory(bench)


def _last_page(bench: Bench) -> Iterator[Figure]:
    """The newest messages of a long session, by one statement."""
    length = bench.size(105_000, 100)
    path = bench.folder / "view.db"
    with Sessions(store(bench.folder / "one.db", 1, length)) as sessions:
        log = Log(sessions.recorder, sessions.mapper)
        rebuild(path, EffectiveView(), log)
        connection = connect(path, read_only=True)
        reader = EffectiveReader(connection, log)
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        found = reader.last(session_name(0), PAGE)
        connection.set_trace_callback(None)
        assert len(statements) == 1, statements
        assert len(found) == PAGE, len(found)
        taken = min(time_of(lambda: reader.last(session_name(0), PAGE)) for _ in range(20))
        (messages,) = connection.execute("SELECT count(*) FROM ev_messages").fetchone()
        connection.close()
    remove(path)
    yield Figure(
        f"the last {PAGE} messages of a session of {messages}, one statement",
        taken,
        "seconds",
        limit=0.01,
    )


def _index(bench: Bench) -> Iterator[Figure]:
    """Pages of the index of sessions, over copies of a real row."""
    number = bench.size(100_000, 200)
    path = bench.folder / "index.db"
    with Sessions(store(bench.folder / "few.db", 2, 20)) as sessions:
        rebuild(path, BranchTree(), Log(sessions.recorder, sessions.mapper))
    connection = connect(path)
    moment = _copies(connection, number)
    index = SessionIndex(connection)
    since = datetime.fromtimestamp(moment + number * 0.9, UTC)
    asked = {
        "the newest": (SessionFilter(), "newest"),
        "in the order of names": (SessionFilter(), "name"),
        "of a directory": (SessionFilter(directories=["/home/gardener/project5"]), "newest"),
        "with a text in the name": (SessionFilter(name=f"bed {number // 2} "), "newest"),
        "since a time": (SessionFilter(since=since), "newest"),
    }
    for what, (wanted, sort) in asked.items():

        def read(wanted: SessionFilter = wanted, sort: str = sort) -> None:
            assert list(index.page(wanted, sort=sort, limit=50)), wanted

        yield Figure(
            f"a page of 50 of {number} sessions, {what}",
            min(time_of(read) for _ in range(bench.size(5, 1))),
            "seconds",
            limit=1,
            aim=0.5,
        )
    connection.close()
    remove(path)


def _copies(connection: Connection, number: int) -> float:
    """Fill the index with copies; answers the moment of the oldest."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(bt_sessions)")]
    values = connection.execute("SELECT * FROM bt_sessions").fetchone()
    one: dict[str, Any] = dict(zip(columns, values, strict=True))
    connection.execute("BEGIN")
    for i in range(number):
        copy = {
            **one,
            "session_id": f"copy-{i:06d}",
            "title": f"Bed {i * 7919 % number} of the garden",
            "directory": f"/home/gardener/project{i % 97}",
            "moment": one["moment"] + i * 7919 % number,
            "last_id": one["last_id"] + i,
        }
        connection.execute(
            f"INSERT INTO bt_sessions VALUES ({', '.join('?' * len(columns))})",
            tuple(copy.values()),
        )
    connection.execute("COMMIT")
    return float(one["moment"])


def in_child(source: Path, name: str, way: str, target: Path) -> tuple[float, int]:
    """What a process of its own does: seconds of the processor for each event, and its peak of
    resident memory in bytes."""
    projection = next(one for one in PROJECTIONS if name == one.NAME)
    action = {"rebuild": rebuild, "follow": follow}[way]
    with Sessions(source) as sessions:
        log = Log(sessions.recorder, sessions.mapper)
        taken, _ = times_of(lambda: action(target, projection, log), log.count_after(0))
    return taken, _peak_memory()


def _peak_memory() -> int:
    try:
        # Not getrusage: there a child begins with what its parent had when it was started.
        with Path("/proc/self/status").open() as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _memory(bench: Bench) -> Iterator[Figure]:
    """Memory and cost by size: with --full of a million events and of a tenth of that."""
    length = bench.size(100, 20)
    sizes = (10_000, 1_000) if bench.full else (bench.size(400, 4),)
    for projection in PROJECTIONS if bench.full else PROJECTIONS[:1]:
        costs = []
        for size in sizes:
            source = store(bench.folder / f"{size}.db", size, length)
            for way in ("rebuild", "follow"):
                taken, figure = _peak(bench, source, projection.NAME, way, f"{size} sessions")
                yield figure
                if way == "rebuild":
                    costs.append(taken)
        if bench.full:
            yield Figure(
                f"{projection.NAME}: rebuild, an event at 1,000,000 : at 100,000 (processor)",
                costs[0] / costs[1],
                limit=1.3,
            )
        yield _peak(bench, bench.folder / "one.db", projection.NAME, "rebuild", "one session")[1]


def _peak(bench: Bench, source: Path, name: str, way: str, what: str) -> tuple[float, Figure]:
    root = str(Path(__file__).resolve().parent.parent)
    target = bench.folder / "child.db"
    command = [sys.executable, "-c", CHILD, root, str(source), name, way, str(target)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    taken, peak = json.loads(said.stdout)
    remove(target)
    figure = Figure(
        f"{name}: peak memory, {way}, {what}",
        peak / 1e6,
        "MB",
        limit=400,
        detail=f"{spell(taken)} an event (processor)",
    )
    return taken, figure
