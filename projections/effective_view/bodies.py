"""The bodies that rows need: those of the events in hand, else from the tape."""

from __future__ import annotations

from typing import Any

import msgspec

from tapefold.domain.heads import Origin
from tapefold.domain.kernel import State
from tapefold.loading import load_state
from tapefold.persistence.jsontext import dump

from ..log import Log, LogEvent


class _Result(msgspec.Struct):
    """What is asked of a result's body; its content is passed over."""

    is_error: bool = False


_read_result = msgspec.json.Decoder(_Result).decode


class Bodies:
    """Bodies by order number."""

    def __init__(self, log: Log, state: State) -> None:
        self._log = log
        self._state = state
        self._kept: dict[int, LogEvent] = {}

    def keep(self, event: LogEvent) -> None:
        """Hold an event until `forget`."""
        self._kept[self._state.offset + event.position] = event

    def forget(self) -> None:
        """Let go of what was kept."""
        self._kept.clear()

    def basis(self, session_id: str, origin: Origin) -> State:
        """The state that a fork inherits. Raises `BasisMissing`."""
        return load_fork_basis(self._log, session_id, origin)

    def kept_positions(self) -> list[int]:
        """The positions of this tape's events that are kept, in order."""
        return sorted(seq - self._state.offset for seq in self._kept if seq > self._state.offset)

    def locate(self, seq: int) -> tuple[str, int]:
        """The session and position of an event."""
        state = self._state
        if seq > state.offset:
            return state.session_id, seq - state.offset
        return state.locate(seq)

    def entry_of(self, message_id: str) -> str | None:
        """The entry at which a message shows."""
        node = self._state.message_node(message_id)
        return None if node is None else node.entry_id

    def at_hand(self, seq: int) -> LogEvent | None:
        """The event with this order number, if it is kept."""
        return self._kept.get(seq)

    def of(self, seq: int) -> dict[str, Any]:
        """The body of an event."""
        return self.event(seq).body

    def event(self, seq: int) -> LogEvent:
        """An event, from the tape where it is not kept."""
        kept = self._kept.get(seq)
        if kept is None:
            session_id, position = self._state.locate(seq)
            kept = self._kept[seq] = self._log.event_at(session_id, position)
        return kept

    def is_error(self, seq: int) -> bool:
        """Whether a result says that it failed."""
        event = self.event(seq)
        try:
            return _read_result(event.body_text).is_error
        except (msgspec.DecodeError, RecursionError):
            return bool(event.body.get("is_error"))

    def call(self, seq: int, call_id: str) -> tuple[str | None, Any, bool]:
        """(name, arguments, whether it was found) of a call in a message's content."""
        for block in self.of(seq).get("content", ()):
            if not isinstance(block, dict) or block.get("type") != "tool_call":
                continue
            if block.get("call_id") == call_id:
                return text_of(block.get("name")), block.get("arguments"), True
        return None, None, False


def load_fork_basis(log: Log, session_id: str, origin: Origin) -> State:
    """The frozen state of a parent at the point of a fork. Raises `BasisMissing`."""
    from tapefold.domain.errors import BasisMissing, PositionOutOfRange, SessionNotFound

    found = log.bases.get(origin.session_id, origin.position)
    if found is None:
        try:
            found = load_state(log.tapes, origin.session_id, origin.position, log.bases).freeze()
        except (SessionNotFound, PositionOutOfRange) as error:
            raise BasisMissing(session_id, origin.session_id, origin.position) from error
        log.bases.put(found)
    return found


def text_of(value: Any) -> str | None:
    """Text that a column can hold: a lone surrogate is shown as U+FFFD; None for what is none."""
    if not isinstance(value, str):
        return None
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode() if _has_surrogates(value) else value


def _has_surrogates(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def json_column(value: Any) -> str | bytes | None:
    """A JSON value as its text; None for null."""
    return None if value is None else column(dump(value))


def column(text: bytes) -> str | bytes:
    """JSON text as a column holds it: text, or the bytes where they are no UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text
