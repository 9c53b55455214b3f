"""The tables of the trace index. docs/read-models.md explains each column.

Times are given twice: as they were written (`timestamp`, `called_at`, `answered_at`), and, where
that is a time at all, as `moment`: seconds since 1970, for sorting and arithmetic. Positions are
those of the session's own tape unless a session stands beside them.
"""

from __future__ import annotations

from typing import Final

from ..declaration import Table

REQUESTS: Final = Table(
    "ti_requests",
    ("session_id", "position"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("request_id", "TEXT"),
        ("policy", "TEXT"),
        ("policy_version", ""),
        ("builder_version", ""),
        ("view_session_id", "TEXT"),
        ("view_position", "INTEGER"),
        ("leaf", "TEXT"),
        ("included", "INTEGER NOT NULL"),
        ("excluded", "INTEGER NOT NULL"),
        ("tokens", "INTEGER"),
        ("rows_hash", "TEXT"),
        ("prompt_hash", "TEXT"),
        ("timestamp", ""),
        ("moment", "REAL"),
        ("problem", "TEXT"),
    ),
    ("CREATE INDEX ti_requests_id ON ti_requests (session_id, request_id)",),
    without_rowid=True,
)
"""One row a request: what was sent to a model, as its manifest says. `included` and `excluded`
count its references, `tokens` is the estimate, `problem` says what of the manifest could not be
read (no object, a list that is none, …); the tape has it as it came."""

REFERENCES: Final = Table(
    "ti_references",
    ("session_id", "position", "part", "number"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("part", "TEXT NOT NULL"),
        ("number", "INTEGER NOT NULL"),
        ("entry_session_id", "TEXT"),
        ("entry_id", "TEXT"),
        ("said_session_id", "TEXT"),
        ("said_position", "INTEGER"),
        ("kind", "TEXT"),
        ("reason", "TEXT"),
        ("tokens", "INTEGER"),
    ),
    (
        "CREATE INDEX ti_references_entry ON ti_references (entry_id, entry_session_id) "
        "WHERE entry_id IS NOT NULL",
    ),
    without_rowid=True,
)
"""One row for each entry that a request contained (`part` is `included`, in the order in which it
was sent) or left out (`excluded`). (session_id, position) is the request. `entry_session_id` is the
session in which the entry began, an ancestor of a fork for what it inherits; (said_session_id,
said_position) is the event whose words were sent. A made-up row (a result that says
`interrupted`) has no entry."""

ATTEMPTS: Final = Table(
    "ti_attempts",
    ("session_id", "position"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("request_id", "TEXT"),
        ("attempt", "INTEGER"),
        ("status", "TEXT"),
        ("model", "TEXT"),
        ("provider", "TEXT"),
        ("input_tokens", "INTEGER NOT NULL"),
        ("output_tokens", "INTEGER NOT NULL"),
        ("cache_read_tokens", "INTEGER NOT NULL"),
        ("cache_write_tokens", "INTEGER NOT NULL"),
        ("cost", "REAL NOT NULL"),
        ("latency_ms", "REAL"),
        ("stop_reason", "TEXT"),
        ("error", "TEXT"),
        ("timestamp", ""),
        ("moment", "REAL"),
    ),
    (
        "CREATE INDEX ti_attempts_request ON ti_attempts (session_id, request_id)",
        "CREATE INDEX ti_attempts_model ON ti_attempts (model, status)",
    ),
    without_rowid=True,
)
"""One row a call of a model: how it ended, what it took. Counts that a provider did not give are
0. It belongs to the request of its session with the same `request_id`."""

CALLS: Final = Table(
    "ti_calls",
    ("session_id", "message_id", "call_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("message_id", "TEXT NOT NULL"),
        ("call_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("name", "TEXT"),
        ("status", "TEXT NOT NULL"),
        ("duration_ms", "REAL"),
        ("in_content", "INTEGER NOT NULL"),
        ("draft", "INTEGER NOT NULL"),
        ("struck", "INTEGER NOT NULL"),
        ("dropped", "INTEGER NOT NULL"),
        ("call_session_id", "TEXT NOT NULL"),
        ("call_position", "INTEGER NOT NULL"),
        ("called_at", ""),
        ("moment", "REAL"),
        ("result", "TEXT"),
        ("result_session_id", "TEXT"),
        ("result_position", "INTEGER"),
        ("result_message_id", "TEXT"),
        ("answered_at", ""),
    ),
    (
        "CREATE INDEX ti_calls_name ON ti_calls (name, status)",
        "CREATE INDEX ti_calls_position ON ti_calls (session_id, call_position)",
    ),
    without_rowid=True,
)
"""One row a tool call, on whatever branch: a call id is unique only inside its message. It is read
from the version of the message that shows (of a struck one from its last), else from the recorded
fact. `status`: `success`, `error`, `interrupted`, or `pending` while there is no result. `draft`: a
draft holds it. `struck`: its message was struck out. `dropped`: its message was revised without
it. `duration_ms`: from the one time to the other, where both are times. A fork has rows of its own
calls, and of those inherited ones that it changed or answered."""

EVENTS: Final = Table(
    "ti_events",
    ("session_id", "position"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("kind", "TEXT NOT NULL"),
        ("entry_id", "TEXT"),
        ("timestamp", ""),
        ("source", "TEXT"),
        ("actor", "TEXT"),
        ("correlation_id", "TEXT"),
        ("causation_id", "TEXT"),
        ("trace_id", "TEXT"),
        ("span_id", "TEXT"),
        ("provenance_key", "TEXT"),
    ),
    tuple(
        f"CREATE INDEX ti_events_{name} ON ti_events ({name}) WHERE {name} IS NOT NULL"
        for name in ("correlation_id", "causation_id", "trace_id", "provenance_key")
    ),
    without_rowid=True,
)
"""One row for each event that carries at least one of the last seven columns."""

TABLES: Final = (REQUESTS, REFERENCES, ATTEMPTS, CALLS, EVENTS)
