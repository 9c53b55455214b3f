"""Where our SQLite store is sewn to the library: fails when the library changes there.

docs/seams.md says why each is overridden; it must name them all.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from eventsourcing import persistence, sqlite
from eventsourcing.utils import Environment

from tapefold.persistence.sqlite_connection import StoreConnection, StoreCursor
from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_factory import TapeFactory
from tapefold.persistence.sqlite_pool import StorePool
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_tracking import (
    TapeAggregateRecorder,
    TapeProcessRecorder,
    TapeTrackingRecorder,
)
from tapefold.persistence.subscription import PollingSubscription

OURS = (
    StoreCursor,
    StoreConnection,
    StorePool,
    TapeDatastore,
    TapeRecorder,
    TapeAggregateRecorder,
    TapeTrackingRecorder,
    TapeProcessRecorder,
    PollingSubscription,
    TapeFactory,
)

# Where we ask for other things than the library: what the library asked for when we did so.
THEIR_SIGNATURES = {
    "StoreCursor.__init__": "(self, sqlite_cursor)",
    "StoreConnection.__init__": "(self, sqlite_conn, max_age)",
    "StorePool.__init__": "(self, *, db_name, lock_timeout, pool_size, max_overflow, "
    "pool_timeout, max_age, pre_ping)",
    "StorePool._create_connection": "(self)",
    "TapeDatastore.__init__": "(self, db_name, *, lock_timeout, pool_size, max_overflow, "
    "pool_timeout, max_age, pre_ping, single_row_tracking, originator_id_type)",
    "PollingSubscription.__init__": "(self, recorder, gt, topics)",
}

# What we use of the library's objects beside its public methods.
ATTRIBUTES: list[tuple[object, str]] = [
    (
        sqlite.SQLiteConnectionPool(db_name=":memory:"),
        "_closed _in_use _is_pool_full _is_use_full _num_in_use _pool _put_condition "
        "max_overflow pool_size pool_timeout",
    ),
    (
        sqlite.SQLiteConnectionPool(db_name=":memory:").get_connection(),
        "_close _sqlite_conn close closed",
    ),
    (sqlite.SQLiteDatastore(":memory:"), "originator_id_type pool single_row_tracking"),
    (
        sqlite.SQLiteApplicationRecorder(sqlite.SQLiteDatastore(":memory:")),
        "create_table_statements datastore events_table_name insert_events_statement "
        "select_max_notification_id_statement",
    ),
    (
        sqlite.SQLiteTrackingRecorder(sqlite.SQLiteDatastore(":memory:")),
        "insert_tracking_statement select_max_tracking_id_statement _max_tracking_id",
    ),
    (
        sqlite.SQLiteFactory({"SQLITE_DBNAME": ":memory:"}),
        "APPLICATION_RECORDER_TOPIC CREATE_TABLE MAPPER_TOPIC ORIGINATOR_ID_TYPE SQLITE_DBNAME "
        "SQLITE_LOCK_TIMEOUT SQLITE_SINGLE_ROW_TRACKING aggregate_recorder_class "
        "application_recorder_class cipher compressor datastore env process_recorder_class "
        "tracking_recorder_class",
    ),
    (Environment("Name", {}), "create_keys name"),
]


def their_method(cls: type, name: str):
    for base in cls.__mro__[1:]:
        if base.__module__.startswith("eventsourcing.") and name in vars(base):
            return vars(base)[name]
    return None


def overridden() -> list[tuple[type, str]]:
    return [
        (cls, name)
        for cls in OURS
        for name, ours in vars(cls).items()
        if inspect.isfunction(ours) and inspect.isfunction(their_method(cls, name))
    ]


def shape(function) -> list[tuple[str, object]]:
    parameters = inspect.signature(function).parameters.values()
    return [
        # The names of *args and **kwargs mean nothing to a caller.
        (parameter.name if parameter.kind not in (2, 4) else "", parameter.kind)
        for parameter in parameters
    ]


def spelled(function) -> str:
    bare = [
        parameter.replace(annotation=parameter.empty, default=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
    ]
    return str(inspect.Signature(bare))


def test_the_list_of_seams_is_not_empty():
    assert len(overridden()) > 30


@pytest.mark.parametrize(
    ("cls", "name"), overridden(), ids=lambda part: getattr(part, "__name__", part)
)
def test_what_we_override_is_called_as_the_library_calls_it(cls, name):
    theirs = their_method(cls, name)
    expected = THEIR_SIGNATURES.get(f"{cls.__name__}.{name}")
    if expected is None:
        assert shape(vars(cls)[name]) == shape(theirs)
    else:
        assert spelled(theirs) == expected


@pytest.mark.parametrize(
    ("theirs", "names"), ATTRIBUTES, ids=[type(theirs).__name__ for theirs, _ in ATTRIBUTES]
)
def test_what_we_use_of_the_library_exists(theirs, names):
    assert [name for name in names.split() if not hasattr(theirs, name)] == []


def test_the_library_still_has_the_faults_that_our_seams_are_for():
    """When one of these fails, a seam may have become needless."""
    stock = sqlite.SQLiteApplicationRecorder(sqlite.SQLiteDatastore(":memory:"))
    with pytest.raises(NotImplementedError):
        stock.subscribe()
    assert "AUTOINCREMENT" not in "".join(stock.create_table_statements)
    begin = inspect.getsource(sqlite.SQLiteTransaction.__enter__)
    assert '"BEGIN"' in begin
    assert "IMMEDIATE" not in begin


def test_the_ways_of_failing_that_we_derive_from_are_those_of_pep_249():
    for name in ("OperationalError", "IntegrityError", "DataError", "NotSupportedError"):
        assert issubclass(getattr(persistence, name), persistence.DatabaseError)


def test_every_seam_is_explained_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "seams.md").read_text()
    missing = [
        f"{cls.__name__}.{name}"
        for cls, name in overridden()
        if name != "__init__" and f"`{cls.__name__}.{name}`" not in text
    ]
    assert missing == []
