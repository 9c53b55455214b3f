"""An event before it has a position: what importers and test kits hand to a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .bodies import BodyBase
from .events import Event
from .heads import Head


@dataclass(slots=True)
class Draft:
    """The class of an event to be, with head and body."""

    event: type[Event]
    head: Head
    body: BodyBase

    @classmethod
    def of(cls, event: type[Event], body: BodyBase | None = None, **head: Any) -> Draft:
        """A draft from head fields and a body."""
        return cls(event, Head(kind=event.KIND, **head), body or event.BODY())

    def at(self, session_id: str, position: int) -> Event:
        """The event, at its place."""
        return self.event(session_id, position, self.head, self.body)
