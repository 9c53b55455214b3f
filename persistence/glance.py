"""A quick look at a store, for what a shell completes: ids, titles, first words.

Loads nothing but the driver, reads a bounded number of rows and only the beginning of long ones.
What it tells is for a reader who chooses; the command that is then run looks properly.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tapefold.domain.instants import instant

from .quiet import connect_quietly

TABLE = "tapefold_events"
"""Where the events stand, if nothing else is set."""
PREFIX = "tapefold."
"""What the topics of our events begin with."""
WAIT = 0.05
"""Seconds that a lock is waited for; nobody waits long for a completion."""
NEVER = datetime.min.replace(tzinfo=UTC)
SESSIONS = 2_000
"""Most sessions that are looked at."""
EVENTS = 2_000
"""Most events of a session that are looked at, the newest first."""
NEAR_END = 200
"""A title that was changed is looked for in so many events at the end."""
BEGINNING = 4_096
"""So much of a long event is read. Unit: bytes."""
WORDS = 60
"""Longest text that is told. Unit: characters."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_START = re.compile(rb'\{"n":([1-9][0-9]{0,8}),(?:"v":[0-9]+,)?"head":')
_TEXT = re.compile(rb'"(?:text|summary)":("(?:[^"\\]|\\.)*)')


class Seen(NamedTuple):
    """An id or position, and some words about it."""

    id: str
    words: str


class Glance:
    """Looks at one store. Use it as a context manager. Raises `sqlite3.Error`, `OSError`."""

    def __init__(self, path: Path, table: str = TABLE) -> None:
        if not path.is_file() or not _NAME.fullmatch(table):
            raise FileNotFoundError(path)
        self._table = table
        self._database = connect_quietly(path, wait=WAIT)

    def __enter__(self) -> Glance:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    # -- sessions --------------------------------------------------------------------------

    def sessions(self, prefix: str, limit: int) -> list[Seen]:
        """The newest sessions whose id begins so, with their titles."""
        newest = self._newest(prefix)[:limit]
        return [Seen(session_id, self._title(session_id, last)) for session_id, last in newest]

    def find(self, reference: str) -> str | None:
        """The id that a reference means: exact, `last`, or a beginning or end of one alone."""
        if self._rows(reference, "originator_version = 1", 1):
            return reference
        ids = [session_id for session_id, _ in self._newest("")]
        if reference == "last":
            return ids[0] if ids else None
        fit = [i for i in ids if i.startswith(reference) or i.endswith(reference)]
        # Forks of a session do not make its own id ambiguous.
        own = [i for i in fit if not any(i.startswith(f"{other}::fork::") for other in fit)]
        return own[0] if len(own) == 1 else None

    def _newest(self, prefix: str) -> list[tuple[str, int]]:
        """(session, last position) of those that begin so, the newest activity first."""
        table = self._table
        statement = (
            f"WITH RECURSIVE ids(stream) AS (SELECT MIN(originator_id) FROM {table}"
            "  WHERE originator_id >= ?1"
            f" UNION ALL SELECT (SELECT MIN(originator_id) FROM {table}"
            "  WHERE originator_id > stream) FROM ids"
            "  WHERE substr(stream, 1, length(?1)) = ?1 LIMIT ?2)"
            f" SELECT newest.id, stream, newest.originator_version FROM ids JOIN {table} AS newest"
            "  ON newest.originator_id = stream AND newest.originator_version ="
            f"  (SELECT MAX(originator_version) FROM {table} WHERE originator_id = stream)"
            f" JOIN {table} AS oldest ON oldest.originator_id = stream"
            "  AND oldest.originator_version = 1"
            " WHERE substr(stream, 1, length(?1)) = ?1"
            f"  AND substr(oldest.topic, 1, {len(PREFIX)}) = '{PREFIX}'"
        )
        found = []
        for row, session_id, last in self._database.execute(statement, (prefix, SESSIONS)):
            moment = instant(_Event(last, "", self._beginning(row)).head.get("timestamp"))
            found.append((moment or NEVER, row, session_id, last))
        return [(session_id, last) for _, _, session_id, last in sorted(found, reverse=True)]

    def _title(self, session_id: str, last: int) -> str:
        """The title, or else the first words of a user."""
        for event in self._rows(session_id, f"originator_version > {last - NEAR_END}", NEAR_END):
            if event.topic == "tapefold.SessionInfoChanged" and "title" in event.body:
                return _shortened(event.body["title"])
        first = self._rows(session_id, "originator_version <= 8", 8)[::-1]
        for event in first:
            if event.topic == "tapefold.SessionStarted" and event.body.get("title"):
                return _shortened(event.body["title"])
        for event in first:
            if event.head.get("role") == "user":
                return event.words
        return ""

    # -- entries ---------------------------------------------------------------------------

    def entries(self, session_id: str, prefix: str, limit: int) -> list[Seen]:
        """The newest entries whose id begins so; or whose label does, where no id fits."""
        labels: dict[str, str] = {}
        seen: dict[str, str] = {}
        for event in self._lineage(session_id):
            if event.topic == "tapefold.Labelled":
                for target in event.head.get("targets", ()):
                    labels.setdefault(target, event.body.get("label") or "")
            entry_id = event.head.get("entry_id")
            if isinstance(entry_id, str) and entry_id not in seen:
                kind = event.head.get("role") or str(event.head.get("kind")).replace("_", " ")
                seen[entry_id] = f"{kind}: {event.words}" if event.words else str(kind)
        fit = [i for i in seen if i.startswith(prefix)]
        if not fit and prefix:
            folded = prefix.casefold()
            fit = [i for i in seen if labels.get(i, "").casefold().startswith(folded)]
        told = {i: f"[{labels[i]}] {seen[i]}" if labels.get(i) else seen[i] for i in fit[:limit]}
        return [Seen(i, words) for i, words in told.items()]

    def positions(
        self, session_id: str, digits: str, limit: int, *, entries: bool = False
    ) -> list[Seen]:
        """The positions that begin with these digits, the lowest first; without digits those at
        the beginning. `entries`: only those of entries."""
        found: list[Seen] = []
        number = int(digits or 1)
        for power in range(8 if digits else 1):
            low, high = number * 10**power, (number + 1) * 10**power - 1
            where = f"originator_version BETWEEN {low} AND {high if digits else limit}"
            for event in self._rows(session_id, where, limit - len(found), "ASC"):
                if entries and not isinstance(event.head.get("entry_id"), str):
                    continue
                kind = event.head.get("role") or str(event.head.get("kind")).replace("_", " ")
                words = f"{kind}: {event.words}" if event.words else str(kind)
                found.append(Seen(str(event.position), words))
            if len(found) >= limit:
                break
        return found

    def _lineage(self, session_id: str) -> Iterator[_Event]:
        """The newest events of a session, then of those that it inherits."""
        left, upto = EVENTS, 2**62
        walked: set[str] = set()
        following: str | None = session_id
        while following is not None and following not in walked and left > 0:
            walked.add(following)
            events = self._rows(following, f"originator_version <= {upto}", left)
            yield from events
            left -= len(events)
            origin = events[-1].head.get("origin") if events else None
            following = None
            if isinstance(origin, dict) and origin.get("inherit", True):
                following, upto = origin.get("session_id"), int(origin.get("position", 0))

    # -- rows ------------------------------------------------------------------------------

    def _rows(self, session_id: str, where: str, limit: int, order: str = "DESC") -> list[_Event]:
        table = self._table
        statement = (
            f"SELECT id, originator_version, topic FROM {table} WHERE originator_id = ?"
            f" AND {where} ORDER BY originator_version {order} LIMIT ?"
        )
        rows = self._database.execute(statement, (session_id, limit)).fetchall()
        return [_Event(position, topic, self._beginning(row)) for row, position, topic in rows]

    def _beginning(self, row: int) -> bytes:
        """The first bytes of a state; a long one is not read whole."""
        with self._database.blobopen(self._table, "state", row, readonly=True) as blob:
            return blob.read(BEGINNING)


class _Event:
    """What the beginning of a stored event says."""

    def __init__(self, position: int, topic: str, state: bytes) -> None:
        self.position = position
        self.topic = topic
        begin = _START.match(state)
        start = begin.end() if begin else 0
        end = start + int(begin[1]) if begin else 0
        self.head = _object(state[start:end])
        self._rest = state[end:]

    @property
    def body(self) -> dict[str, Any]:
        """The body of a short event; of a long one nothing."""
        return _object(self._rest.removeprefix(b',"body":')[:-1])

    @property
    def words(self) -> str:
        """The first words of what it says."""
        found = _TEXT.search(self._rest)
        if found is None:
            return ""
        text = found[1].decode("utf-8", "replace")
        try:
            said = json.loads(text + '"')
        except ValueError:  # cut inside an escape
            said = text[1:]
        return _shortened(said)


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _shortened(text: object) -> str:
    line = " ".join(str(text)[: WORDS * 4].split())
    return line if len(line) <= WORDS else line[: WORDS - 1] + "…"


GLANCE_ERRORS = (sqlite3.Error, OSError, ValueError, TypeError, KeyError)
"""What a look at a store of unknown content may raise."""
