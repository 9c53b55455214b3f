"""JSON text and back, without changing anything in between.

The standard library's codec is the only one that keeps whatever came in: lone surrogates,
integers beyond 64 bits, NaN and infinities. What it leaves open is closed here: it recurses, so
depth is bounded and text is also read without recursion; it turns keys that are no text into
text, so those are refused; and `RecursionError`, `UnicodeError` and the like become `JsonFault`.
A faster codec writes what it gives back unchanged, which is nearly everything.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

import msgspec

from tapefold.domain.jsonvalues import MAX_DEPTH, MAX_DIGITS

MAX_NESTING: Final = MAX_DEPTH + 8
"""Deepest nesting of a text: a value of `MAX_DEPTH` and the shape that stands around it.
Unit: levels."""

# Circles are found by their depth.
_encode_text = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
_decoder = json.JSONDecoder()

_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# Only where a run of digits begins: else a text full of long runs is searched once for each digit.
_LONG_DIGITS = re.compile(f"[0-9](?<![0-9][0-9])[0-9]{{{MAX_DIGITS}}}")
_LONG_DIGITS_IN_BYTES = re.compile(_LONG_DIGITS.pattern.encode())
_SPACE = re.compile(r"[ \t\n\r]*")
_CONTAINERS = (dict, list, tuple)


def _float(text: str) -> float:
    """A float, if it is written as Python writes it: one value has one text, whoever writes it."""
    value = float(text)
    if repr(value) != text:
        raise ValueError(text)
    return value


_read_back = msgspec.json.Decoder(float_hook=_float).decode


class JsonFault(ValueError):
    """The value cannot be written as JSON text, or the text cannot be read."""


def dump(value: Any) -> bytes:
    """The compact UTF-8 text of a JSON value; `load` gives an equal value back.

    Raises `JsonFault` for what JSON cannot say, deeper nesting than `MAX_NESTING` and integers
    of more than `MAX_DIGITS` digits.
    """
    try:
        fast = msgspec.json.encode(value)
        # It turns NaN into null, dates and numbers that are keys into text, and so on; it raises
        # on lone surrogates. All of that shows here; depth and digits need a bound of their own.
        if (
            fast.count(b"[") + fast.count(b"{") <= MAX_NESTING
            and (len(fast) <= MAX_DIGITS or not _LONG_DIGITS_IN_BYTES.search(fast))
            and _read_back(fast) == value
        ):
            return fast
    except (ValueError, TypeError, RecursionError, OverflowError, msgspec.MsgspecError):
        pass
    return _dump_carefully(value)


def _dump_carefully(value: Any) -> bytes:
    try:
        text = _encode_text(value)
    except RecursionError:
        raise JsonFault(f"it is nested deeper than {MAX_NESTING} levels, or in a circle") from None
    except (TypeError, ValueError) as error:
        raise JsonFault(str(error)) from None
    _check_depth(value, text)
    _check_keys(value)
    _check_integers(value, text)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate. Escaped it is valid UTF-8, but the escapes of a high and a low one
        # side by side would be read as the one character that they make together. Only the
        # bytes of `surrogatepass`, which `load` reads as well, keep those two apart.
        if _SPLIT_PAIR.search(text):
            return text.encode("utf-8", "surrogatepass")
        return _encode_ascii(value).encode("ascii")


def load(data: bytes) -> Any:
    """The value of a text that `dump` wrote, at any depth of the caller's own stack.

    Raises `JsonFault` if it is no JSON, or nested deeper than `MAX_NESTING`.
    """
    try:
        text = str(data, "utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise JsonFault(str(error)) from None
    try:
        value = json.loads(text)
    except RecursionError:
        return load_flat(text)
    except ValueError as error:
        raise JsonFault(str(error)) from None
    _check_depth(value, text)
    return value


def load_flat(text: str) -> Any:
    """What `json.loads` gives, without recursion: for deep text, and for callers deep in a stack.

    Raises `JsonFault`.
    """
    try:
        return _load_flat(text)
    except ValueError as error:
        raise JsonFault(str(error)) from None


def _load_flat(text: str) -> Any:
    root: list[Any] = []
    holders: list[Any] = [root]  # the containers that are open, the innermost last
    key = ""
    at = _skip(text, 0)
    while True:
        value: Any
        opening = text[at : at + 1]
        if opening in ("[", "{"):
            value = [] if opening == "[" else {}
            at = _skip(text, at + 1)
        else:
            value, at = _decoder.raw_decode(text, at)
        if isinstance(holders[-1], dict):
            holders[-1][key] = value
        else:
            holders[-1].append(value)
        if isinstance(value, list | dict):
            holders.append(value)
            if len(holders) > MAX_NESTING + 1:
                raise JsonFault(f"nested deeper than {MAX_NESTING} levels")
            if text[at : at + 1] != ("]" if opening == "[" else "}"):
                if opening == "{":
                    key, at = _read_key(text, at)
                continue
        at = _close(text, at, holders)
        if len(holders) == 1:
            return root[0]
        if isinstance(holders[-1], dict):
            key, at = _read_key(text, at)


def _close(text: str, at: int, holders: list[Any]) -> int:
    """Close the containers that end at `at`, and step over the comma; to where a value starts."""
    while True:
        at = _skip(text, at)
        sign = text[at : at + 1]
        if len(holders) == 1:
            if sign:
                raise json.JSONDecodeError("Extra data", text, at)
            return at
        at += 1
        if sign == ("}" if isinstance(holders[-1], dict) else "]"):
            holders.pop()
        elif sign == ",":
            return _skip(text, at)
        else:
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at - 1)


def _read_key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _decoder.raw_decode(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
    return key, _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    """The first place from `at` on that is no white space."""
    if text[at : at + 1] in (" ", "\n", "\t", "\r"):
        found = _SPACE.match(text, at)
        return found.end() if found else at
    return at


def _check_keys(value: Any) -> None:
    """Refuse keys that are no text: the encoder would turn 1 into "1"."""
    todo: list[Any] = [value] if isinstance(value, _CONTAINERS) else []
    while todo:
        values = todo.pop()
        if isinstance(values, dict):
            try:
                "".join(values)
            except TypeError:
                raise JsonFault("an object has a key that is no text") from None
            values = values.values()
        for one in values:
            if isinstance(one, _CONTAINERS):
                todo.append(one)  # noqa: PERF401


def _check_depth(value: Any, text: str) -> None:
    # In short text counting the brackets is nearly free, and those within strings may count too.
    # In long text, which is mostly long strings, it would cost more than to walk the containers.
    if len(text) < 4096 and text.count("[") + text.count("{") <= MAX_NESTING:
        return
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_NESTING):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, _CONTAINERS)
        ]
        if not level:
            return
    raise JsonFault(f"it is nested deeper than {MAX_NESTING} levels")


def _check_integers(value: Any, text: str) -> None:
    """Refuse integers that a process with Python's own limit of digits could not read back."""
    # Nearly always Python has refused them already; only a host with a wider limit gets further.
    if len(text) <= MAX_DIGITS or 0 < sys.get_int_max_str_digits() <= MAX_DIGITS:
        return
    if not _LONG_DIGITS.search(text):
        return
    limit = 10**MAX_DIGITS
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, int) and not -limit < item < limit:
            raise JsonFault(f"an integer has more than {MAX_DIGITS} digits")
        if isinstance(item, dict):
            todo.extend(item.values())
        elif isinstance(item, list | tuple):
            todo.extend(item)
