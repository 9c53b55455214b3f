"""Searching a session for a text: title, first words, messages, summaries and labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tapefold.domain.content import TextBlock

from .visible import one_line

if TYPE_CHECKING:
    from tapefold import Sessions

AROUND = 30
"""How much is shown in front of a match. Unit: characters."""
LENGTH = 90
"""Longest text that is shown of a match. Unit: characters."""


@dataclass(frozen=True)
class Match:
    """Where a text was found. `position` None: in the title."""

    position: int | None
    role: str | None
    text: str


def find_text(
    sessions: Sessions,
    session_id: str,
    known: Iterable[str | None],
    text: str,
    upto: int | None = None,
) -> Match | None:
    """The first place where a session says `text`; letter case does not count.

    `known`: title and the like, looked at first. Then the tape is read, an event at a time; what
    is inherited belongs to the parent and is not searched. `upto`: the last position that is read.
    """
    needle = text.casefold()
    for one in known:
        found = _around(one, needle)
        if found is not None:
            return Match(None, None, found)
    quick = _quick(sessions, needle)
    for position, topic, state in sessions.recorder.iter_events(session_id, lte=upto):
        is_plain = state.isascii() and b"\\u" not in state
        if quick is not None and is_plain and quick not in state.lower():
            continue
        event = sessions.tapes.event_of(session_id, position, topic, state)
        for said in _texts(event.body):
            found = _around(said, needle)
            if found is not None:
                return Match(position, event.head.role or event.head.kind, found)
    return None


def _quick(sessions: Sessions, needle: str) -> bytes | None:
    """The needle as it would stand in a stored state of ASCII; None where states cannot be
    searched as they are (they are encrypted, say), or the needle would be written as an escape."""
    if sessions.mapper.cipher or sessions.mapper.compressor:
        return None
    plain = needle.isascii() and needle.isprintable() and not set(needle) & {'"', "\\"}
    return needle.encode() if plain else None


def _texts(body: Any) -> Iterable[str]:
    for block in getattr(body, "content", None) or ():
        if isinstance(block, TextBlock):
            yield block.text
    for name in ("summary", "label", "title"):
        value = getattr(body, name, None)
        if isinstance(value, str):
            yield value


def _around(text: str | None, needle: str) -> str | None:
    """The surroundings of the needle on one line; None where it is not there."""
    if not text:
        return None
    folded = text.casefold()
    at = folded.find(needle)
    if at < 0:
        return None
    if len(folded) != len(text):  # folding made it longer: the place is about there
        at = at * len(text) // len(folded)
    start = max(at - AROUND, 0)
    shown = one_line(text[start : start + LENGTH])
    before = "…" if start else ""
    return before + shown + ("…" if start + LENGTH < len(text) else "")
