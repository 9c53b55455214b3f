"""The factory that an application of the library names as its PERSISTENCE_MODULE."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import pytest
from eventsourcing.application import Application
from eventsourcing.cipher import AESCipher
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import (
    InfrastructureFactory,
    InfrastructureFactoryError,
    IntegrityError,
    JSONTranscoder,
    Mapper,
    Tracking,
)
from eventsourcing.sqlite import SQLiteTrackingRecorder
from eventsourcing.utils import Environment

from tapefold.domain.errors import TapefoldError
from tapefold.persistence.errors import (
    OriginatorIdTypeRefused,
    StoreMissing,
    StoreSettingsRefused,
    StoreTooNew,
    TableClash,
)
from tapefold.persistence.mapper import TapeMapper
from tapefold.persistence.sqlite_factory import TapeFactory
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_tracking import TapeTrackingRecorder


def environment(path=":memory:", **more: str) -> dict[str, str]:
    return {
        "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
        "SQLITE_DBNAME": str(path),
        "ORIGINATOR_ID_TYPE": "text",
        **more,
    }


class Order(Aggregate):
    @event("Opened")
    def __init__(self, customer: str):
        self.customer = customer
        self.lines: list[str] = []

    @event("LineAdded")
    def add(self, line: str) -> None:
        self.lines.append(line)


class Shop(Application[UUID]):
    is_snapshotting_enabled = True
    snapshotting_intervals: ClassVar = {Order: 3}


def test_the_module_names_one_factory():
    assert type(InfrastructureFactory.construct(environment())) is TapeFactory


@pytest.mark.parametrize("found", [None, "uuid", "UUID", "", "texts"])
def test_other_ids_than_text_are_refused_with_what_to_set(found):
    env = environment()
    del env["ORIGINATOR_ID_TYPE"]
    if found is not None:
        env["ORIGINATOR_ID_TYPE"] = found
    with pytest.raises(
        OriginatorIdTypeRefused,
        match=r"Set SHOP_ORIGINATOR_ID_TYPE or ORIGINATOR_ID_TYPE to 'text'",
    ) as caught:
        InfrastructureFactory.construct(Environment("Shop", env))
    assert isinstance(caught.value, TapefoldError)
    assert isinstance(caught.value, InfrastructureFactoryError)
    with pytest.raises(OriginatorIdTypeRefused):
        Shop(env)


def test_a_host_of_the_library_works_on_it(tmp_path):
    """UUID aggregates, snapshots, a cipher and a compressor; read back by another application."""
    env = environment(
        tmp_path / "shop.db",
        CIPHER_KEY=AESCipher.create_key(16),
        COMPRESSOR_TOPIC="zlib",
    )
    shop = Shop(env)
    order = Order("Ada")
    for line in ("tea", "cups", "milk"):
        order.add(line)
    shop.save(order)
    shop.close()
    again = Shop(env)
    copy: Order = again.repository.get(order.id)
    assert (copy.customer, copy.lines) == ("Ada", ["tea", "cups", "milk"])
    assert again.snapshots is not None
    assert len(list(again.snapshots.get(order.id))) == 1
    assert len(again.notification_log["1,10"].items) == 4
    assert all(b"Ada" not in n.state for n in again.recorder.select_notifications(None, 10))
    again.close()


def test_the_mapper_is_ours_unless_the_host_names_another():
    factory = TapeFactory(environment())
    assert type(factory.mapper()) is TapeMapper
    assert type(factory.mapper(JSONTranscoder(), Mapper)) is Mapper
    named = TapeFactory(environment(MAPPER_TOPIC="eventsourcing.persistence:Mapper"))
    assert type(named.mapper()) is Mapper


def test_settings_may_carry_the_name_of_the_application(tmp_path):
    env = Environment(
        "Shop",
        environment(
            tmp_path / "all.db",
            SHOP_SQLITE_DBNAME=str(tmp_path / "shop.db"),
            SHOP_TAPEFOLD_EVENTS_TABLE="shop_events",
            SQLITE_LOCK_TIMEOUT="2.5",
            SQLITE_POOL_SIZE="2",
            SQLITE_MAX_OVERFLOW="0",
        ),
    )
    factory = TapeFactory(env)
    recorder = factory.application_recorder()
    tracking = factory.tracking_recorder()
    assert isinstance(recorder, TapeRecorder)
    assert isinstance(tracking, TapeTrackingRecorder)
    assert (tmp_path / "shop.db").exists()
    assert not (tmp_path / "all.db").exists()
    assert recorder.events_table_name == "shop_events"
    assert tracking.tracking_table_name == "shop_shop_tracking"
    pool = factory.datastore.pool
    assert (pool.pool_timeout, pool.pool_size, pool.max_overflow) == (2.5, 2, 0)
    factory.close()


def test_a_call_waits_half_a_minute_unless_told_otherwise():
    assert TapeFactory(environment()).datastore.pool.pool_timeout == 30.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("SQLITE_DBNAME", ""),
        ("SQLITE_LOCK_TIMEOUT", "soon"),
        ("SQLITE_LOCK_TIMEOUT", "-1"),
        ("SQLITE_LOCK_TIMEOUT", "nan"),
        ("SQLITE_LOCK_TIMEOUT", "inf"),
        ("SQLITE_POOL_SIZE", "0"),
        ("SQLITE_POOL_SIZE", "many"),
        ("SQLITE_MAX_OVERFLOW", "-1"),
        ("TAPEFOLD_EVENTS_TABLE", "events; DROP TABLE x"),
        ("TAPEFOLD_CREATE_PARENTS", "perhaps"),
        ("CREATE_TABLE", "perhaps"),
        ("SINGLE_ROW_TRACKING", "perhaps"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_by_its_name(key, value):
    with pytest.raises(StoreSettingsRefused, match=f"{key}|name a table"):
        TapeFactory(environment(**{key: value}))


def test_without_create_table_nothing_is_made(tmp_path):
    factory = TapeFactory(environment(tmp_path / "x.db", CREATE_TABLE="no"))
    with pytest.raises(StoreMissing):
        factory.application_recorder()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("create", ["yes", "no"])
def test_a_newer_store_is_refused_at_the_start_of_the_application(create, tmp_path):
    env = environment(tmp_path / "x.db")
    factory = TapeFactory(env)
    factory.application_recorder()
    with factory.datastore.transaction(commit=True) as cursor:
        cursor.execute(
            "UPDATE tapefold_meta SET value='2' WHERE key='tapefold_events.schema_version'"
        )
    factory.close()
    with pytest.raises(StoreTooNew):
        Shop({**env, "CREATE_TABLE": create})


def test_a_view_of_the_library_keeps_working(tmp_path):
    """A host's own tracking recorder, derived from the library's, with the library's table."""
    factory = TapeFactory(environment(tmp_path / "x.db"))
    view = factory.tracking_recorder(SQLiteTrackingRecorder)
    assert type(view) is SQLiteTrackingRecorder
    assert view.max_tracking_id("log") is None
    factory.close()


@pytest.mark.parametrize("first", ["yes", "no"])
def test_both_ways_of_tracking_work_but_not_on_one_table(first, tmp_path):
    env = environment(tmp_path / "x.db", SINGLE_ROW_TRACKING=first)
    factory = TapeFactory(env)
    tracking = factory.tracking_recorder()
    tracking.insert_tracking(Tracking("log", 1))
    tracking.insert_tracking(Tracking("log", 2))
    with pytest.raises(IntegrityError):
        tracking.insert_tracking(Tracking("log", 2))
    assert tracking.max_tracking_id("log") == 2
    factory.close()
    other = TapeFactory({**env, "SINGLE_ROW_TRACKING": "no" if first == "yes" else "yes"})
    with pytest.raises(TableClash, match="SINGLE_ROW_TRACKING"):
        other.tracking_recorder()
    other.close()
