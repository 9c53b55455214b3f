"""The tables of the effective view. docs/read-models.md explains each column."""

from __future__ import annotations

from typing import Final

from ..declaration import Table

SESSIONS: Final = Table(
    "ev_sessions",
    ("session_id",),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("leaf", "TEXT"),
        ("name", "TEXT"),
        ("own_name", "INTEGER NOT NULL"),
        ("directory", "TEXT"),
        ("model", "TEXT"),
        ("model_place", "INTEGER"),
        ("provider", "TEXT"),
        ("provider_place", "INTEGER"),
        ("thinking_level", "TEXT"),
        ("thinking_place", "INTEGER"),
        ("ruling_anchor", "TEXT"),
        ("ruling_kind", "TEXT"),
        ("messages", "INTEGER NOT NULL"),
        ("labels", "INTEGER NOT NULL"),
        ("input_tokens", "INTEGER NOT NULL"),
        ("output_tokens", "INTEGER NOT NULL"),
        ("cache_read_tokens", "INTEGER NOT NULL"),
        ("cache_write_tokens", "INTEGER NOT NULL"),
        ("cost", "REAL NOT NULL"),
        ("leaf_moved", "INTEGER NOT NULL"),
        ("basis_session_id", "TEXT"),
        ("basis_position", "INTEGER"),
        ("joins_at", "TEXT"),
        ("joins_place", "INTEGER NOT NULL"),
    ),
    without_rowid=True,
)
"""One row a session. What a fork inherits is not counted; see `joins_at`."""

MESSAGES: Final = Table(
    "ev_messages",
    ("session_id", "message_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("message_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("parent_id", "TEXT"),
        ("inherited", "INTEGER NOT NULL"),
        ("on_path", "INTEGER NOT NULL"),
        ("place", "INTEGER"),
        ("shown", "INTEGER NOT NULL"),
        ("sort_number", "INTEGER"),
        ("sort_id", "TEXT"),
        ("shown_pending", "INTEGER NOT NULL"),
        ("pending_sort_number", "INTEGER"),
        ("pending_sort_id", "TEXT"),
        ("pending_calls", "INTEGER NOT NULL"),
        ("struck", "INTEGER NOT NULL"),
        ("aside", "INTEGER NOT NULL"),
        ("began", "INTEGER"),
        ("finalized", "INTEGER"),
        ("role", "TEXT"),
        ("status", "TEXT"),
        ("order_seq", "INTEGER"),
        ("version_session_id", "TEXT"),
        ("version_position", "INTEGER"),
        ("timestamp", ""),
        ("model", "TEXT"),
        ("provider", "TEXT"),
        ("body", ""),
    ),
    (
        "CREATE INDEX ev_messages_shown ON ev_messages "
        "(session_id, sort_number, sort_id, place) WHERE shown = 1",
        "CREATE INDEX ev_messages_path ON ev_messages (session_id, place) WHERE on_path = 1",
        "CREATE INDEX ev_messages_model ON ev_messages (session_id, place) "
        "WHERE on_path = 1 AND model IS NOT NULL",
        "CREATE INDEX ev_messages_beside ON ev_messages (session_id, finalized) "
        "WHERE on_path = 0 AND role = 'assistant'",
    ),
)
"""One row a message: the version that shows, and where."""

CALLS: Final = Table(
    "ev_calls",
    ("session_id", "message_id", "pending", "number"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("message_id", "TEXT NOT NULL"),
        ("pending", "INTEGER NOT NULL"),
        ("number", "INTEGER NOT NULL"),
        ("call_id", "TEXT NOT NULL"),
        ("name", "TEXT"),
        ("arguments", ""),
        ("in_content", "INTEGER NOT NULL"),
        ("status", "TEXT NOT NULL"),
        ("result_kind", "TEXT"),
        ("result_session_id", "TEXT"),
        ("result_position", "INTEGER"),
        ("result_message_id", "TEXT"),
        ("result_entry_id", "TEXT"),
        ("is_error", "INTEGER NOT NULL"),
        ("interruption", "INTEGER NOT NULL"),
        ("result_content", ""),
    ),
    without_rowid=True,
)
"""The calls of the messages on the path, with what answers each."""

ENTRIES: Final = Table(
    "ev_entries",
    ("session_id", "entry_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("kind", "TEXT NOT NULL"),
        ("on_path", "INTEGER NOT NULL"),
        ("place", "INTEGER"),
        ("stands_for", "TEXT"),
        ("model", "TEXT"),
        ("provider", "TEXT"),
        ("body", ""),
    ),
    ("CREATE INDEX ev_entries_path ON ev_entries (session_id, kind, place) WHERE on_path = 1",),
)
"""The nodes that are no messages, on whatever branch. Of a mark, `stands_for` is its entry; `body`
is NULL for marks, custom and foreign entries. `position` is 0 for an inherited entry that stands
on a fork's own part of the path, below an entry which came only after the fork."""

LABELS: Final = Table(
    "ev_labels",
    ("session_id", "entry_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("label", "TEXT"),
        ("position", "INTEGER NOT NULL"),
    ),
    without_rowid=True,
)
"""The labels that stand; a fork's own, not those that it inherits. NULL: an inherited one that
was taken away."""

TABLES: Final = (SESSIONS, MESSAGES, CALLS, ENTRIES, LABELS)
