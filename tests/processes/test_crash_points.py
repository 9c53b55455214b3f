"""A process dies at each single write to the files of its store, one after the other.

`strace` kills it in the system call of our choice, so no moment is left to chance.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tapefold import Sessions

pytestmark = pytest.mark.slow  # a process for each of some eighty system calls

SYSTEM_CALLS = "pwrite64,pwritev,ftruncate,fdatasync,fsync"
AT_ONCE = 4


@pytest.fixture
def crash(tmp_path: Path, start_process):
    """Run a script on copies of a store; in each copy the process dies in another system call.

    Yields (path, the lines that it had printed) for each copy. Two runs need not write alike
    (their ids and times differ), so the last calls of the first run may not come in another: that
    process ends by itself, and its copy must hold all.
    """
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace.txt"
    trace = ("strace", "-f", "-e", f"trace={SYSTEM_CALLS}", "-o", str(log))

    def calls_in(log: Path) -> Counter[str]:
        return Counter(re.findall(r"\b([a-z0-9]+)\(", log.read_text()))

    if subprocess.run([*trace, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace here")

    def copy_of(store: Path, name: object) -> Path:
        path = tmp_path / f"copy-{name}" / store.name
        path.parent.mkdir()
        if store.exists():
            shutil.copy(store, path)
        return path

    def run(script: str, store: Path):
        whole = start_process(script, copy_of(store, "whole"), before=trace)
        assert whole.wait(timeout=60) == 0, whole.stderr.read()
        calls = calls_in(log)
        points = [(name, n) for name in calls for n in range(1, calls[name] + 1)]
        assert calls["pwrite64"] > 5
        died = 0
        for start in range(0, len(points), AT_ONCE):
            running = []
            for name, n in points[start : start + AT_ONCE]:
                path = copy_of(store, f"{name}-{n}")
                own_log = path.with_name("strace.txt")
                inject = ("-e", f"inject={name}:signal=SIGKILL:when={n}")
                process = start_process(script, path, before=(*trace[:-1], str(own_log), *inject))
                running.append((path, name, n, own_log, process))
            for path, name, n, own_log, process in running:
                printed, errors = process.communicate(timeout=60)
                if process.returncode == 0:
                    assert calls_in(own_log)[name] < n, "it should have died there"
                    assert printed, "it ended by itself, with its work done"
                else:
                    died += 1
                    assert process.returncode == -9, errors
                yield path, printed.splitlines()
        assert died > len(points) * 3 // 4

    return run


def test_a_fork_is_whole_or_absent_wherever_its_process_dies(store_path, open_sessions, crash):
    script = """
        sessions = Sessions(sys.argv[1])
        say(sessions.fork("s", fork_id="side").id)
        sessions.close()
        """
    with Sessions(store_path) as sessions:
        session = sessions.start("s")
        session.finalize("user", "Where does this road go?")
        sessions.save(session)
    outcomes = set()
    for path, printed in crash(script, store_path):
        sessions = open_sessions(path)
        receipts = {e.body.child for e in sessions.tape("s") if e.head.kind == "forked"}
        children = {info.session_id for info in sessions.sessions() if info.parent == "s"}
        assert receipts == children
        assert set(printed) <= children
        outcomes.add((len(printed), len(children)))
        child = sessions.fork("s", fork_id="side")
        assert [m.role for m in sessions.view(child.id).messages] == ["user"]
        assert sessions.state("s").position == 3, "the same fork, not another one"
    assert (0, 0) in outcomes
    assert (1, 1) in outcomes


def test_a_store_can_be_begun_again_wherever_its_first_process_dies(
    store_path, open_sessions, crash
):
    script = """
        sessions = Sessions(sys.argv[1])
        session = sessions.start("s")
        session.finalize("user", "first words")
        sessions.save(session)
        say(sessions.execute("s", lambda s: s.finalize("user", "second words")).position)
        sessions.close()
        """
    outcomes = set()
    for path, printed in crash(script, store_path):
        sessions = open_sessions(path)
        positions = [info.position for info in sessions.sessions()]
        outcomes.add(tuple(positions))
        assert positions in ([], [2], [3])
        assert printed in ([], ["3"])
        assert positions == [3] or not printed
        if not positions:
            session = sessions.start("s")
            session.finalize("user", "first words")
            sessions.save(session)
        last = sessions.execute("s", lambda s: s.finalize("user", "more words")).position
        assert [e.position for e in sessions.tape("s")] == list(range(1, last + 1))
    assert outcomes >= {(), (2,), (3,)}
