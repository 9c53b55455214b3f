"""Compares two builds row by row: canonical rows, by key, at one position."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .declaration import Table
from .differences import ADDED, CHANGED, REMOVED, Difference

OFTEN: Final = 5_000
"""Equal rows between two words on how far a comparison is."""

FIRST: Final = 10
"""How many differences of a table are shown."""


@dataclass
class Comparison:
    """What was compared: rows that are equal, and the differences, of which the first are kept.

    `left_out`: tables and columns that only one side has.
    """

    equal: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    first: list[Difference] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.changed)

    def note(self, difference: Difference) -> None:
        """Count a difference."""
        setattr(self, difference.kind, getattr(self, difference.kind) + 1)
        if sum(one.table == difference.table for one in self.first) < FIRST:
            self.first.append(difference)

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "equal": self.equal,
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "differences": [one.to_json() for one in self.first],
            "left_out": self.left_out,
        }


def compare(
    old: sqlite3.Connection,
    new: sqlite3.Connection,
    tables: Sequence[Table],
    *,
    without: Iterable[str] = (),
    only: str | None = None,
    into: Comparison | None = None,
    say: Callable[[int], None] = lambda done: None,
) -> Comparison:
    """Compare the rows of two builds. `tables`: those of the new one. `without`: sessions that
    are left out; `only`: the one session that is compared. `say` hears now and then how many
    rows are equal. Each side is read in the caller's own
    transaction, in one pass."""
    found = Comparison() if into is None else into
    skipped = frozenset(without)
    for table in tables:
        columns = _columns(old, table.name)
        if not columns:
            found.left_out.append(table.name)
            continue
        common = [name for name in table.names if name in columns]
        if any(name not in common for name in table.key):
            found.left_out.append(f"{table.name} (it has another key)")
            continue
        single = [n for n in table.names if n not in columns] + [
            n for n in columns if n not in table.names
        ]
        found.left_out += [f"{table.name}.{name}" for name in single]
        left, right = (
            _rows(side, table, _ordered(table, common), skipped, only) for side in (old, new)
        )
        _compare_rows(table, _ordered(table, common), left, right, found, say)
    known = {table.name for table in tables}
    found.left_out += [name for name in _tables(old) if name not in known]
    return found


def _ordered(table: Table, columns: Iterable[str]) -> list[str]:
    """The columns, those of the key first."""
    return [*table.key, *(name for name in columns if name not in table.key)]


def _compare_rows(
    table: Table,
    ordered: list[str],
    left: Iterator[Sequence[Any]],
    right: Iterator[Sequence[Any]],
    found: Comparison,
    say: Callable[[int], None],
) -> None:
    size = len(table.key)
    one, other = next(left, None), next(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and _order(one[:size]) < _order(other[:size])):
            assert one is not None
            found.note(Difference(table.name, REMOVED, tuple(one[:size])))
            one = next(left, None)
        elif one is None or _order(other[:size]) < _order(one[:size]):
            found.note(Difference(table.name, ADDED, tuple(other[:size])))
            other = next(right, None)
        else:
            _compare_row(table, ordered, one, other, found)
            if not found.equal % OFTEN:
                say(found.equal)
            one, other = next(left, None), next(right, None)


def _compare_row(
    table: Table, names: list[str], one: Sequence[Any], other: Sequence[Any], found: Comparison
) -> None:
    if _typed(one) == _typed(other):
        found.equal += 1
        return
    columns = tuple(
        (name, a, b)
        for name, a, b in zip(names, one, other, strict=True)
        if _typed([a]) != _typed([b])
    )
    found.note(Difference(table.name, CHANGED, tuple(one[: len(table.key)]), columns))


def _rows(
    connection: sqlite3.Connection,
    table: Table,
    columns: list[str],
    skipped: frozenset[str],
    only: str | None,
) -> Iterator[Sequence[Any]]:
    # By key, in SQLite's own order of values; each side walks its primary key.
    where = "" if only is None else "WHERE session_id = ? "
    cursor = connection.cursor()
    cursor.execute(
        f"SELECT {', '.join(columns)} FROM {table.name} {where}ORDER BY {', '.join(table.key)}",
        () if only is None else (only,),
    )
    for row in cursor:
        if row[0] not in skipped:
            yield row


def _order(key: Sequence[Any]) -> list[tuple[int, Any]]:
    """SQLite's order of values: NULL, numbers, text by its UTF-8 bytes, bytes."""
    return [_rank(value) for value in key]


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, int | float):
        return 1, value
    if isinstance(value, str):
        return 2, value.encode("utf-8", "surrogatepass")
    return 3, value


def _typed(values: Sequence[Any]) -> list[tuple[type, Any]]:
    """Values with their types: 1 and 1.0 are two."""
    return [(type(value), value) for value in values]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
        "AND name NOT LIKE 'tapefold_%' ORDER BY name"
    )
    names = [row[0] for row in rows]
    # Indexes of words are virtual tables with tables of their own behind them.
    virtual = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'")
    indexes = tuple(part for row in virtual for part in (row[0], f"{row[0]}_"))
    return [name for name in names if name not in indexes and not name.startswith(indexes[1::2])]
