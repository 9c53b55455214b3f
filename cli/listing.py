"""The sessions of a store as a list shows them. No tape is folded: of each session a few events
are read, and SQLite counts the rest without reading it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tapefold.activity import Active, describe, newest_first
from tapefold.domain.errors import SessionNotFound, TapefoldError
from tapefold.domain.events import (
    MessageDrafted,
    MessageFinalized,
    SessionInfoChanged,
    SessionStarted,
)
from tapefold.domain.heads import FINAL_STATUSES, Head, Timestamp
from tapefold.domain.outline import content_preview, cut
from tapefold.persistence.errors import StoreError

from .directories import is_below

if TYPE_CHECKING:
    from tapefold import Event, Sessions

    from .grepping import Match

_FIRST_PAGE = 4
_LARGEST_PAGE = 1024


@dataclass(frozen=True)
class Listed:
    """One session.

    `title` and `directory` are the newest, inherited ones included; `first_words` those of the
    first user message, None where there is none; `messages` began on this tape, struck or not;
    `size` is that of the stored events, in bytes; `model` that of the newest answer or change of
    model on this tape. `match` is where the searched text stands. `problem` tells why the session
    cannot be read; then most of the rest is empty.
    """

    session_id: str
    position: int
    last_activity: Timestamp
    title: str | None = None
    first_words: str | None = None
    directory: str | None = None
    created: Timestamp = None
    messages: int = 0
    size: int = 0
    model: str | None = None
    leaf: str | None = None
    parent: str | None = None
    parent_position: int | None = None
    match: Match | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Wanted:
    """Which sessions are listed: below a directory, with activity since a moment, with a text in
    title, first words or messages (letter case does not count), and at most how many."""

    directory: str | None = None
    since: datetime | None = None
    text: str | None = None
    limit: int | None = None


def listed_sessions(
    sessions: Sessions, wanted: Wanted | None = None, left: list[str] | None = None
) -> Iterator[Listed]:
    """The wanted sessions, the one with the newest activity first, each read when it is asked
    for.

    A session that cannot be read is listed with its problem; where a filter would have to read
    it, it is left out, and `left` is told, as of sessions whose time says nothing to `since`.
    """
    wanted = wanted or Wanted()
    number = 0
    for active in newest_first(sessions):
        if wanted.limit is not None and number >= wanted.limit:
            return
        found = _listed(sessions, active, wanted, [] if left is None else left)
        if found is not None:
            number += 1
            yield found


def _listed(sessions: Sessions, active: Active, wanted: Wanted, left: list[str]) -> Listed | None:
    stream, problem, moment = active.stream, active.problem, active.moment
    try:
        if problem is None:
            if wanted.since is not None and moment is None:
                left.append(f"session {stream.session_id!r} has no time that can be read")
                return None
            if wanted.since is not None and moment is not None and moment < wanted.since:
                return None
            return _read(sessions, active, wanted)
    except StoreError:
        raise
    except TapefoldError as error:
        problem = str(error)
    if wanted.since is not None or wanted.directory is not None or wanted.text is not None:
        left.append(problem)
        return None
    return Listed(stream.session_id, stream.position, active.last_activity, problem=problem)


def _read(sessions: Sessions, active: Active, wanted: Wanted) -> Listed | None:
    session_id = active.session_id
    totals = sessions.recorder.topic_totals(session_id)
    first, first_words = _beginning(sessions, session_id)
    is_alone = isinstance(first, SessionStarted) and SessionInfoChanged.TOPIC not in totals
    described = describe(sessions, session_id, first if is_alone else None)
    if wanted.directory is not None and not is_below(described.directory, wanted.directory):
        return None
    match = None
    if wanted.text is not None:
        from .grepping import find_text

        match = find_text(sessions, session_id, (described.title, first_words), wanted.text)
        if match is None:
            return None
    origin = first.head.origin
    model, leaf = _newest(sessions, session_id, active.stream.position)
    if leaf == () and origin is not None and origin.inherit:
        leaf = (origin.leaf,)
    return Listed(
        session_id=session_id,
        position=active.stream.position,
        last_activity=active.last_activity,
        title=described.title,
        first_words=first_words,
        directory=described.directory,
        created=first.timestamp,
        messages=_messages(sessions, session_id, totals),
        size=sum(size for _, size in totals.values()),
        model=model,
        leaf=leaf[0] if leaf else None,
        parent=None if origin is None else origin.session_id,
        parent_position=None if origin is None else origin.position,
        match=match,
    )


def _beginning(sessions: Sessions, session_id: str) -> tuple[Event, str | None]:
    """The first event, and the first words of a user."""
    first: Event | None = None
    for event in sessions.tapes.events(session_id):
        first = first or event
        if event.head.role == "user" and event.head.status in FINAL_STATUSES:
            return first, cut(content_preview(event.body.content))
    if first is None:
        raise SessionNotFound(session_id)
    return first, None


def _messages(sessions: Sessions, session_id: str, totals: dict[str, tuple[int, int]]) -> int:
    """How many messages began on the tape. A draft and what became of it are one message."""
    if MessageDrafted.TOPIC not in totals:
        return totals.get(MessageFinalized.TOPIC, (0, 0))[0]
    topics = (MessageDrafted.TOPIC, MessageFinalized.TOPIC)
    heads = (event.head for event in sessions.tapes.of_topics(session_id, topics))
    return len({head.message_id or head.entry_id for head in heads})


def _newest(
    sessions: Sessions, session_id: str, last: int
) -> tuple[str | None, tuple[str | None, ...]]:
    """The model that was used last, and the leaf (nothing where this tape never moved it), from
    the end of the tape backwards."""
    model: str | None = None
    leaf: tuple[str | None, ...] = ()
    for event in _backwards(sessions, session_id, last):
        head = event.head
        if head.takes_leaf and not leaf:
            moved = head.kind == "leaf_moved"
            leaf = ((*head.targets, None)[0],) if moved else (head.entry_id or head.message_id,)
        if model is None and _names_a_model(head):
            found = event.body.model
            model = found if found and found != "unknown" else None
        if leaf and model is not None:
            break
    return model, leaf


def _names_a_model(head: Head) -> bool:
    is_answer = head.role == "assistant" and head.status in FINAL_STATUSES
    return is_answer or head.kind == "model_changed"


def _backwards(sessions: Sessions, session_id: str, last: int) -> Iterator[Event]:
    size = _FIRST_PAGE
    while last > 0:
        page = list(sessions.tapes.events(session_id, max(last - size, 0), last))
        yield from reversed(page)
        last -= size
        size = min(size * 4, _LARGEST_PAGE)
