"""A process that forks must not share connections, nor their locks, with its child."""

from __future__ import annotations

import os
import sqlite3
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

FORK = """
def in_child(action):
    pid = os.fork()
    if pid == 0:
        try:
            print(action(), flush=True)
        except BaseException as error:
            print(type(error).__name__, flush=True)
        finally:
            os._exit(0)
    return pid
"""


def test_parent_and_child_both_go_on_writing(store_path, run_python, finish, open_store):
    script = FORK + (
        """
store = open_store(sys.argv[1])
store.insert_events([event("s", 1)])
store.stream_version("s")
def append():
    return [store.insert_events([event(f"child", n)]) for n in range(1, 101)][-1] and "done"
children = [in_child(append)]
for n in range(2, 102):
    store.insert_events([event("s", n)])
os.waitpid(children[0], 0)
print(store.stream_version("child"))
"""
    )
    assert finish(run_python(script, store_path)) == "done\n100\n"
    store = open_store(store_path)
    assert (store.stream_version("s"), store.stream_version("child")) == (101, 100)
    assert store.max_notification_id() == 201


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the locks from /proc")
def test_the_child_holds_locks_of_its_own(store_path, run_python, finish):
    """SQLite keeps what a process has locked in memory, which a child inherits without the locks.
    With an inherited connection, even an unused one, the child would hold no lock that keeps
    other processes from deleting the write-ahead log under it, and with it what it appended."""
    script = FORK + (
        """
def locks_of(pid):
    with open("/proc/locks") as file:
        return sorted(line.split()[6:] for line in file if f" {pid} " in line)
store = open_store(sys.argv[1])
store.insert_events([event("s", 1)])
store.stream_version("s")
def append():
    store.insert_events([event("s", 2)])
    return locks_of(os.getpid())
os.waitpid(in_child(append), 0)
store.insert_events([event("s", 3)])
print(locks_of(os.getpid()))
"""
    )
    child, parent = finish(run_python(script, store_path)).splitlines()
    assert child == parent
    assert child.count("[") >= 3, "the file, and the index of its write-ahead log"


def test_what_a_child_appends_stays_when_the_parent_ends_first(
    store_path, run_python, finish, open_store
):
    """The last connection deletes the write-ahead log; the parent's must not count as the last."""
    script = FORK + (
        """
store = open_store(sys.argv[1])
store.insert_events([event("s", 1)])
ready, go = os.pipe(), os.pipe()
def append():
    store.insert_events([event("s", 2)])
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    return store.insert_events([event("s", 3)])
pid = in_child(append)
os.read(ready[0], 1)
store.datastore.close()
os.write(go[1], b"x")
os.waitpid(pid, 0)
"""
    )
    assert finish(run_python(script, store_path)) == "[3]\n"
    assert open_store(store_path).stream_version("s") == 3


@pytest.mark.parametrize("opened", ["by the parent", "by the child"])
@pytest.mark.parametrize("block", ["reading", "writing"])
def test_a_fork_in_the_middle_of_a_transaction_gives_the_child_an_error(
    block, opened, store_path, run_python, finish, open_store
):
    """It cannot open the store anew either: SQLite has one memory of its locks in a process."""
    script = FORK + (
        """
store = open_store(sys.argv[1])
def append():
    mine = open_store(sys.argv[1]) if sys.argv[3] == "by the child" else store
    return mine.insert_events([event("child", 1)])
with getattr(store, sys.argv[2])() as transaction:
    transaction.stream_version("s")
    os.waitpid(in_child(append), 0)
    if sys.argv[2] == "writing":
        transaction.insert_events([event("s", 1)])
print(store.insert_events([event("s", (store.stream_version("s") or 0) + 1)]))
"""
    )
    printed = finish(run_python(script, store_path, block, opened)).splitlines()
    assert printed == ["StoreForked", "[2]" if block == "writing" else "[1]"]
    assert open_store(store_path).stream_version("child") is None


@pytest.mark.parametrize("child_ends", ["the block", "with an exception"])
def test_a_child_that_leaves_the_block_of_its_parent_spoils_nothing(
    child_ends, store_path, run_python, finish, open_store
):
    """Its copy of the transaction must neither commit nor roll back: both would write to the
    index of the write-ahead log, where the parent's events are not yet committed."""
    script = """
        store = open_store(sys.argv[1])
        pid = None
        try:
            with store.writing() as transaction:
                for n in range(1, 3001):
                    transaction.insert_events([event("s", n, state=b"x" * 2000)])
                pid = os.fork()
                if pid == 0 and sys.argv[2] == "with an exception":
                    raise ValueError
                if pid != 0:
                    os.waitpid(pid, 0)
                    transaction.insert_events([event("s", 3001)])
        except Exception as error:
            print(type(error).__name__, flush=True)
            sys.exit()  # not os._exit: the end of the interpreter closes what is open
        print(store.stream_version("s"))
        """
    printed = finish(run_python(script, store_path, child_ends)).split()
    assert printed == ["StoreForked" if child_ends == "the block" else "ValueError", "3001"]
    raw = sqlite3.connect(store_path)
    assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()
    assert sum(1 for _ in open_store(store_path).iter_events("s")) == 3001


def test_a_fork_waits_for_transactions_of_other_threads(store_path, run_python, finish):
    script = FORK + (
        """
import threading
store = open_store(sys.argv[1])
stop = threading.Event()
def keep_busy(stream):
    n = 0
    while not stop.is_set():
        n += 1
        store.insert_events([event(stream, n)])
        store.stream_version(stream)
threads = [threading.Thread(target=keep_busy, args=(f"t{i}",)) for i in range(4)]
for thread in threads:
    thread.start()
for i in range(5):
    time.sleep(0.02)
    os.waitpid(in_child(lambda: store.insert_events([event(f"child{i}", 1)]) and "ok"), 0)
stop.set()
for thread in threads:
    thread.join()
"""
    )
    assert finish(run_python(script, store_path)) == "ok\n" * 5


def test_a_fork_that_python_did_not_see_gives_the_child_an_error(store_path, run_python, finish):
    """A server written in C may fork without telling; then nothing could be closed before."""
    script = """
        import ctypes
        store = open_store(sys.argv[1])
        libc = ctypes.CDLL(None)
        pid = libc.fork()
        if pid == 0:
            try:
                store.stream_version("s")
            except BaseException as error:
                os.write(1, type(error).__name__.encode())
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        """
    assert finish(run_python(script, store_path)) == "StoreForked"


def test_a_store_in_memory_is_copied_by_a_fork(run_python, finish):
    script = FORK + (
        """
store = open_store(":memory:")
store.insert_events([event("s", 1)])
def append():
    store.insert_events([event("s", 2)])
    return store.stream_version("s")
os.waitpid(in_child(append), 0)
print(store.stream_version("s"))
"""
    )
    assert finish(run_python(script)) == "2\n1\n"
