"""PERSISTENCE_MODULE=tapefold.persistence.sqlite_factory: our SQLite store for an application.

The library wants exactly one factory class in the namespace of this module, so its own is not
imported by name.
"""

from __future__ import annotations

import math
from typing import Any

import eventsourcing.sqlite as stock
from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    Mapper,
    ProcessRecorder,
    Transcoder,
)
from eventsourcing.utils import Environment, EnvType, resolve_topic, strtobool

from tapefold.persistence.errors import OriginatorIdTypeRefused, StoreSettingsRefused
from tapefold.persistence.sqlite_datastore import DEFAULT_BUSY_TIMEOUT, TapeDatastore
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_schema import DEFAULT_EVENTS_TABLE, sibling_table
from tapefold.persistence.sqlite_tracking import (
    TapeAggregateRecorder,
    TapeProcessRecorder,
    TapeTrackingRecorder,
)

MAPPER = "tapefold.persistence.mapper:TapeMapper"


class TapeFactory(stock.SQLiteFactory):
    """Makes the store, the recorders and the mapper of one application from its environment.

    Settings, each also with the application's name in front (`MYAPP_SQLITE_DBNAME`):

    - `SQLITE_DBNAME`: a path, `:memory:`, or a `file:` URI. Needed.
    - `ORIGINATOR_ID_TYPE`: must be `text`.
    - `SQLITE_LOCK_TIMEOUT`: seconds that a call waits for a lock or a connection; default 30.
    - `SQLITE_POOL_SIZE`, `SQLITE_MAX_OVERFLOW`: reading connections that are kept open (5), and
      that may be opened beyond (10).
    - `TAPEFOLD_EVENTS_TABLE`: default `tapefold_events`. Snapshots and positions stand beside it.
    - `TAPEFOLD_CREATE_PARENTS`: make the folders of the file; default no.
    - `CREATE_TABLE`: make the file and the tables if they are missing; default yes.
    - `SINGLE_ROW_TRACKING`, `MAPPER_TOPIC`, `CIPHER_TOPIC`, `COMPRESSOR_TOPIC`, the topics of
      recorders, …: as in the library.

    Opens nothing by itself; the recorders do. Raises OriginatorIdTypeRefused or
    StoreSettingsRefused.
    """

    SQLITE_POOL_SIZE = "SQLITE_POOL_SIZE"
    SQLITE_MAX_OVERFLOW = "SQLITE_MAX_OVERFLOW"
    TAPEFOLD_EVENTS_TABLE = "TAPEFOLD_EVENTS_TABLE"
    TAPEFOLD_CREATE_PARENTS = "TAPEFOLD_CREATE_PARENTS"

    aggregate_recorder_class = TapeAggregateRecorder
    application_recorder_class = TapeRecorder
    tracking_recorder_class = TapeTrackingRecorder
    process_recorder_class = TapeProcessRecorder

    datastore: TapeDatastore

    def __init__(self, env: Environment | EnvType | None) -> None:
        # Not SQLiteFactory's own: it would make a datastore of the library.
        super(stock.SQLiteFactory, self).__init__(env)
        self._refuse_other_ids()
        db_name = self.env.get(self.SQLITE_DBNAME)
        if not db_name:
            keys = " or ".join(self.env.create_keys(self.SQLITE_DBNAME))
            raise StoreSettingsRefused(f"no SQLite database is named; set {keys} to a path")
        events_table = self.env.get(self.TAPEFOLD_EVENTS_TABLE) or DEFAULT_EVENTS_TABLE
        self.datastore = TapeDatastore(
            db_name,
            busy_timeout=self._seconds(self.SQLITE_LOCK_TIMEOUT, DEFAULT_BUSY_TIMEOUT),
            pool_size=self._count(self.SQLITE_POOL_SIZE, 5, least=1),
            max_overflow=self._count(self.SQLITE_MAX_OVERFLOW, 10, least=0),
            create=self.env_create_table(),
            create_parents=self._switch(self.TAPEFOLD_CREATE_PARENTS, "no"),
            single_row_tracking=self._switch(self.SQLITE_SINGLE_ROW_TRACKING, "yes"),
            events_table=events_table,
            tracking_table=self._tracking_table(events_table),
        )

    def _refuse_other_ids(self) -> None:
        found = self.env.get(self.ORIGINATOR_ID_TYPE, "")
        if found.lower() == "text":
            return
        state = f"is {found!r}" if found else "is not set, which the library takes as 'uuid'"
        keys = " or ".join(self.env.create_keys(self.ORIGINATOR_ID_TYPE))
        raise OriginatorIdTypeRefused(
            f"{self.ORIGINATOR_ID_TYPE} {state}, but the ids of sessions are text: they would be "
            f"saved, and then no event of this log could be read. Set {keys} to 'text'; "
            "aggregates with UUIDs keep working"
        )

    def _tracking_table(self, events_table: str) -> str:
        # By the name of the follower: two of them in one file must not share their positions.
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.env.name.lower())
        return sibling_table(events_table, f"{name}_tracking" if name else "tracking")

    # ------------------------------------------------------------------------- products

    def mapper(
        self,
        transcoder: Transcoder | None = None,
        mapper_class: type[Mapper[Any]] | None = None,
    ) -> Mapper[Any]:
        """Make the mapper: ours, unless a class is given or MAPPER_TOPIC names one."""
        if mapper_class is None and not self.env.get(self.MAPPER_TOPIC):
            mapper_class = resolve_topic(MAPPER)
        return super().mapper(transcoder=transcoder, mapper_class=mapper_class)

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """Make a recorder for `purpose`, such as `snapshots`, in a table of its own."""
        suffix = "aggregate_events" if purpose == "events" else purpose
        recorder = self.aggregate_recorder_class(
            self.datastore, events_table_name=sibling_table(self.datastore.events_table, suffix)
        )
        if self.env_create_table():
            recorder.create_table()
        return recorder

    def application_recorder(self) -> ApplicationRecorder:
        """Make the recorder of events. Raises what opening the store raises."""
        recorder = super().application_recorder()
        self._check(recorder)
        return recorder

    def process_recorder(self) -> ProcessRecorder:
        """Make the recorder of events with positions. Raises what opening the store raises."""
        recorder = super().process_recorder()
        self._check(recorder)
        return recorder

    def env_create_table(self) -> bool:
        """Tell whether files and tables that are missing are made."""
        return self._switch(self.CREATE_TABLE, "yes")

    def _check(self, recorder: ApplicationRecorder) -> None:
        # CREATE_TABLE=no must not open a store that a newer tapefold wrote.
        if isinstance(recorder, TapeRecorder) and not self.env_create_table():
            recorder.check_table()

    # ------------------------------------------------------------------------- settings

    def _seconds(self, key: str, default: float) -> float:
        text = (self.env.get(key) or "").strip()
        if not text:
            return default
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        # A wait of the driver is a 32-bit number of milliseconds.
        if not 0 < seconds <= 2_000_000:
            raise StoreSettingsRefused(f"{key} is {text!r}; give seconds, above 0, such as 30")
        return seconds

    def _count(self, key: str, default: int, *, least: int) -> int:
        text = (self.env.get(key) or "").strip()
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and least <= int(text) <= 10_000):
            raise StoreSettingsRefused(f"{key} is {text!r}; give a whole number from {least}")
        return int(text)

    def _switch(self, key: str, default: str) -> bool:
        text = self.env.get(key) or default
        try:
            return bool(strtobool(text))
        except ValueError:
            raise StoreSettingsRefused(f"{key} is {text!r}; give yes or no") from None


Factory = TapeFactory
