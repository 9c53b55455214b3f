"""Several processes on one store, processes that are killed, and what reaches the disk."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import threading
from collections import Counter

import pytest

from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_recorder import TapeRecorder


def test_first_starts_at_the_same_moment_make_one_store(store_path, run_python, finish, open_store):
    """E13. Eight processes find no file, and all begin to append."""
    script = """
        sys.stdin.readline()
        store = open_store(sys.argv[1])
        store.insert_events([event(sys.argv[2], n) for n in range(1, 11)])
        print(store.log_uuid)
        """
    processes = [run_python(script, store_path, f"s{i}") for i in range(8)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    uuids = {finish(process) for process in processes}
    store = open_store(store_path)
    assert uuids == {store.log_uuid + "\n"}
    assert store.max_notification_id() == 80


@pytest.mark.parametrize("round_", range(3))
@pytest.mark.parametrize("first_use", ["looks", "writes"])
def test_first_starts_of_threads_with_stores_of_their_own(
    first_use, round_, store_path, open_store
):
    """E13. As with processes, but they meet more closely; those that write do not look first."""
    barrier = threading.Barrier(12)
    failures: list[BaseException] = []

    def start() -> None:
        datastore = TapeDatastore(str(store_path))
        barrier.wait()
        try:
            if first_use == "looks":
                TapeRecorder(datastore).create_table()
            else:
                with datastore.transaction(commit=True) as cursor:
                    cursor.execute("CREATE TABLE IF NOT EXISTS theirs (x)")
        except BaseException as error:
            failures.append(error)
        finally:
            datastore.close()

    threads = [threading.Thread(target=start) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert open_store(store_path).max_notification_id() is None


@pytest.mark.parametrize("appends", [60, pytest.param(250, marks=pytest.mark.slow)])
def test_eight_processes_append_to_one_stream(appends, store_path, run_python, finish, open_store):
    """Each decides under the lock, so nobody conflicts; nobody is made to wait for ever."""
    script = """
        store = open_store(sys.argv[1], busy_timeout=20)
        worst = 0.0
        for _ in range(int(sys.argv[3])):
            started = time.monotonic()
            with store.writing() as transaction:
                last = transaction.stream_version("s") or 0
                transaction.insert_events([event("s", last + 1, state=sys.argv[2].encode())])
            worst = max(worst, time.monotonic() - started)
        print(worst)
        """
    open_store(store_path)
    processes = [run_python(script, store_path, i, appends) for i in range(8)]
    worst = max(float(finish(process)) for process in processes)
    store = open_store(store_path)
    rows = list(store.iter_events("s"))
    assert [row[0] for row in rows] == list(range(1, 8 * appends + 1))
    assert Counter(row[2] for row in rows) == {str(i).encode(): appends for i in range(8)}
    assert worst < 20, "a longer wait would have been a StoreBusy"


def test_what_a_killed_writer_acknowledged_is_there_and_the_next_append_works(
    store_path, run_python, open_store, event
):
    script = """
        store = open_store(sys.argv[1])
        n = store.stream_version("s") or 0
        while True:
            n += 1
            with store.writing() as transaction:
                transaction.insert_events([event("s", n, state=b"x" * 3000)])
                transaction.insert_events([event("t", n)])
            print(n, flush=True)
        """
    for _ in range(5):
        process = run_python(script, store_path)
        acknowledged = int(process.stdout.readline())
        threading.Event().wait(random.uniform(0, 0.1))
        process.kill()
        acknowledged = max([acknowledged, *map(int, process.stdout.read().split())])
        store = open_store(store_path)
        last = store.stream_version("s")
        assert acknowledged <= last <= acknowledged + 1
        assert store.stream_version("t") == last, "a batch is there whole or not at all"
        assert store.insert_events([event("s", last + 1), event("t", last + 1)])
        store.datastore.close()
    raw = sqlite3.connect(store_path)
    assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    raw.close()


def test_the_connection_that_writes_is_durable(open_store, store_path):
    """Asked on the writer's own connection: another one may well have other settings."""
    store = open_store(store_path)

    def ask(cursor, pragma):
        cursor.execute(f"PRAGMA {pragma}")
        return cursor.fetchone()[0]

    with store.datastore.transaction(commit=True) as cursor:
        assert ask(cursor, "journal_mode") == "wal"
        assert ask(cursor, "synchronous") == 2, "FULL"
        assert ask(cursor, "fullfsync") == 1
    with store.datastore.transaction(commit=False) as cursor:
        assert ask(cursor, "synchronous") == 2


def test_an_acknowledged_append_is_one_sync_of_the_disk(store_path, run_python, finish, open_store):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = store_path.with_name("strace.txt")
    strace = ("strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(log))
    if subprocess.run([*strace, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace here")
    script = """
        store = open_store(sys.argv[1])
        store.insert_events([event("s", 1)])
        for n in range(2, 52):
            os.write(2, b"before %d" % n)
            store.insert_events([event("s", n)])
            os.write(2, b"acknowledged %d" % n)
        """
    finish(run_python(script, store_path, before=strace))
    calls = re.findall(
        r'(fsync|fdatasync|write\(2, "before|write\(2, "acknowledged)', log.read_text()
    )
    text = " ".join(calls)
    appends = re.findall(r'"before(.*?)write\(2, "acknowledged', text)
    assert len(appends) == 50
    assert {len(append.split()) for append in appends} == {1}


def test_opening_a_store_does_not_wait_for_a_writer(open_store, store_path):
    """A long import must not keep anybody from looking."""
    writer = open_store(store_path)
    with writer.writing():
        reader = open_store(store_path, busy_timeout=0.01)
        assert reader.max_notification_id() is None
