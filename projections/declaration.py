"""What a projection declares: its name, the version of its tables, and how it folds a session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from sqlite3 import Connection
from typing import ClassVar

from .differences import Difference
from .log import Log, LogEvent


@dataclass(frozen=True)
class Table:
    """One table of a read model.

    `key`: the columns that name a row, `session_id` first. `columns`: all of them with their
    SQL types, in order. `indices`: statements that make further indices. `without_rowid`: small
    rows, kept in the order of their key.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    indices: tuple[str, ...] = ()
    without_rowid: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.columns)

    def statements(self) -> list[str]:
        """The SQL that makes the table and its indices."""
        columns = ", ".join(f"{name} {kind}".strip() for name, kind in self.columns)
        tail = " WITHOUT ROWID" if self.without_rowid else ""
        key = ", ".join(self.key)
        return [f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({key})){tail}", *self.indices]


class SessionFold(ABC):
    """One session in one projection: what is kept of it between events.

    `apply` takes the next event of the session's tape and writes nothing. `flush` writes the
    rows that changed, into a transaction of the caller's, and what it wrote must depend on the
    tape alone: not on how its events were cut into batches, nor on any clock.
    """

    @property
    @abstractmethod
    def position(self) -> int:
        """The position of the last event that was applied; 0: none."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How much memory this holds, in entries."""

    @abstractmethod
    def apply(self, event: LogEvent) -> None:
        """Apply the next event. What is raised here parks the session."""

    @abstractmethod
    def flush(self, connection: Connection) -> None:
        """Write what changed since the last flush."""


class Projection(ABC):
    """One read model. Stateless: whatever it knows stands in its tables or in its folds."""

    NAME: ClassVar[str]
    SCHEMA_VERSION: ClassVar[int]
    TABLES: ClassVar[tuple[Table, ...]]

    @classmethod
    def fingerprint(cls) -> str:
        """A digest of the declaration; a file that was made by another one is not touched."""
        known = _fingerprints.get(cls)
        if known is None:
            said = [f"{cls.NAME} {cls.SCHEMA_VERSION}"]
            said += [sql for table in cls.TABLES for sql in table.statements()]
            known = _fingerprints[cls] = sha256("\n".join(said).encode()).hexdigest()
        return known

    @abstractmethod
    def open(self, log: Log, session_id: str, position: int) -> SessionFold:
        """The fold of a session at a position, 0 for one that begins: from its tape alone."""

    @abstractmethod
    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        """How what is read of a session differs from what the kernel builds of its tape up to
        `position`: by another way than the fold's."""

    def settle(self, connection: Connection) -> None:  # noqa: B027  # most put nothing off
        """Catch up with what was put off while the log was read: the runner has reached its end.
        Called in a transaction of the caller's, again whenever something was applied."""

    def forget(self, connection: Connection, session_id: str) -> None:
        """Delete the rows of one session."""
        for table in self.TABLES:
            connection.execute(f"DELETE FROM {table.name} WHERE session_id = ?", (session_id,))


_fingerprints: dict[type[Projection], str] = {}
"""Asked for at every read, so each is made once."""
