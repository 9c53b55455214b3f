"""Stores to measure on: conversations of any length, filled fast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tapefold import Sessions
from tapefold.domain.bodies import MessageBody
from tapefold.domain.content import TextBlock
from tapefold.domain.digests import message_digest
from tapefold.domain.drafts import Draft
from tapefold.domain.events import MessageFinalized, SessionStarted

SESSION = "conversation"
QUESTION = "How do I keep the frost out of a greenhouse without heating it through the night? " * 3
ANSWER = "Stone jars that stand in the sun all day give their warmth back until the morning. " * 4
CHUNK = 5000


def drafts(first: int, last: int) -> Iterator[Draft]:
    """Questions and answers in one chain, at the positions `first` to `last`."""
    for position in range(first, last + 1):
        if position == 1:
            yield Draft.of(SessionStarted)
            continue
        role, text = ("user", QUESTION) if position % 2 == 0 else ("assistant", ANSWER)
        content = (TextBlock(text=f"{position}: {text}"),)
        body = MessageBody(content=content)
        if role == "assistant":
            usage = {"input": 90, "output": 110}
            body = MessageBody(content=content, model="demo-1", provider="demo", usage=usage)
        yield Draft.of(
            MessageFinalized,
            body,
            timestamp="2026-03-01T09:30:00.000000Z",
            entry_id=f"{position:012x}",
            parent_id=None if position == 2 else f"{position - 1:012x}",
            takes_leaf=True,
            message_id=f"{position:012x}",
            role=role,
            status="sent",
            digest=message_digest(role, "sent", body),
        )


def fill(sessions: Sessions, entries: int, session_id: str = SESSION) -> None:
    """Begin a session that has this many entries."""
    position = 0
    while position < entries + 1:
        last = min(position + CHUNK, entries + 1)
        sessions.append(session_id, drafts(position + 1, last), expected_position=position)
        position = last


def filled(folder: Path, entries: int) -> Path:
    """The path of a store with one session of this many entries; made when first asked for."""
    path = folder / f"{entries}.db"
    if not path.exists():
        with Sessions(path) as sessions:
            fill(sessions, entries)
    return path
