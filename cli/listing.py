"""The sessions of a store as a list shows them, with the first words of those without a title."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapefold.domain.outline import content_preview, cut

if TYPE_CHECKING:
    from tapefold import SessionInfo, Sessions


@dataclass(frozen=True)
class Listed:
    """One session. `first_words` are those of its first user message, None where there is none."""

    info: SessionInfo
    first_words: str | None


def listed_sessions(sessions: Sessions) -> Iterator[Listed]:
    """Every session of the store, the one with the newest event first."""
    for info in sessions.sessions():
        yield Listed(info, _first_words(sessions, info.session_id))


def _first_words(sessions: Sessions, session_id: str) -> str | None:
    for position, head in sessions.heads(session_id):
        if head.role == "user" and head.status != "pending":
            for event in sessions.tapes.events_at(session_id, [position]):
                return cut(content_preview(event.body.content))
    return None
