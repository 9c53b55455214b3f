"""Looks into JSON text without recursion: where an object ends, and what its outer levels say.

The standard decoder is fast, but it recurses, refuses numbers of more than 4,300 digits, and says
nothing about text that is not whole. Everything here is iterative and linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

KEPT_RAW: Final = "kept_raw"
"""The key of the marker that stands where a value was not taken over: `{"kept_raw": reason}`."""

TOO_DEEP: Final = "too_deep"
BIG_NUMBER: Final = "big_number"

MAX_DEPTH: Final = 196
"""Deeper records are kept as text. Four levels less than the 200 that a body may have, since
parts of a record are stored some levels below where they were. Unit: levels."""

SHALLOW_DEPTH: Final = 5
"""How many levels `shallow` takes over: record, message, content, block, and a block's values."""

# Possessive groups: no backtracking, so a string of any length costs no memory.
# Text and whole strings are passed over inside the match: only brackets cost a step of ours.
_BYTES = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]"])', re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]"]', re.DOTALL)
_REST_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_OPENING = b"{["
_QUOTE = ord('"')
_TOKEN = re.compile(
    r'[ \t\r\n]*(?:([{}\[\]:,])|(")|(-?[0-9]+)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)'
    r"|(true|false|null|NaN|-?Infinity))"
)
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_LITERALS: Final[dict[str, Any]] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


class Balance:
    """Follows brackets and strings through whole lines.

    `depth` counts open brackets, `in_string` says whether a string is open at the end.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.in_string = False

    def feed(self, data: bytes, start: int = 0) -> int | None:
        """Read on from `start`. The index after the bracket that closes the outermost one, if
        it is there; None where the data ends first."""
        if self.in_string:
            rest = _REST_OF_STRING.match(data, start)
            if rest is None:
                return None
            self.in_string = False
            start = rest.end()
        for found in _BYTES.finditer(data, start):
            end = found.end()
            char = data[end - 1]
            if char in _OPENING:
                self.depth += 1
            elif char == _QUOTE:
                self.in_string = True
                return None
            else:
                self.depth -= 1
                if self.depth <= 0:
                    return end
        return None


def object_end(data: bytes, start: int) -> int | None:
    """The index after the object or list that begins at `start`; None if it does not end."""
    return Balance().feed(data, start)


def depth_of(value: Any) -> int:
    """How deep lists and objects lie in each other; 0 for a plain value."""
    deepest = 0
    open_ones = [(value, 1)] if isinstance(value, dict | list) else []
    while open_ones:
        item, depth = open_ones.pop()
        deepest = max(deepest, depth)
        inner = item.values() if isinstance(item, dict) else item
        open_ones.extend((v, depth + 1) for v in inner if isinstance(v, dict | list))
    return deepest


def shallow(text: str, depth: int = SHALLOW_DEPTH) -> tuple[Any, str]:
    """The outer `depth` levels of a JSON text, and why not all of it was taken.

    Deeper lists and objects, and integers too long to convert, become the marker
    `{"kept_raw": reason}`. The reason is `too_deep` or `big_number`. Raises `ValueError` for
    text that is not JSON.
    """
    return _Shallow(text, depth).read()


class _Shallow:
    """A pushdown reader. A frame is (container, waiting key); it never calls itself."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.limit = depth
        self.reason = TOO_DEEP
        self.root: list[Any] = []
        self.stack: list[Any] = [self.root]
        self.keys: list[str | None] = [None]

    def read(self) -> tuple[Any, str]:
        wants = "value"
        for kind, value in self._tokens():
            wants = self._step(wants, kind, value)
        if wants != "done":
            raise ValueError("the text ends inside a value")
        return self.root[0], self.reason

    def _step(self, wants: str, kind: str, value: Any) -> str:
        """Take one token in; what may follow it."""
        if kind in "{[" and wants in ("value", "value or end"):
            self._push({} if kind == "{" else [])
            return "key or end" if kind == "{" else "value or end"
        if kind == "value" and wants in ("value", "value or end"):
            self._put(value)
            return self._after_value()
        if kind == "value" and wants in ("key", "key or end") and isinstance(value, str):
            self.keys[-1] = value
            return ":"
        if kind == ":" and wants == ":":
            return "value"
        if kind == "," and wants == "comma or end":
            return "key" if isinstance(self.stack[-1], dict) else "value"
        if kind in "}]" and wants in ("comma or end", "key or end", "value or end"):
            opened = self.stack.pop()
            self.keys.pop()
            if isinstance(opened, dict) != (kind == "}"):
                raise ValueError("brackets do not match")
            return self._after_value()
        raise ValueError(f"expected {wants}")

    def _after_value(self) -> str:
        return "done" if len(self.stack) == 1 else "comma or end"

    def _put(self, value: Any) -> None:
        holder = self.stack[-1]
        if isinstance(holder, dict):
            holder[self.keys[-1] or ""] = value
        else:
            holder.append(value)

    def _push(self, container: Any) -> None:
        self._put(container)
        self.stack.append(container)
        self.keys.append(None)

    def _tokens(self) -> Iterator[tuple[str, Any]]:
        text, i = self.text, 0
        end = len(text.rstrip(" \t\r\n"))
        while i < end:
            found = _TOKEN.match(text, i)
            if found is None:
                raise ValueError(f"no JSON at character {i}")
            i = found.end()
            if found.group(1):
                bracket = found.group(1)
                if bracket in "{[" and len(self.stack) > self.limit:
                    i = self._skip(i - 1)
                    yield "value", {KEPT_RAW: TOO_DEEP}
                else:
                    yield bracket, None
            elif found.group(2):
                begin = i - 1
                whole = _STRING.match(text, begin)
                if whole is None:
                    raise ValueError("a string does not end")
                i = whole.end()
                yield "value", json.loads(whole.group(), strict=False)
            elif found.group(3):
                yield "value", self._number(found.group(3), found.group(4))
            else:
                yield "value", _LITERALS[found.group(5)]

    def _skip(self, start: int) -> int:
        """The index after the bracket that closes the one at `start`."""
        depth = 0
        for found in _TEXT.finditer(self.text, start):
            begin, end = found.span()
            if end - begin > 1:
                continue
            char = self.text[begin]
            if char in "{[":
                depth += 1
            elif char == '"':
                break
            else:
                depth -= 1
                if depth == 0:
                    return end
        raise ValueError("a bracket does not close")

    def _number(self, whole: str, rest: str) -> Any:
        if rest:
            return float(whole + rest)
        try:
            return int(whole)
        except ValueError:  # the interpreter's limit on digits
            self.reason = BIG_NUMBER
            return {KEPT_RAW: BIG_NUMBER}
