"""One session in the trace index: what its events add to the tables."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import Any

import msgspec

from tapefold.domain.calls import Owned
from tapefold.domain.heads import Head
from tapefold.domain.instants import instant, seconds
from tapefold.domain.kernel import State

from ..bodies import Bodies
from ..declaration import SessionFold, Table
from ..log import Log, LogEvent
from ..usage import tokens_of
from ..values import key_of, real, stamp, text_of, whole
from .calls import Calls, TracedCall
from .manifests import read_manifest
from .schema import ATTEMPTS, CALLS, EVENTS, REFERENCES, REQUESTS

_TRACES = ("source", "actor", "correlation_id", "causation_id", "trace_id", "span_id")


class _Traces(msgspec.Struct):
    """What any body may say of where an event belongs; the rest is passed over."""

    source: str | None = None
    actor: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


_read_traces = msgspec.json.Decoder(_Traces).decode
_NONE = (None,) * len(_TRACES)


def _insert(table: Table) -> str:
    return f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(table.names))})"


_PUT_CALL = f"INSERT OR REPLACE{_insert(CALLS).removeprefix('INSERT')}"
_DROP_CALL = "DELETE FROM ti_calls WHERE session_id = ? AND message_id = ? AND call_id = ?"


class TraceFold(SessionFold):
    """The fold of one session."""

    def __init__(self, log: Log, session_id: str) -> None:
        self._state = State(session_id)
        self._bodies = Bodies(log, self._state)
        self._calls = Calls(self._state)
        self._rows: dict[str, list[tuple[Any, ...]]] = {}

    @property
    def position(self) -> int:
        return self._state.position

    @property
    def size(self) -> int:
        return self._state.position + 1 + self._calls.size

    def replay(self, heads: Iterable[tuple[int, Head]]) -> None:
        """Become what the fold was after these events, whose rows are written already."""
        for position, head in heads:
            self._head(position, head)
        self._calls.touched.clear()

    def _head(self, position: int, head: Head) -> None:
        state = self._state
        if head.kind == "session_started" and not (state.offset or state.position):
            origin = head.origin
            if origin is not None and origin.inherit:
                basis = self._bodies.basis(state.session_id, origin)
                state.inherit(basis)
                self._calls.inherit(basis)
        state.apply_head(position, head)
        self._calls.note(head, state.seq)

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: LogEvent) -> None:
        head = event.head
        self._head(event.position, head)
        if head.call_ids:
            self._bodies.keep(event)
        if head.kind == "context_assembled":
            self._request(event)
        elif head.kind == "model_call_completed":
            self._attempt(event)
        traces = _traces(event)
        if traces is not _NONE or head.key is not None:
            self._add(
                EVENTS,
                event.position,
                head.kind,
                text_of(head.entry_id),
                stamp(head.timestamp),
                *traces,
                text_of(head.key),
            )

    def _add(self, table: Table, *values: Any) -> None:
        row = (self._state.session_id, *values)
        self._rows.setdefault(table.name, []).append(row)

    def _request(self, event: LogEvent) -> None:
        body, at = event.body, event.head.timestamp
        manifest = read_manifest(body.get("manifest"), self._state)
        self._add(
            REQUESTS,
            event.position,
            text_of(body.get("request_id")),
            *manifest.columns,
            stamp(at),
            seconds(at),
            manifest.problem,
        )
        for reference in manifest.references:
            self._add(REFERENCES, event.position, *reference)

    def _attempt(self, event: LogEvent) -> None:
        body, at = event.body, event.head.timestamp
        spent = tokens_of(body.get("usage"), body.get("cost"))
        self._add(
            ATTEMPTS,
            event.position,
            text_of(body.get("request_id")),
            whole(body.get("attempt")),
            text_of(body.get("status")),
            text_of(body.get("model")),
            text_of(body.get("provider")),
            spent.input,
            spent.output,
            spent.cache_read,
            spent.cache_write,
            spent.cost,
            real(body.get("latency_ms")),
            text_of(body.get("stop_reason")),
            text_of(body.get("error")),
            stamp(at),
            seconds(at),
        )

    # -- rows ------------------------------------------------------------------------------

    def flush(self, connection: Connection) -> None:
        for table in (REQUESTS, REFERENCES, ATTEMPTS, EVENTS):
            rows = self._rows.get(table.name)
            if rows:
                connection.executemany(_insert(table), rows)
        if self._calls.touched:
            self._put_calls(connection)
        self._rows.clear()
        self._calls.touched.clear()
        self._bodies.forget()

    def _put_calls(self, connection: Connection) -> None:
        session_id = self._state.session_id
        put, dropped = [], []
        for owned in self._calls.touched:
            call = self._calls.traced(owned)
            if call is None:
                dropped.append((session_id, key_of(owned[0]), key_of(owned[1])))
            else:
                put.append(self._call_row(owned, call))
        connection.executemany(_DROP_CALL, dropped)
        connection.executemany(_PUT_CALL, put)

    def _call_row(self, owned: Owned, call: TracedCall) -> tuple[Any, ...]:
        bodies, state = self._bodies, self._state
        made = bodies.event(call.seq)
        if made.head.kind == "tool_call_recorded":
            name = text_of(made.body.get("name"))
        else:
            name = bodies.call(call.seq, owned[1])[0]
        called, answered = made.head.timestamp, None
        status, result = "pending", (None, None, None, None)
        if call.answer is not None:
            kind, seq, said, message_id = call.answer
            answered = bodies.event(seq).head.timestamp
            status = said or ("error" if bodies.is_error(seq) else "success")
            result = (kind, *state.locate(seq), text_of(message_id))  # type: ignore[assignment]
        return (
            state.session_id,
            key_of(owned[0]),
            key_of(owned[1]),
            text_of(call.entry_id),
            name,
            status,
            _between(called, answered),
            int(call.in_content),
            int(call.draft),
            int(call.struck),
            int(call.dropped),
            *state.locate(call.seq),
            stamp(called),
            seconds(called),
            *result,
            stamp(answered),
        )


def _between(called: Any, answered: Any) -> float | None:
    """Milliseconds from one time to another, where both are times."""
    begin, end = instant(called), instant(answered)
    if begin is None or end is None:
        return None
    return (end - begin).total_seconds() * 1000


def _traces(event: LogEvent) -> tuple[str | None, ...]:
    try:
        found = _read_traces(event.body_text)
    except (msgspec.DecodeError, RecursionError):
        body = event.body
        said = tuple(text_of(body.get(name)) for name in _TRACES)
    else:
        said = (
            found.source,
            found.actor,
            found.correlation_id,
            found.causation_id,
            found.trace_id,
            found.span_id,
        )
    return _NONE if said == _NONE else said
