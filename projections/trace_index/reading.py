"""Reading the trace index: what was sent, what came back, which calls were made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from sqlite3 import Connection
from typing import Any

from tapefold.domain.errors import TapefoldError
from tapefold.domain.heads import Timestamp

from ..branch_tree.previews import preview
from ..log import Log
from ..parking import Parked, parked_at
from .schema import ATTEMPTS, CALLS, REFERENCES, REQUESTS


class UnknownRequest(TapefoldError):
    """A session has no such request."""

    def __init__(self, session_id: str, reference: str) -> None:
        super().__init__(
            f"session {session_id!r} has no request {reference!r}; `tapefold trace` lists those "
            "that it has"
        )


@dataclass(frozen=True)
class Attempt:
    """One call of a model; see `ti_attempts`."""

    position: int
    request_id: str | None
    attempt: int | None
    status: str | None
    model: str | None
    provider: str | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost: float
    latency_ms: float | None
    stop_reason: str | None
    error: str | None
    timestamp: Timestamp


@dataclass(frozen=True)
class Reference:
    """An entry that a request contained, or left out; see `ti_references`."""

    part: str
    number: int
    entry_session_id: str | None
    entry_id: str | None
    said_session_id: str | None
    said_position: int | None
    kind: str | None
    reason: str | None
    tokens: int | None


@dataclass(frozen=True)
class Request:
    """What was sent to a model, with its attempts; see `ti_requests`."""

    session_id: str
    position: int
    request_id: str | None
    policy: str | None
    policy_version: Any
    builder_version: Any
    view_session_id: str | None
    view_position: int | None
    leaf: str | None
    included: int
    excluded: int
    tokens: int | None
    rows_hash: str | None
    prompt_hash: str | None
    timestamp: Timestamp
    problem: str | None
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True)
class ToolCall:
    """One tool call; see `ti_calls`."""

    message_id: str
    call_id: str
    entry_id: str
    name: str | None
    status: str
    duration_ms: float | None
    in_content: bool
    draft: bool
    struck: bool
    dropped: bool
    call_session_id: str
    call_position: int
    called_at: Timestamp
    result: str | None
    result_session_id: str | None
    result_position: int | None
    result_message_id: str | None
    answered_at: Timestamp


@dataclass(frozen=True)
class Trace:
    """All that a session's trace says, in the order of its tape."""

    session_id: str
    requests: tuple[Request, ...]
    loose: tuple[Attempt, ...]
    """Attempts that belong to no request that was recorded."""
    calls: tuple[ToolCall, ...]
    parked: Parked | None = None
    """Where the session stands still; then what came later is not here."""


class TraceReader:
    """Reads one file of the trace index, in the caller's transaction."""

    def __init__(self, connection: Connection, log: Log) -> None:
        self._connection = connection
        self._log = log

    def trace(self, session_id: str) -> Trace:
        """The requests, attempts and calls of a session. Empty where it has none."""
        attempts = self._attempts(session_id)
        requests = self._requests("session_id = ? ORDER BY position", session_id, attempts)
        known = {request.request_id for request in requests} - {None}
        loose = tuple(one for key, found in attempts.items() if key not in known for one in found)
        rows = self._connection.execute(
            f"SELECT {_names(CALLS.names[1:])} FROM ti_calls WHERE session_id = ? "
            "ORDER BY call_position, message_id, call_id",
            (session_id,),
        )
        calls = tuple(_call(row) for row in rows)
        loose = tuple(sorted(loose, key=lambda one: one.position))
        parked = parked_at(self._connection, session_id)
        return Trace(session_id, tuple(requests), loose, calls, parked)

    def request(self, session_id: str, reference: str) -> Request:
        """A request by its position (`12`, `#12`) or its id, of which the newest counts. Raises
        `UnknownRequest`."""
        digits = reference.removeprefix("#")
        attempts = self._attempts(session_id)
        found = self._requests(
            "session_id = ? AND request_id = ? ORDER BY position DESC LIMIT 1",
            session_id,
            attempts,
            reference,
        )
        if not found and digits.isascii() and digits.isdigit() and len(digits) <= 18:
            found = self._requests(
                "session_id = ? AND position = ?", session_id, attempts, int(digits)
            )
        if not found:
            raise UnknownRequest(session_id, reference)
        return found[0]

    def references(self, request: Request) -> list[Reference]:
        """What a request contained, as it was sent, then what it left out."""
        rows = self._connection.execute(
            f"SELECT {_names(REFERENCES.names[2:])} FROM ti_references "
            "WHERE session_id = ? AND position = ? ORDER BY part DESC, number",
            (request.session_id, request.position),
        )
        return [Reference(*row) for row in rows]

    def of_entry(self, session_id: str, entry_id: str) -> list[tuple[Request, Reference]]:
        """The requests that contained an entry or left it out, those of forks too. `session_id`:
        the one in which the entry began. What a session sent after an event at which it stands
        parked is not among them; `projections.parking.parked` lists those sessions."""
        rows = self._connection.execute(
            f"SELECT session_id, position, {_names(REFERENCES.names[2:])} FROM ti_references "
            "WHERE entry_id = ? AND entry_session_id = ? ORDER BY session_id, position, part, "
            "number",
            (entry_id, session_id),
        ).fetchall()
        found = []
        for session, position, *row in rows:
            requests = self._requests("session_id = ? AND position = ?", session, {}, position)
            found.append((requests[0], Reference(*row)))
        return found

    def first_words(self, reference: Reference) -> str:
        """What the event of a reference says, on one line; empty where it is unknown."""
        if reference.said_session_id is None or reference.said_position is None:
            return ""
        try:
            event = self._log.event_at(reference.said_session_id, reference.said_position)
        except TapefoldError:
            return ""  # a manifest may name what no tape has
        return preview(event.body, event.head.role)[0]

    def _requests(
        self,
        where: str,
        session_id: str,
        attempts: dict[str | None, list[Attempt]],
        *params: str | int,
    ) -> list[Request]:
        names = [name for name in REQUESTS.names if name != "moment"]
        rows = self._connection.execute(
            f"SELECT {_names(names)} FROM ti_requests WHERE {where}", (session_id, *params)
        )
        found = []
        for row in rows.fetchall():
            request_id = row[2]
            own = attempts.get(request_id, []) if request_id is not None else []
            found.append(replace(Request(*row), attempts=tuple(own)))
        return found

    def _attempts(self, session_id: str) -> dict[str | None, list[Attempt]]:
        names = [name for name in ATTEMPTS.names[1:] if name != "moment"]
        rows = self._connection.execute(
            f"SELECT {_names(names)} FROM ti_attempts WHERE session_id = ? ORDER BY position",
            (session_id,),
        )
        found: dict[str | None, list[Attempt]] = {}
        for row in rows:
            one = Attempt(*row)
            found.setdefault(one.request_id, []).append(one)
        return found


def _names(names: Iterable[str]) -> str:
    return ", ".join(name for name in names if name != "moment")


def _call(row: tuple[Any, ...]) -> ToolCall:
    return ToolCall(*row[:6], *map(bool, row[6:10]), *row[10:])
