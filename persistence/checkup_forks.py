"""Checks of forks: that what a child inherits is there, and that both tapes say the same of it."""

from __future__ import annotations

import sqlite3

from tapefold.domain.heads import Origin

from .checkup_findings import Findings
from .checkup_rows import Receipt, RowCheck


def check_forks(
    database: sqlite3.Connection,
    table: str,
    rows: RowCheck,
    findings: Findings,
    *,
    everything: bool,
) -> None:
    """Check the forks that `rows` has seen. `everything`: it has seen the whole store."""
    ends: dict[str, int] = {}
    for child, origin in rows.origins.items():
        parent = origin.session_id
        if parent not in ends:
            ends[parent] = _last_position(database, table, parent)
        _check_origin(child, origin, ends[parent], rows.receipts.get(child, []), findings)
    _check_rings(rows.origins, findings)
    for child, receipts in rows.receipts.items() if everything else ():
        if child in rows.origins:
            continue
        parent, position, _ = receipts[0]
        if _last_position(database, table, child):
            findings.add(
                "origin_differs", f"its fork {child!r} says nothing of it", parent, position
            )
        else:
            findings.add("fork_missing", f"its fork {child!r} is not here", parent, position)


def _last_position(database: sqlite3.Connection, table: str, session_id: str) -> int:
    """0 where there is no such session."""
    statement = f"SELECT MAX(originator_version) FROM {table} WHERE originator_id=?"
    (found,) = database.execute(statement, (_storable(session_id),)).fetchone()
    return found if isinstance(found, int) else 0


def _storable(text: str) -> str:
    # A damaged id cannot be asked for as it is; nothing else has this one.
    return text.encode("utf-8", "replace").decode()


def _check_origin(
    child: str, origin: Origin, end: int, receipts: list[Receipt], findings: Findings
) -> None:
    parent = origin.session_id
    if not end:
        if origin.inherit:
            findings.add("origin_missing", f"it was forked from {parent!r}, not here", child, 1)
        return
    if end < origin.position:
        findings.add(
            "origin_short",
            f"it was forked from {parent!r} at position {origin.position}, which ends at {end}",
            child,
            1,
        )
        return
    theirs = [receipt.origin for receipt in receipts if receipt.parent == parent]
    if not theirs:
        findings.add("no_receipt", f"{parent!r} has no receipt of this fork", child, 1)
    elif origin not in theirs:
        findings.add(
            "origin_differs",
            f"it begins at {_place(origin)}, the receipt of {parent!r} says {_place(theirs[0])}",
            child,
            1,
        )


def _place(origin: Origin) -> str:
    leaf = "the empty path" if origin.leaf is None else f"entry {origin.leaf}"
    return f"position {origin.position} and {leaf}" + ("" if origin.inherit else ", empty")


def _check_rings(origins: dict[str, Origin], findings: Findings) -> None:
    """A session whose ancestors lead back to itself can never be read."""
    sound: set[str] = set()
    for start in origins:
        walked: list[str] = []
        seen: set[str] = set()
        here: str | None = start
        while here is not None and here not in sound and here not in seen:
            seen.add(here)
            walked.append(here)
            origin = origins.get(here)
            here = origin.session_id if origin is not None and origin.inherit else None
        if here is not None and here in seen:
            findings.add("origin_in_ring", "its ancestors lead back to itself", here, 1)
        sound.update(walked)
