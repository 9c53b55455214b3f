"""What the driver raises comes out as a typed error that says where, and what to do."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import threading

import eventsourcing.persistence as library
import pytest
from eventsourcing.persistence import StoredEvent

from tapefold.domain.errors import TapefoldError
from tapefold.persistence.errors import (
    StoreBusy,
    StoreClosed,
    StoreFailed,
    StoreMissing,
    StoreNotWritable,
    StoreSettingsRefused,
    StoreTooNew,
    StoreUnreadable,
    TableClash,
)
from tapefold.persistence.sqlite_address import parse_address
from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_errors import translate
from tapefold.persistence.sqlite_recorder import TapeRecorder


def raises(kind: type[TapefoldError], theirs: type[Exception], match: str):
    assert issubclass(kind, TapefoldError)
    assert issubclass(kind, theirs)
    return pytest.raises(kind, match=match)


def test_a_file_that_is_no_database(store_path, open_store):
    store_path.write_bytes(b"this is no database, and long enough to tell" * 40)
    with raises(StoreUnreadable, library.DatabaseError, "not a SQLite database") as caught:
        open_store(store_path)
    assert str(store_path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    assert store_path.read_bytes().startswith(b"this is no database"), "it was left alone"


def test_a_damaged_database(store_path, open_store, event):
    store = open_store(store_path)
    store.insert_events([event("s", n, state=b"x" * 3000) for n in range(1, 200)])
    store.datastore.close()
    with store_path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 200_000)
    with raises(StoreUnreadable, library.DatabaseError, "damaged"):
        open_store(store_path).select_events("s")


def test_a_store_that_somebody_else_has_locked(store_path, open_store, event):
    open_store(store_path)
    other = sqlite3.connect(store_path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = open_store(store_path, busy_timeout=0.05)
    with raises(StoreBusy, library.OperationalError, "SQLITE_LOCK_TIMEOUT"):
        store.insert_events([event("s", 1)])
    assert store.stream_version("s") is None, "reading needs no lock"
    other.execute("ROLLBACK")
    other.close()
    assert store.insert_events([event("s", 1)]) == [1]


def test_a_store_that_cannot_be_opened_for_a_lock(store_path):
    other = sqlite3.connect(store_path, isolation_level=None)
    other.execute("CREATE TABLE t (x)")
    other.execute("BEGIN EXCLUSIVE")
    store = TapeRecorder(TapeDatastore(str(store_path), busy_timeout=0.05))
    with raises(StoreBusy, library.OperationalError, "lock"):
        store.create_table()
    other.close()


@pytest.mark.parametrize("in_memory", [False, True])
def test_another_thread_that_writes_too_long(in_memory, store_path, open_store, event):
    recorder = open_store(":memory:" if in_memory else store_path, busy_timeout=0.05)
    caught: list[BaseException] = []

    def append() -> None:
        try:
            recorder.insert_events([event("s", 1)])
        except TapefoldError as error:
            caught.append(error)

    with recorder.writing():
        thread = threading.Thread(target=append)
        thread.start()
        thread.join()
    assert [type(error) for error in caught] == [StoreBusy]
    assert "another thread" in str(caught[0])


def test_more_readers_than_there_may_be(store_path, open_store):
    store = open_store(store_path, pool_size=1, max_overflow=0, busy_timeout=0.05)
    with (
        store.reading(),
        raises(StoreBusy, library.OperationalError, "all 1 readers are in use"),
    ):
        store.max_notification_id()
    assert store.max_notification_id() is None


def test_a_disk_that_is_full(store_path):
    raw = sqlite3.connect(store_path, isolation_level=None)
    raw.execute("CREATE TABLE t (x)")
    raw.execute("PRAGMA max_page_count=3")
    with pytest.raises(sqlite3.Error) as caught:
        raw.execute("INSERT INTO t VALUES (?)", (b"x" * 100_000,))
    raw.close()
    error = translate(caught.value, parse_address(str(store_path)), at_commit=True)
    assert isinstance(error, StoreNotWritable)
    assert isinstance(error, library.OperationalError)
    assert "disk is full" in str(error)
    assert "not certain" in str(error), "a failed commit says to look before writing again"


def test_a_disk_that_takes_no_more_loses_nothing_that_was_acknowledged(
    store_path, run_python, finish, open_store
):
    pytest.importorskip("resource")
    script = """
        import resource
        from tapefold.persistence.errors import StoreNotWritable
        store = open_store(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            for n in range(1, 1000):
                store.insert_events([event("s", n, state=b"x" * 5000)])
                print(n, flush=True)
        except StoreNotWritable:
            print("refused", store.stream_version("s"))
            os._exit(0)
        """
    printed = finish(run_python(script, store_path)).splitlines()
    acknowledged = int(printed[-2])
    assert printed[-1] == f"refused {acknowledged}"
    assert open_store(store_path).stream_version("s") == acknowledged


@pytest.mark.parametrize("read_only", ["file", "folder"])
def test_a_read_only_store_is_read_where_sqlite_can_and_never_written(
    read_only, run_python, finish
):
    # Rights mean nothing to root, so the process gives them up; the folder stands where all go.
    script = """
        import pathlib, tempfile
        from tapefold.persistence.errors import StoreNotWritable
        folder = pathlib.Path(tempfile.mkdtemp())
        path = folder / "x.db"
        store = open_store(str(path))
        store.insert_events([event("s", 1)])
        store.datastore.close()
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
            os.chown(path, 65534, 65534)
            os.setuid(65534)
        locked, mode = (path, 0o400) if sys.argv[1] == "file" else (folder, 0o500)
        locked.chmod(mode)
        def attempt(use):
            try:
                print(use())
            except StoreNotWritable:
                print("refused")
        attempt(lambda: open_store(str(path)).stream_version("s"))
        attempt(lambda: open_store(str(path)).insert_events([event("s", 2)]))
        attempt(lambda: open_store(path.as_uri() + "?immutable=1").stream_version("s"))
        attempt(lambda: open_store(path.as_uri() + "?immutable=1").insert_events([event("s", 2)]))
        folder.chmod(0o700)
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()
        """
    if not hasattr(os, "setuid"):
        pytest.skip("rights of files are POSIX's")
    printed = finish(run_python(script, read_only)).split()
    # In a folder where it may make no file beside the store, SQLite opens only what it is told
    # that nobody will change.
    first = "1" if read_only == "file" else "refused"
    assert printed == [first, "refused", "1", "refused"]


def test_a_store_of_a_newer_tapefold(store_path, open_store):
    open_store(store_path).datastore.close()
    raw = sqlite3.connect(store_path)
    raw.execute("UPDATE tapefold_meta SET value='7' WHERE key LIKE '%schema_version'")
    raw.commit()
    raw.close()
    with raises(StoreTooNew, library.NotSupportedError, "version 7.*up to 1.*newer one"):
        open_store(store_path)


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE tapefold_events (a, b)",
        "CREATE VIEW tapefold_events AS SELECT 1 AS id",
        "CREATE TABLE tapefold_meta (a, b)",
        # The shape of the library's own table: its ids could be given twice.
        "CREATE TABLE tapefold_events (originator_id TEXT, originator_version INTEGER, "
        "topic TEXT, state BLOB, PRIMARY KEY (originator_id, originator_version))",
        # Without the constraint two events could stand at one position.
        "CREATE TABLE tapefold_events (id INTEGER PRIMARY KEY AUTOINCREMENT, originator_id TEXT, "
        "originator_version INTEGER, topic TEXT, state BLOB)",
    ],
)
def test_a_table_of_our_name_that_is_not_ours(made, store_path, open_store):
    raw = sqlite3.connect(store_path)
    raw.execute(made)
    raw.close()
    with raises(TableClash, library.ProgrammingError, "not made by tapefold"):
        open_store(store_path)


def test_a_database_of_somebody_else_takes_our_tables_beside_its_own(store_path, open_store, event):
    raw = sqlite3.connect(store_path)
    raw.execute("CREATE TABLE theirs (x)")
    raw.execute("INSERT INTO theirs VALUES (1)")
    raw.commit()
    open_store(store_path).insert_events([event("s", 1)])
    assert raw.execute("SELECT x FROM theirs").fetchall() == [(1,)]
    raw.close()


def test_a_store_whose_tables_were_never_made(store_path):
    store = TapeRecorder(TapeDatastore(str(store_path)))
    with raises(StoreMissing, library.OperationalError, "no such table"):
        store.max_notification_id()
    with pytest.raises(StoreMissing):
        _ = store.log_uuid


def test_a_store_that_was_closed(recorder, event):
    """E22. The application that owned it is gone, and closed it."""
    recorder.datastore.close()
    recorder.datastore.close()
    for use in (lambda: recorder.select_events("s"), lambda: recorder.insert_events([])):
        with raises(StoreClosed, library.ConnectionPoolClosedError, "keep a reference"):
            use()


@pytest.mark.parametrize(
    "event",
    [
        StoredEvent("s", 2**63, "topic", b""),
        StoredEvent("s\ud800", 1, "topic", b""),
        StoredEvent("s", 1, "topic\udfff", b""),
    ],
)
def test_a_value_that_sqlite_cannot_hold(event, recorder):
    with pytest.raises(library.DataError, match="cannot be stored"):
        recorder.insert_events([event])
    assert recorder.max_notification_id() is None


def test_asking_for_an_id_that_cannot_exist(recorder):
    with pytest.raises(library.DataError):
        recorder.select_events("\ud800")


@pytest.mark.parametrize("missing", ["topic", "originator_version", "state"])
def test_a_missing_value_is_no_conflict(missing, event, recorder):
    with pytest.raises(library.IntegrityError, match="NOT NULL") as caught:
        recorder.insert_events([dataclasses.replace(event("s", 1), **{missing: None})])
    assert not isinstance(caught.value, TapefoldError)


def test_a_table_name_cannot_bring_sql_with_it():
    for name in ("x; DROP TABLE y", "1x", "x" * 64, "sqlite_x", "tapefold_meta", 'x"', "é"):
        with pytest.raises(StoreSettingsRefused):
            TapeDatastore(":memory:", events_table=name)


def test_any_other_failure_is_typed_too(store_path):
    raw = sqlite3.connect(store_path)
    with pytest.raises(sqlite3.OperationalError) as caught:
        raw.execute("nonsense")
    raw.close()
    error = translate(caught.value, parse_address(str(store_path)))
    assert isinstance(error, StoreFailed)
    assert isinstance(error, library.OperationalError)
