"""What a command answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from .view import Warning


@dataclass(frozen=True)
class Outcome:
    """Where a command's effect stands.

    Attributes:
        session_id, position: the event. Of a repeated delivery: the first one's, which may be
            an ancestor's. Of a command that changed nothing: the head of the tape.
        entry_id, message_id: what was made or meant, where there is one.
        changed: false when nothing was appended.
        hidden: the message that the delivery made does not show (it was struck out).
        warnings: what the caller should know; nothing failed.
        text: the text of a user message that the leaf was moved in front of.
    """

    session_id: str
    position: int
    entry_id: str | None = None
    message_id: str | None = None
    changed: bool = True
    hidden: bool = False
    warnings: tuple[Warning, ...] = field(default=())
    text: str | None = None
