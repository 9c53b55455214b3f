"""The forks of a session, as the receipts on its tape tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .domain.events import Forked
from .domain.outline import OutlineFork

if TYPE_CHECKING:
    from .sessions import Sessions


def forks_of(sessions: Sessions, session_id: str, at: int | None = None) -> tuple[OutlineFork, ...]:
    """The children that were forked off a session's own tape, up to position `at`, in its order.

    Reads the receipts alone, whatever the length of the tape.
    """
    found = [
        OutlineFork(
            session_id=event.body.child,
            fork_id=event.body.fork_id,
            entry_id=event.body.leaf,
            position=event.body.position,
            inherits=event.body.inherit,
            receipt=event.position,
        )
        for event in sessions.tapes.of_topics(session_id, [Forked.TOPIC])
        if at is None or event.position <= at
    ]
    return tuple(reversed(found))
