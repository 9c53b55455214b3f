"""Events of one session, each at the position after the last: how an import appends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from eventsourcing.persistence import StoredEvent

EventRow = tuple[str, int, str, bytes]
"""Session, position, topic, state: the columns of the table."""


class Run(Sequence[StoredEvent]):
    """What a recorder is given to insert, as it goes into the table.

    `rows` are events of tapefold's, of one session, at positions that follow each other. A stored
    event is made of one when somebody asks for it: an import has millions, and nobody does.
    """

    __slots__ = ("rows",)

    def __init__(self, rows: list[EventRow]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> StoredEvent: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[StoredEvent]: ...

    def __getitem__(self, index: int | slice) -> StoredEvent | Sequence[StoredEvent]:
        if isinstance(index, slice):
            return [StoredEvent(*row) for row in self.rows[index]]
        return StoredEvent(*self.rows[index])
