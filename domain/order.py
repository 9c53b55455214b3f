"""The order of rows: the path's, unless messages carry order numbers.

Rows with an order number sort by (number, message id as UTF-8 bytes). Every other row stays
behind its predecessor on the path; rows before the first numbered one stay in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def sort_rows(rows: Sequence[Row], key: Callable[[Row], tuple[int, str] | None]) -> list[Row]:
    """`rows` in path order, sorted. `key` gives (order number, message id), or None."""
    leading: list[Row] = []
    groups: list[tuple[tuple[int, bytes], list[Row]]] = []
    for row in rows:
        number = key(row)
        if number is not None:
            id_bytes = number[1].encode("utf-8", "surrogatepass")
            groups.append(((number[0], id_bytes), [row]))
        elif groups:
            groups[-1][1].append(row)
        else:
            leading.append(row)
    groups.sort(key=lambda group: group[0])
    return leading + [row for _, group in groups for row in group]
