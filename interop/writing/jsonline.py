"""A JSON value as one line of a file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Final

_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def json_line(value: Any) -> bytes:
    """The value on one line, without a line end; parsed again it is the same value.

    NaN and infinities are written as Python's parser reads them.
    """
    try:
        return _PLAIN.encode(value).encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(value).encode()  # half a character only an escape can hold


ORDER: Final = {
    "pi": ("type", "id", "parentId", "timestamp"),
    "tau": ("id", "parent_id", "timestamp", "type"),
}
"""The fields that each tool writes first."""


def record_line(record: Any, name: str) -> bytes:
    """A record on one line, its fields in the order in which the tool writes them."""
    if isinstance(record, dict):
        first = {key: record[key] for key in ORDER[name] if key in record}
        record = {**first, **record}
    return json_line(record)


Told = Callable[[str], None]
"""Takes a reason of the report."""


def strict_value(value: Any, surrogates: bool, told: Told) -> Any:
    """A value that every JSON reader takes: no NaN, no infinity, and (unless `surrogates`) no
    half characters. Iterative: nesting is data. Tells `told` what it changed; the value itself is
    given back where nothing had to be."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if not surrogates:
            text.encode()
        return value
    except (ValueError, RecursionError):
        root: list[Any] = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        item = holder[key]
        if isinstance(item, float) and not math.isfinite(item):
            holder[key] = None
            told("not_a_number")
        elif isinstance(item, str) and not surrogates:
            holder[key] = _whole(item, told)
        elif isinstance(item, dict):
            copy = {name if surrogates else _whole(name, told): v for name, v in item.items()}
            holder[key] = copy
            todo.extend((copy, name) for name in copy)
        elif isinstance(item, list | tuple):
            items = list(item)
            holder[key] = items
            todo.extend((items, i) for i in range(len(items)))
    return root[0]


def _whole(text: str, told: Told) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        told("lone_surrogate")
        # Two halves that belong together become the character that they are.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
