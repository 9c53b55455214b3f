"""JSON on standard output: ASCII, strict, one way to write it.

Everything that is no plain ASCII is written as `\\uXXXX`, so that no byte of it can reach a
terminal as a control character. Lone surrogates become U+FFFD and numbers that JSON cannot say
(NaN, infinities) null, except where the tape is printed: that keeps what came in.
"""

from __future__ import annotations

import json
import math
from typing import Any

from .visible import without_surrogates


def dump_json(value: Any, *, exact: bool = False, indent: int | None = None) -> str:
    """The JSON text of `value`. `exact` keeps lone surrogates and NaN as they are."""
    if exact:
        return _ascii(json.dumps(value, indent=indent))
    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return _ascii(json.dumps(_plain(value), indent=indent))
    # Only surrogates are written as \ud…; a whole pair is harmless, but cannot be told here.
    if "\\ud" in text:
        text = json.dumps(_plain(value), indent=indent)
    return _ascii(text)


def _ascii(text: str) -> str:
    # The one control character that JSON lets pass as it is.
    return text.replace("\x7f", "\\u007f")


def _plain(value: Any) -> Any:
    """A copy without lone surrogates and without numbers that JSON cannot say. Iterative."""
    root: list[Any] = [value]
    todo: list[tuple[Any, Any]] = [(root, 0)]
    while todo:
        holder, key = todo.pop()
        item = holder[key]
        if isinstance(item, str):
            holder[key] = without_surrogates(item)
        elif isinstance(item, float):
            holder[key] = item if math.isfinite(item) else None
        elif isinstance(item, dict):
            copy = {without_surrogates(str(name)): inner for name, inner in item.items()}
            holder[key] = copy
            todo.extend((copy, name) for name in copy)
        elif isinstance(item, list | tuple):
            items = list(item)
            holder[key] = items
            todo.extend((items, i) for i in range(len(items)))
    return root[0]
