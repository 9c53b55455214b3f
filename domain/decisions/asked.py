"""A version of a message as the caller asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..aggregate import Meta, place_said
from ..bodies import MessageBody
from ..content import call_ids
from ..digests import message_digest
from ..events import Event
from ..tree import CurrentLeaf, LeafRef


@dataclass(slots=True)
class Asked:
    """A version as the caller asked for it."""

    event: type[Event]
    role: str
    status: str
    body: MessageBody
    meta: Meta
    message_id: str | None
    entry_id: str | None
    under: LeafRef
    order_seq: int | None
    call_id: str | None = None
    owner: str | None = None
    interruption: bool = False
    stored_body: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.stored_body = self.body.to_json()

    @property
    def under_left_out(self) -> bool:
        """Whether the caller did not say where the message hangs."""
        return isinstance(self.under, CurrentLeaf)

    def identities(self) -> dict[str, Any] | None:
        """The identities that the caller gave. Nobody asks for them without a key."""
        if self.meta.get("key") is None:
            return None
        return {
            "message_id": self.message_id,
            "entry_id": self.entry_id,
            "under": place_said(self.under),
        }

    def digest(self, order_seq: int | None) -> str:
        """The content's digest with this order number."""
        return message_digest(
            self.role,
            self.status,
            self.body,
            order_seq,
            self.call_id,
            self.owner,
            self.stored_body,
            self.interruption,
        )

    def head(self) -> dict[str, Any]:
        """The head fields that any version of the message has."""
        answered = (self.call_id,) if self.call_id is not None else ()
        return {
            "role": self.role,
            "status": self.status,
            "call_ids": call_ids(self.body.content) if self.role == "assistant" else answered,
            "owner": self.owner,
            "interruption": self.interruption,
        }
