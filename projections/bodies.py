"""The bodies that rows need: those of the events in hand, else from the tape."""

from __future__ import annotations

from typing import Any

import msgspec

from tapefold.domain.heads import Origin
from tapefold.domain.kernel import State
from tapefold.loading import load_basis, load_state

from .log import Log, LogEvent
from .values import column, json_column, text_of


class _Result(msgspec.Struct):
    """What is asked of a result's body; its content is passed over."""

    is_error: bool = False


class Said(msgspec.Struct):
    """What a message's body says beside its content."""

    model: str | None = None
    provider: str | None = None
    usage: Any = None


_read_said = msgspec.json.Decoder(Said).decode


def said_in(event: LogEvent) -> Said:
    """What is asked of a body; the rest of it is passed over."""
    try:
        return _read_said(event.body_text)
    except (msgspec.DecodeError, RecursionError):
        body = event.body
        return Said(text_of(body.get("model")), text_of(body.get("provider")), body.get("usage"))


def model_of(said: Said) -> tuple[str | None, str | None]:
    """Model and provider as a column shows them; none where the model is not known."""
    model = said.model
    if not model or model == "unknown":
        return None, None
    return text_of(model), text_of(said.provider)


_read_result = msgspec.json.Decoder(_Result).decode


_NULL = msgspec.Raw(b"null")


class _Block(msgspec.Struct, gc=False):
    """What is asked of one part of a message's content."""

    type: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = _NULL


class _Calling(msgspec.Struct):
    """The calls in a message's content."""

    content: list[_Block] = []


_read_calls = msgspec.json.Decoder(_Calling).decode

Made = tuple[str | None, str | bytes | None]
"""Name and arguments of a call; the arguments as JSON text."""


def calls_in(event: LogEvent) -> dict[str, Made]:
    """The calls that a message's content holds, by id; of two with one id, the first."""
    try:
        blocks = _read_calls(event.body_text).content
    except (msgspec.DecodeError, RecursionError):
        return _calls_of_any(event.body)
    found: dict[str, Made] = {}
    for block in blocks:
        if block.type != "tool_call" or block.call_id is None or block.call_id in found:
            continue
        text = bytes(block.arguments)
        found[block.call_id] = (text_of(block.name), None if text == b"null" else column(text))
    return found


def _calls_of_any(body: dict[str, Any]) -> dict[str, Made]:
    """The same of a body of another shape."""
    content = body.get("content")
    found: dict[str, Made] = {}
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict) or block.get("type") != "tool_call":
            continue
        call_id = block.get("call_id")
        if isinstance(call_id, str) and call_id not in found:
            found[call_id] = (text_of(block.get("name")), json_column(block.get("arguments")))
    return found


def failed(event: LogEvent) -> bool:
    """Whether a result says that it failed."""
    text = event.body_text
    if b"is_error" not in text and b"\\u" not in text:
        return False  # the field is left out while it is false; no key can hide behind an escape
    try:
        return _read_result(text).is_error
    except (msgspec.DecodeError, RecursionError):
        return bool(event.body.get("is_error"))


class Bodies:
    """Bodies by order number."""

    def __init__(self, log: Log, state: State) -> None:
        self._log = log
        self._state = state
        self._kept: dict[int, LogEvent] = {}
        self._calls: dict[int, dict[str, Made]] = {}
        self._said: dict[int, Said] = {}

    def keep(self, event: LogEvent) -> None:
        """Hold an event until `forget`."""
        self._kept[self._state.offset + event.position] = event

    def forget(self) -> None:
        """Let go of what was kept."""
        self._kept.clear()
        self._calls.clear()
        self._said.clear()

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

    @property
    def kept(self) -> dict[int, LogEvent]:
        """The events that are kept, by order number."""
        return self._kept

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

    def call(self, seq: int, call_id: str) -> tuple[str | None, str | bytes | None, bool]:
        """(name, arguments as JSON text, whether it was found) of a call in a message."""
        made = self.calls(seq).get(call_id)
        return (None, None, False) if made is None else (*made, True)

    def is_error(self, seq: int) -> bool:
        """Whether a result says that it failed."""
        return failed(self.event(seq))

    def said(self, event: LogEvent) -> Said:
        """What an event's body says beside its content. Kept until `forget`, for events of this
        tape."""
        found = self._said.get(event.position)
        if found is None or event.session_id != self._state.session_id:
            found = said_in(event)
            if event.session_id == self._state.session_id:
                self._said[event.position] = found
        return found

    def calls(self, seq: int) -> dict[str, Made]:
        """The calls that a message's content holds, by id."""
        found = self._calls.get(seq)
        if found is None:
            found = self._calls[seq] = calls_in(self.event(seq))
        return found


def state_at(log: Log, session_id: str, position: int) -> tuple[State, State | None]:
    """A session's state at a position (0: before its first event), and what a fork inherits."""
    if not position:
        return State(session_id), None
    state = load_state(log.tapes, session_id, position, log.bases)
    origin = state.origin
    if origin is None or not origin.inherit:
        return state, None
    return state, load_fork_basis(log, session_id, origin)


def load_fork_basis(log: Log, session_id: str, origin: Origin) -> State:
    """The frozen state of a parent at the point of a fork. Raises `BasisMissing`."""
    from tapefold.domain.errors import BasisMissing, PositionOutOfRange, SessionNotFound

    try:
        return load_basis(log.tapes, origin.session_id, origin.position, log.bases)
    except (SessionNotFound, PositionOutOfRange) as error:
        raise BasisMissing(session_id, origin.session_id, origin.position) from error
