"""Compares the trace index with the events themselves, and with the kernel's own view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sqlite3 import Connection
from typing import Any

from tapefold.domain.events import ContextAssembled, Event, ModelCallCompleted
from tapefold.domain.view import Call, Message, View, build_view
from tapefold.loading import load_state

from ..differences import ADDED, CHANGED, REMOVED, Difference
from ..log import Log
from ..values import key_of, text_of

_FIELDS = ("source", "actor", "correlation_id", "causation_id", "trace_id", "span_id")
_Rows = dict[tuple[Any, ...], tuple[Any, ...]]


def against_kernel(
    connection: Connection, log: Log, session_id: str, position: int
) -> Iterator[Difference]:
    """Rows that differ from what the events say, and calls of the view that have no such row."""
    requests: _Rows = {}
    attempts: _Rows = {}
    traced: _Rows = {}
    for event in log.tapes.events(session_id, 0, position):
        key = (session_id, event.position)
        if isinstance(event, ContextAssembled):
            requests[key] = (text_of(event.body.request_id), *_lengths(event.body.manifest))
        elif isinstance(event, ModelCallCompleted):
            body = event.body
            attempts[key] = (text_of(body.request_id), text_of(body.status), text_of(body.model))
        said = _said(event)
        if any(value is not None for value in said):
            traced[key] = said
    names = ", ".join(_FIELDS)
    for table, columns, true in (
        ("ti_requests", "request_id, included, excluded", requests),
        ("ti_attempts", "request_id, status, model", attempts),
        ("ti_events", f"{names}, provenance_key", traced),
    ):
        stored = {
            row[:2]: row[2:]
            for row in connection.execute(
                f"SELECT session_id, position, {columns} FROM {table} WHERE session_id = ?",
                (session_id,),
            )
        }
        yield from _compare(table, columns.split(", "), stored, true)
    state = load_state(log.tapes, session_id, position, log.bases)
    yield from _calls(connection, build_view(state, log.tapes, include_pending=True))


def _lengths(manifest: Any) -> tuple[int, int]:
    """How many references a manifest has."""
    found = manifest if isinstance(manifest, dict) else {}
    parts = (found.get("included"), found.get("excluded"))
    one, other = (
        sum(isinstance(item, dict) for item in part) if isinstance(part, list) else 0
        for part in parts
    )
    return one, other


def _said(event: Event) -> tuple[str | None, ...]:
    return (*(text_of(getattr(event.body, name)) for name in _FIELDS), text_of(event.head.key))


def _compare(table: str, names: Iterable[str], stored: _Rows, true: _Rows) -> Iterator[Difference]:
    for key in sorted(stored.keys() | true.keys()):
        if key not in true:
            yield Difference(table, REMOVED, key)
        elif key not in stored:
            yield Difference(table, ADDED, key)
        elif stored[key] != true[key]:
            pairs = zip(names, stored[key], true[key], strict=True)
            yield Difference(table, CHANGED, key, tuple(p for p in pairs if p[1] != p[2]))


def _calls(connection: Connection, view: View) -> Iterator[Difference]:
    """Calls that show are there under the same name, and answered where their result is known to
    be theirs: it names their message. Those that a fork inherits may have no row."""
    for message in view.messages:
        for call in message.calls:
            key = (view.session_id, key_of(message.message_id), key_of(call.call_id))
            row = connection.execute(
                "SELECT name, in_content, struck, dropped, status <> 'pending' FROM ti_calls "
                "WHERE session_id = ? AND message_id = ? AND call_id = ?",
                key,
            ).fetchone()
            if row is None:
                if message.session_id == view.session_id:
                    yield Difference("ti_calls", ADDED, key)
                continue
            true = (text_of(call.name), int(call.in_content), 0, 0)
            if row[:4] != true or (_is_answered(view, message, call) and not row[4]):
                columns = (("row", repr(row), repr((*true, call.status))),)
                yield Difference("ti_calls", CHANGED, key, columns)


def _is_answered(view: View, message: Message, call: Call) -> bool:
    result, state = call.result, view.state
    if result is None or result.message_id is None or state is None:
        return False
    answer = state.message(result.message_id)
    winner = None if answer is None else answer.winner(True)
    return winner is not None and winner.owner == message.message_id
