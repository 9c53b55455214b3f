"""The stored state of an event: one JSON object whose head is found without reading its body.

    {"n":57,"v":2,"head":{…},"body":{…}}

`n` is the length of the head in bytes, `v` the class version (left out while it is 1). The head
is sliced out by its length, so that a fold costs the same at any size of the bodies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any, Final, get_type_hints

import msgspec

from tapefold.domain.events import Event
from tapefold.domain.heads import HEAD_FIELDS, Head, Origin

from .body_reader import ShapeFault, check_body
from .jsontext import JsonFault, dump, load

_BEGIN = re.compile(rb'\{"n":([1-9][0-9]{0,8}),(?:"v":([1-9][0-9]{0,8}),)?"head":')
_BEGIN_PLAIN = re.compile(rb'\{"n":([1-9][0-9]{0,8}),"head":').match
_BETWEEN: Final = b',"body":'


class CodecFault(ValueError):
    """Bytes that are no stored state, or an event that cannot be stored."""


Frame = tuple[int, int, int]
"""Where things stand in a state: the class version, and start and end of the head in bytes."""


def find_head(state: bytes) -> Frame:
    """Class version, start and end of the head. Costs the same at any size of the body.

    Raises `CodecFault` if the state is no object of ours.
    """
    begin = _BEGIN.match(state)
    if begin is None:
        raise CodecFault("it does not begin as a stored event does")
    start = begin.end()
    end = start + int(begin[1])
    if state[end : end + len(_BETWEEN)] != _BETWEEN:
        raise CodecFault("its head does not end where its length says")
    return int(begin[2] or 1), start, end


# ---------------------------------------------------------------------------------- heads


def _struct(cls: type[Any], strict: bool, **other: Any) -> type[Any]:
    """A msgspec struct with the fields of a dataclass, in the same order."""
    types = {**get_type_hints(cls), **other}
    return msgspec.defstruct(
        cls.__name__,
        [
            (f.name, types[f.name]) if f.default is MISSING else (f.name, types[f.name], f.default)
            for f in fields(cls)
        ],
        forbid_unknown_fields=strict,
        omit_defaults=True,
        gc=False,
    )


# A struct, turned into a head, takes an eighth of the time that msgspec needs for the dataclass
# itself: there, each absent field costs an AttributeError inside.
_HeadStruct = _struct(Head, strict=False)
_read_head = msgspec.json.Decoder(_HeadStruct).decode
_read_known_head = msgspec.json.Decoder(
    _struct(Head, strict=True, origin=_struct(Origin, strict=True) | None)
).decode
_values: Callable[[Any], tuple[Any, ...]] = msgspec.structs.astuple
_values_of_head = attrgetter(*(f.name for f in fields(Head)))
_write = msgspec.json.Encoder().encode


def decode_head(text: bytes) -> Head:
    """The head of its JSON text. Fields that we do not know are passed over.

    Raises `CodecFault`.
    """
    try:
        return Head(*_values(_read_head(text)))
    except (msgspec.DecodeError, RecursionError):
        # Lone surrogates, NaN and the like; or it is no head, which is said here.
        return head_of_json(load_object(text, "head"))


def head_of_json(head: dict[str, Any]) -> Head:
    """The same from a parsed object. Raises `CodecFault`."""
    try:
        return Head(*_values(msgspec.convert(head, _HeadStruct)))
    except msgspec.ValidationError as error:
        raise CodecFault(f"head: {error}") from None


def unknown_in_head(text: bytes) -> dict[str, Any]:
    """What the text of a head says beyond the fields that we know. Raises `CodecFault`."""
    try:
        _read_known_head(text)
    except (msgspec.DecodeError, RecursionError):
        return unknown_fields(load_object(text, "head"))
    return {}


def unknown_fields(head: dict[str, Any]) -> dict[str, Any]:
    """The fields of a parsed head, and of the origin in it, that we do not know."""
    unknown = {name: value for name, value in head.items() if name not in HEAD_FIELDS}
    origin = head.get("origin")
    if isinstance(origin, dict):
        inner = {name: value for name, value in origin.items() if name not in _ORIGIN_FIELDS}
        if inner:
            unknown["origin"] = inner
    return unknown


_ORIGIN_FIELDS: Final = frozenset(f.name for f in fields(Origin))


def plain_parts(state: bytes) -> tuple[Head, bytes] | None:
    """Head and body text of a state of class version 1, in one step; None where it is anything
    but the ordinary, which `find_head` and the others then look at."""
    begin = _BEGIN_PLAIN(state)
    if begin is None:
        return None
    start = begin.end()
    end = start + int(begin[1])
    if not state.startswith(_BETWEEN, end) or not state.endswith(b"}"):
        return None
    try:
        head = Head(*_values(_read_head(state[start:end])))
    except (msgspec.DecodeError, RecursionError):
        return None
    return head, state[end + len(_BETWEEN) : -1]


def load_object(text: bytes, what: str) -> dict[str, Any]:
    """The JSON object that a text holds. Raises `CodecFault`."""
    try:
        value = load(text)
    except JsonFault as error:
        raise CodecFault(f"{what}: {error}") from None
    if not isinstance(value, dict):
        raise CodecFault(f"{what}: it is no object")
    return value


def body_text(state: bytes, end: int) -> bytes:
    """The JSON text of the body after the end of the head.

    Raises `CodecFault` if the state is cut off.
    """
    if state[-1:] != b"}":
        raise CodecFault("it does not end as a stored event does")
    return state[end + len(_BETWEEN) : -1]


# --------------------------------------------------------------------------------- writing


def encode_state(event: Event) -> bytes:
    """The stored state of an event.

    It is read back here before it is given out, since a row that nobody can read would close
    its tape for ever. Raises `CodecFault` for what would not come back as it is.
    """
    head = _encode_head(event)
    body = _encode_body(event)
    return join_state(event.class_version, head, body)


def join_state(version: int, head: bytes, body: bytes) -> bytes:
    """The stored state that has these parts: a class version, and two texts of JSON."""
    said = b'"v":%d,' % version if version > 1 else b""
    return b"".join((b'{"n":%d,' % len(head), said, b'"head":', head, _BETWEEN, body, b"}"))


def _encode_head(event: Event) -> bytes:
    head = event.head
    if head.kind != event.KIND:
        raise CodecFault(f"its head is of kind {head.kind!r}, its class of {event.KIND!r}")
    try:
        # The fast codec turns NaN into null, and dates into text: hence the comparison.
        struct = _HeadStruct(*_values_of_head(head))
        fast: bytes = _write(struct)
        if _read_head(fast) == struct:
            return fast
    except (ValueError, TypeError, RecursionError, OverflowError):  # a lone surrogate, say
        pass
    try:
        text = dump(head.to_json())
    except AttributeError as error:
        raise CodecFault(f"head: its origin is none: {error}") from None
    except JsonFault as error:
        raise CodecFault(f"head: {error}") from None
    decode_head(text)
    return text


def _encode_body(event: Event) -> bytes:
    body = event.body
    if type(body) is not event.BODY:
        raise CodecFault(f"its body is a {type(body).__name__}, not a {event.BODY.__name__}")
    value = event.stored_body
    try:
        if value is None:
            # An importer may have made the body without validation.
            value = body.to_json()
            check_body(event.BODY, value)
        return dump(value)
    except (AttributeError, KeyError, TypeError) as error:
        raise CodecFault(f"body: it lacks a part: {error}") from None
    except (JsonFault, ShapeFault) as error:
        raise CodecFault(f"body: {error}") from None
