"""An event before it has a position: what importers and test kits hand to a session."""

from __future__ import annotations

import json
from typing import Any

from .bodies import BodyBase
from .events import Event
from .heads import Head


class Draft:
    """The class of an event to be, with head and body.

    `texts` in place of these: the texts of head and body as they are stored, byte for byte. An
    importer makes them where the values came out of a decoder a moment ago, and nothing needs to
    be checked again; head and body are read from them if somebody asks.
    """

    __slots__ = ("_body", "_head", "event", "texts")

    def __init__(
        self,
        event: type[Event],
        head: Head | None = None,
        body: BodyBase | None = None,
        texts: tuple[bytes, bytes] | None = None,
    ) -> None:
        self.event = event
        self.texts = texts
        self._head = head
        self._body = body

    @property
    def head(self) -> Head:
        """The head."""
        if self._head is None:
            values = {} if self.texts is None else json.loads(self.texts[0])
            for name, value in values.items():
                if isinstance(value, list):
                    values[name] = tuple(value)
            self._head = Head(**{"kind": self.event.KIND, **values})
        return self._head

    @property
    def body(self) -> Any:
        """The body."""
        if self._body is None:
            values = {} if self.texts is None else json.loads(self.texts[1])
            self._body = self.event.BODY.build(**values)
        return self._body

    @classmethod
    def of(cls, event: type[Event], body: BodyBase | None = None, **head: Any) -> Draft:
        """A draft from head fields and a body."""
        return cls(event, Head(kind=event.KIND, **head), body or event.BODY())

    def at(self, session_id: str, position: int) -> Event:
        """The event, at its place."""
        return self.event(session_id, position, self.head, self.body)
