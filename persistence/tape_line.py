"""Lines of a tape file: an event as JSON that a person can read, and back without a change.

docs/tape-file.md describes the file. A line says the stored state of one event as it is, older
class versions included, so that an import stores what was stored before.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from tapefold.domain.errors import InvalidValue
from tapefold.domain.identifiers import check_id

from .codec import CodecFault, body_text, find_head, join_state, load_object
from .jsontext import JsonFault, dump, load

FORMAT: Final = "tapefold-tape"
VERSION: Final = 1
"""Version of the file's shape; those of the events stand in each line."""

_PARTS: Final = {"session_id", "position", "topic", "class_version"}
_READABLE: Final = _PARTS | {"head", "body"}
_PACKED: Final = _PARTS | {"state"}
_MAX_VERSION: Final = 10**9


class LineFault(ValueError):
    """A line is none of a tape file; the text says why."""


class TapeRow(NamedTuple):
    """One event: its place, its topic, and its plain state (persistence/codec.py)."""

    session_id: str
    position: int
    topic: str
    state: bytes


class TapeHeader(NamedTuple):
    """The first line. `tapes`: (session id, last position) of each tape in the file, ancestors
    first, the session itself last. `class_versions`: topic to version, as the writer has them."""

    session_id: str
    tapes: tuple[tuple[str, int], ...]
    class_versions: Mapping[str, int]

    def line(self) -> bytes:
        """The line, with its end."""
        return (
            dump(
                {
                    "format": FORMAT,
                    "version": VERSION,
                    "session_id": self.session_id,
                    "tapes": [{"session_id": s, "position": p} for s, p in self.tapes],
                    "class_versions": dict(self.class_versions),
                }
            )
            + b"\n"
        )


def is_tape_header(value: Any) -> bool:
    """Whether a JSON value is the first line of a tape file, of whatever version."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def header_version(text: bytes) -> Any:
    """The version that a first line says. Raises `LineFault`."""
    return _object(text).get("version")


def read_header(text: bytes) -> TapeHeader:
    """The first line of version 1. Raises `LineFault`."""
    value = _object(text)
    listed, versions = value.get("tapes"), value.get("class_versions")
    if not isinstance(listed, list) or not listed or not isinstance(versions, dict):
        raise LineFault("it does not say which tapes the file holds")
    tapes = []
    for one in listed:
        if not isinstance(one, dict) or not _is_position(one.get("position")):
            raise LineFault("it does not say where each tape ends")
        tapes.append((_session_id(one.get("session_id")), one["position"]))
    if len({session_id for session_id, _ in tapes}) < len(tapes):
        raise LineFault("it names a tape twice")
    if value.get("session_id") != tapes[-1][0]:
        raise LineFault("the session is not the last of its tapes")
    return TapeHeader(tapes[-1][0], tuple(tapes), versions)


def write_line(row: TapeRow) -> bytes:
    """The line of an event, with its end. Raises `CodecFault` for a state that is none."""
    version, start, end = find_head(row.state)
    head, body = row.state[start:end], body_text(row.state, end)
    # A file with a damaged event in it could not be imported: better to say so now.
    load_object(head, "head")
    load_object(body, "body")
    begin = b'{"session_id":%s,"position":%d,"topic":%s,"class_version":%d,' % (
        dump(row.session_id),
        row.position,
        dump(row.topic),
        version,
    )
    if _is_line_text(row.state):
        return b'%s"head":%s,"body":%s}\n' % (begin, head, body)
    return b'%s"state":"%s"}\n' % (begin, base64.b64encode(row.state))


def read_line(text: bytes) -> TapeRow:
    """The event of a line. Raises `LineFault`. Nothing says yet that it is a good one."""
    value = _object(text)
    session_id = _session_id(value.get("session_id"))
    position, topic, version = value.get("position"), value.get("topic"), value.get("class_version")
    if not _is_position(position):
        raise LineFault("it has no position")
    if not isinstance(topic, str) or not topic:
        raise LineFault("it has no topic")
    if not _is_position(version) or version >= _MAX_VERSION:
        raise LineFault("it has no class version")
    if value.keys() == _PACKED:
        return TapeRow(session_id, position, topic, _unpacked(value["state"], version))
    if value.keys() != _READABLE:
        odd = sorted(value.keys() ^ _READABLE)
        raise LineFault(f"it lacks a part, or has one that is not known: {', '.join(odd)[:200]}")
    head, body = value["head"], value["body"]
    if not isinstance(head, dict) or not isinstance(body, dict):
        raise LineFault("its head or its body is no object")
    try:
        return TapeRow(session_id, position, topic, join_state(version, dump(head), dump(body)))
    except JsonFault as fault:
        raise LineFault(str(fault)) from None


def same_state(one: bytes, other: bytes) -> bool:
    """Whether two plain states say the same. Spaces and the order of keys say nothing."""
    if one == other:
        return True
    try:
        return _canonical(one) == _canonical(other)
    except (CodecFault, RecursionError):
        return False


def _canonical(state: bytes) -> tuple[int, str, str]:
    version, start, end = find_head(state)
    parts = load_object(state[start:end], "head"), load_object(body_text(state, end), "body")
    head, body = (json.dumps(part, sort_keys=True) for part in parts)
    return version, head, body


def _is_line_text(state: bytes) -> bool:
    """Whether a state can stand in a file of UTF-8 lines: nearly every one.

    One that holds two halves of a surrogate pair as two characters has no text in UTF-8.
    """
    if b"\n" in state:
        return False
    try:
        return state.isascii() or bool(state.decode())
    except UnicodeDecodeError:
        return False


def _unpacked(packed: Any, version: int) -> bytes:
    if not isinstance(packed, str):
        raise LineFault("its state is no text")
    try:
        state = base64.b64decode(packed, validate=True)
        found, _, _ = find_head(state)
    except (binascii.Error, ValueError) as fault:
        raise LineFault(f"its state cannot be read: {fault}") from None
    if found != version:
        raise LineFault(f"its state is of class version {found}, and the line says {version}")
    return state


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = load(text)
    except JsonFault as fault:
        raise LineFault(f"it is no JSON: {fault}") from None
    if not isinstance(value, dict):
        raise LineFault("it is no object")
    return value


def _is_position(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63


def _session_id(value: Any) -> str:
    try:
        return check_id(value, "session id")
    except InvalidValue as fault:
        raise LineFault(str(fault)) from None
