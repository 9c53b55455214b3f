"""The library's own abstract test cases, run against our recorders and our factory."""

from __future__ import annotations

from typing import ClassVar
from uuid import uuid4

import eventsourcing.tests.application as upstream_application
import eventsourcing.tests.persistence as upstream
import eventsourcing.tests.projection as upstream_projection
import pytest
from eventsourcing.persistence import Tracking
from eventsourcing.utils import Environment, get_topic

from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_factory import TapeFactory
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_tracking import (
    TapeAggregateRecorder,
    TapeProcessRecorder,
    TapeTrackingRecorder,
)

ENV = {
    "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
    "SQLITE_DBNAME": ":memory:",
    "ORIGINATOR_ID_TYPE": "text",
}


class InFile:
    """A recorder on a new file for each test, and ids of text, as our factory demands."""

    recorder_class: ClassVar[type]

    @pytest.fixture(autouse=True)
    def _store(self, tmp_path):
        self.datastore = TapeDatastore(self.choose_store(tmp_path))
        yield
        self.datastore.close()

    def choose_store(self, folder):
        return str(folder / "store.db")

    def new_originator_id(self):
        return str(uuid4())

    def create_recorder(self):
        recorder = self.recorder_class(self.datastore)
        recorder.create_table()
        return recorder


class InMemory(InFile):
    def choose_store(self, folder):
        return ":memory:"


class TestEventsInFile(InFile, upstream.ApplicationRecorderTestCase):
    recorder_class = TapeRecorder

    def test_subscription(self):
        """E1. The library calls this case optional, since its own SQLite recorder fails it."""
        self.optional_test_insert_subscribe()


class TestEventsInMemory(InMemory, upstream.ApplicationRecorderTestCase):
    recorder_class = TapeRecorder

    def test_subscription(self):
        self.optional_test_insert_subscribe()


class TestOrderOfIdsInFile(InFile, upstream.NonInterleavingNotificationIDsBaseCase):
    recorder_class = TapeRecorder


class TestOrderOfIdsInMemory(InMemory, upstream.NonInterleavingNotificationIDsBaseCase):
    recorder_class = TapeRecorder


class TestAggregatesInFile(InFile, upstream.AggregateRecorderTestCase):
    recorder_class = TapeAggregateRecorder


class TestAggregatesInMemory(InMemory, upstream.AggregateRecorderTestCase):
    recorder_class = TapeAggregateRecorder


class TestTrackingInFile(InFile, upstream.TrackingRecorderTestCase):
    recorder_class = TapeTrackingRecorder


class TestTrackingInMemory(InMemory, upstream.TrackingRecorderTestCase):
    recorder_class = TapeTrackingRecorder


class TestProcessInFile(InFile, upstream.ProcessRecorderTestCase):
    recorder_class = TapeProcessRecorder


class TestProcessInMemory(InMemory, upstream.ProcessRecorderTestCase):
    recorder_class = TapeProcessRecorder


class CustomTracking(TapeTrackingRecorder):
    """What a user of the library derives for a view."""


class TestFactory(upstream.InfrastructureFactoryTestCase):
    def setUp(self):
        self.env = Environment("Host", dict(ENV))
        super().setUp()

    def expected_factory_class(self):
        return TapeFactory

    def expected_aggregate_recorder_class(self):
        return TapeAggregateRecorder

    def expected_application_recorder_class(self):
        return TapeRecorder

    def expected_tracking_recorder_class(self):
        return TapeTrackingRecorder

    def tracking_recorder_subclass(self):
        return CustomTracking

    def expected_process_recorder_class(self):
        return TapeProcessRecorder


class CountersView(TapeTrackingRecorder, upstream_projection.EventCountersView):
    """The view of the library's projection cases, on our tracking recorder."""

    def construct_create_table_statements(self):
        return [
            *super().construct_create_table_statements(),
            "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, n INTEGER NOT NULL)",
        ]

    def get_created_event_counter(self):
        return self._count("created")

    def get_subsequent_event_counter(self):
        return self._count("subsequent")

    def incr_created_event_counter(self, tracking: Tracking):
        self._increment("created", tracking)

    def incr_subsequent_event_counter(self, tracking: Tracking):
        self._increment("subsequent", tracking)

    def _count(self, name):
        with self.datastore.transaction(commit=False) as c:
            c.execute("SELECT n FROM counters WHERE name=?", (name,))
            row = c.fetchone()
            return row["n"] if row else 0

    def _increment(self, name, tracking):
        with self.datastore.transaction(commit=True) as c:
            # Reads before it writes, and writes before the fence: all of it must roll back.
            c.execute("SELECT n FROM counters WHERE name=?", (name,))
            row = c.fetchone()
            c.execute("REPLACE INTO counters VALUES (?,?)", (name, row["n"] + 1 if row else 1))
            self._insert_tracking(c, tracking)


class TestView(upstream_projection.EventCountersViewTestCase):
    def construct_event_counters_view(self):
        view = CountersView(TapeDatastore(":memory:"))
        view.create_table()
        return view


class TestProjection(upstream_projection.AggregateEventCountersProjectionTestCase):
    """E1, E5. The library's runner over a SQLite log."""

    view_class = CountersView
    env = ENV


class TestEventSourcedProjection(upstream_projection.EventSourcedProjectionTestCase):
    env = ENV


class TestExampleApplication(upstream_application.ExampleApplicationTestCase):
    expected_factory_topic = get_topic(TapeFactory)

    @pytest.fixture(autouse=True)
    def _environment(self, monkeypatch):
        for key, value in ENV.items():
            monkeypatch.setenv(key, value)
