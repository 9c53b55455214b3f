"""Waiting at the end of a tape for what other processes append, as `tail -f` does with a file."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tapefold.persistence.errors import StoreBusy

if TYPE_CHECKING:
    from tapefold import Event, Sessions

LOOK = 0.05
"""How long one wait for news takes. Unit: seconds."""
BATCH = 500
"""Most events that are read at once: what came is printed before all is read."""


def end_of(sessions: Sessions, session_id: str) -> int:
    """The last position of a session; 0: it has none. One look into an index."""
    return sessions.recorder.stream_version(session_id) or 0


def news(sessions: Sessions, session_id: str, gt: int) -> Iterator[list[Event]]:
    """The events behind a position as they are appended, some at a time; it waits for more.

    Nothing is read twice, and while there is no news only the end of the tape is looked up. A
    store that is busy is asked again. Ends when whoever reads our output goes away.
    """
    while True:
        found = []
        try:
            if end_of(sessions, session_id) > gt:
                found = list(sessions.tape(session_id, gt=gt, lte=gt + BATCH))
        except StoreBusy:
            found = []
        if found:
            gt = found[-1].position
            yield found
        elif _is_unread(LOOK):
            return


def _is_unread(seconds: float) -> bool:
    """Wait; tell whether the reader of our output has gone meanwhile."""
    try:
        waiting = select.poll()
        waiting.register(sys.stdout.fileno(), 0)  # asks for nothing but the end of the other side
        return bool(waiting.poll(seconds * 1000))
    except (AttributeError, ValueError, OSError):  # no such call here, or no file behind stdout
        time.sleep(seconds)
        return False
