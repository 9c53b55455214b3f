"""What a line about a message or a call can be told by: first words, the name of the tool."""

from __future__ import annotations

from tapefold.domain.calls import Owned
from tapefold.domain.content import ToolCallBlock
from tapefold.domain.events import Event
from tapefold.domain.kernel import State
from tapefold.domain.outline import preview_of
from tapefold.domain.view import Bodies, Tapes

from .words import first_line

FIRST_WORDS = 40
"""Unit: characters."""


class Known:
    """Messages and calls by their ids, read from the store when something is said of them.

    `state` may be set to another one of the same session.
    """

    def __init__(self, state: State, tapes: Tapes) -> None:
        self.state = state
        self._tapes = tapes
        self._said: dict[tuple[str, int], str] = {}
        self._tools: dict[tuple[Owned, int], str | None] = {}

    def said(self, message_id: str | None) -> str:
        """Role and first words of a message, of its newest version; empty: there is none."""
        message = None if message_id is None else self.state.message(message_id)
        if message is None or message_id is None:
            return ""
        key = (message_id, message.latest.seq)
        if key not in self._said:
            event = self._event(message.latest.seq)
            role = event.head.role or "message"
            self._said[key] = f"{role}: {first_line(preview_of(event), FIRST_WORDS)}"
        return self._said[key]

    def call(self, owned: Owned) -> str:
        """The name of a call's tool with the call's id."""
        name = self._tool(owned)
        return f"call {owned[1]}" if name is None else f"{name} ({owned[1]})"

    def _tool(self, owned: Owned) -> str | None:
        message = self.state.message(owned[0])
        if message is None:
            return None
        key = (owned, message.latest.seq)
        if key not in self._tools:
            event = self._event(message.latest.seq)
            name = None
            for block in event.body.content:
                if isinstance(block, ToolCallBlock) and block.call_id == owned[1]:
                    name = block.name
            fact = self.state.facts.get(owned)
            if name is None and fact is not None and fact.call_seq:
                name = self._event(fact.call_seq).body.name
            self._tools[key] = name
        return self._tools[key]

    def _event(self, seq: int) -> Event:
        return Bodies(self.state, self._tapes)[seq]
