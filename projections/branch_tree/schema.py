"""The tables of the branch tree and the session index. docs/read-models.md explains each column."""

from __future__ import annotations

from typing import Final

from ..declaration import Table

SESSIONS: Final = Table(
    "bt_sessions",
    ("session_id",),
    (
        ("session_id", "TEXT NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("last_id", "INTEGER NOT NULL"),
        ("title", "TEXT"),
        ("directory", "TEXT"),
        ("first_words", "TEXT"),
        ("created", ""),
        ("began", "REAL"),
        ("last_activity", ""),
        ("moment", "REAL"),
        ("leaf", "TEXT"),
        ("model", "TEXT"),
        ("provider", "TEXT"),
        ("entries", "INTEGER NOT NULL"),
        ("messages", "INTEGER NOT NULL"),
        ("user_messages", "INTEGER NOT NULL"),
        ("labels", "INTEGER NOT NULL"),
        ("forks", "INTEGER NOT NULL"),
        ("bytes", "INTEGER NOT NULL"),
        ("input_tokens", "INTEGER NOT NULL"),
        ("output_tokens", "INTEGER NOT NULL"),
        ("cache_read_tokens", "INTEGER NOT NULL"),
        ("cache_write_tokens", "INTEGER NOT NULL"),
        ("cost", "REAL NOT NULL"),
        ("parent_session_id", "TEXT"),
        ("parent_position", "INTEGER"),
        ("parent_leaf", "TEXT"),
        ("inherits", "INTEGER NOT NULL"),
    ),
    (
        "CREATE INDEX bt_sessions_newest ON bt_sessions (moment DESC, last_id DESC)",
        "CREATE INDEX bt_sessions_directory ON bt_sessions (directory, moment DESC)",
        "CREATE INDEX bt_sessions_parent ON bt_sessions (parent_session_id) "
        "WHERE parent_session_id IS NOT NULL",
    ),
)
"""The session index: one row a session. `began` and `moment` are the first and the last activity in
seconds since 1970, NULL where the time that was written is none."""

NODES: Final = Table(
    "bt_nodes",
    ("session_id", "entry_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("parent_id", "TEXT"),
        ("under_id", "TEXT"),
        ("depth", "INTEGER NOT NULL"),
        ("position", "INTEGER NOT NULL"),
        ("kind", "TEXT NOT NULL"),
        ("message_id", "TEXT"),
        ("role", "TEXT"),
        ("status", "TEXT"),
        ("struck", "INTEGER NOT NULL"),
        ("label", "TEXT"),
        ("preview", "TEXT NOT NULL"),
        ("calls", "TEXT"),
        ("timestamp", ""),
        ("children", "INTEGER NOT NULL"),
        ("is_tip", "INTEGER NOT NULL"),
    ),
    (
        "CREATE INDEX bt_nodes_position ON bt_nodes (session_id, position)",
        "CREATE INDEX bt_nodes_parent ON bt_nodes (session_id, parent_id)",
        "CREATE INDEX bt_nodes_label ON bt_nodes (session_id) WHERE label IS NOT NULL",
    ),
)
"""One row a node. Of the nodes that are no entries (`kind` is `mark`) only the place matters:
`under_id` names the node above, `parent_id` the entry above. A fork's rows are its own nodes;
their parents may be inherited."""

CHANGES: Final = Table(
    "bt_inherited",
    ("session_id", "entry_id"),
    (
        ("session_id", "TEXT NOT NULL"),
        ("entry_id", "TEXT NOT NULL"),
        ("role", "TEXT"),
        ("status", "TEXT"),
        ("struck", "INTEGER NOT NULL"),
        ("has_label", "INTEGER NOT NULL"),
        ("label", "TEXT"),
        ("preview", "TEXT NOT NULL"),
        ("calls", "TEXT"),
        ("children", "INTEGER NOT NULL"),
        ("has_place", "INTEGER NOT NULL"),
        ("under_id", "TEXT"),
        ("parent_id", "TEXT"),
        ("depth", "INTEGER"),
    ),
    without_rowid=True,
)
"""Inherited entries that a fork has revised, struck out, labelled, or gone on from. `children`
counts its own only; `has_label` tells that the fork set `label`, or took it away; `has_place` that
a parent, unknown in the parent session, has come here."""

TABLES: Final = (SESSIONS, NODES, CHANGES)
