"""A tape that is written event by event, without any check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..domain.bodies import BodyBase
from ..domain.drafts import Draft
from ..domain.events import Event
from ..domain.heads import HEAD_FIELDS, Head
from ..domain.tree import LEAF, CurrentLeaf, LeafRef
from .defaults import CLOCK
from .memory import MemoryTapes


def split_fields(
    event: type[Event], fields: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(head fields, body fields): a field is the body's where the body has one of that name.

    Raises `TypeError` for a name that neither has: a misspelt field must not go unnoticed.
    """
    head: dict[str, Any] = {}
    body: dict[str, Any] = {}
    for name, value in fields.items():
        if name in event.BODY.model_fields:
            body[name] = value
        elif name in HEAD_FIELDS and name != "kind":
            head[name] = value
        else:
            raise TypeError(f"{event.__name__} has no field {name!r}, in its head or its body")
    return head, body


class Recording:
    """The events of one tape, and the leaf as the events so far say it.

    Positions are assigned; nothing else is looked at. `leaf` is kept by the builder alone, so
    that a test of the kernel does not lean on the kernel.
    """

    def __init__(self, session_id: str, tapes: MemoryTapes | None = None) -> None:
        self.session_id = session_id
        self.tapes = tapes or MemoryTapes()
        self.leaf: str | None = None
        self._events = self.tapes.tape(session_id)
        self._known: dict[str, Head] = {}
        self._count = 0

    @property
    def events(self) -> tuple[Event, ...]:
        """The events so far, in order."""
        return tuple(self._events)

    @property
    def position(self) -> int:
        """The position of the last event; 0 for an empty tape."""
        return len(self._events)

    @property
    def last(self) -> Event:
        """The last event. Raises `IndexError` on an empty tape."""
        return self._events[-1]

    @property
    def made(self) -> int:
        """How many ids were made up so far, inherited ones included."""
        return self._count

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: type[Event], body: BodyBase | None = None, **fields: Any) -> Event:
        """Write any event with any head. `fields` are the head's and (without `body`) the body's.

        Raises `TypeError` for a field that does not exist, `InvalidValue` for a body of wrong
        types; a ready-made `body` is taken as it is.
        """
        head, values = split_fields(event, fields)
        head.setdefault("timestamp", CLOCK)
        made = body if body is not None else event.BODY.build(**values)
        return self.append(Draft(event, Head(kind=event.KIND, **head), made))

    def append(self, event: Event | Draft) -> Event:
        """Write an event as it is at the next position of this tape."""
        cls = event.event if isinstance(event, Draft) else type(event)
        new = cls(self.session_id, len(self._events) + 1, event.head, event.body)
        self._events.append(new)
        self._follow(new)
        return new

    def _follow(self, event: Event) -> None:
        head = event.head
        if head.message_id is not None and head.role is not None:
            later = head.message_id in self._known
            self._known[head.message_id] = head
            if later:
                return  # a version stands where its message does
        if head.kind == "leaf_moved":
            if head.takes_leaf:
                self.leaf = head.targets[0] if head.targets else None
        elif head.takes_leaf and head.entry_id is not None:
            self.leaf = head.entry_id

    def role_of(self, message_id: str) -> str | None:
        """The role of a message's newest version; None for a message that is not there."""
        known = self._known.get(message_id)
        return None if known is None else known.role

    def new_id(self) -> str:
        """The next made-up id: `e1`, `e2` …; a fork goes on where its parent stood."""
        self._count += 1
        return f"e{self._count}"

    def place(self, under: LeafRef) -> dict[str, Any]:
        """The head fields of an entry that hangs under `under`: it takes the leaf if it hangs
        under the leaf."""
        parent = self.leaf if isinstance(under, CurrentLeaf) else under
        return {"parent_id": parent, "takes_leaf": parent == self.leaf}

    def add_entry(
        self,
        event: type[Event],
        id: str | None = None,
        under: LeafRef = LEAF,
        body: BodyBase | None = None,
        **fields: Any,
    ) -> str:
        """Write an event that is an entry; the answer is its id. `parent_id=` and `takes_leaf=`
        replace what `under` says."""
        entry_id = self.new_id() if id is None else id
        self.add(event, body, **{"entry_id": entry_id, **self.place(under), **fields})
        return entry_id

    def add_mark(self, event: type[Event], **fields: Any) -> int:
        """Write an event that is a mark; the answer is its position."""
        return self.add(event, **fields).position
