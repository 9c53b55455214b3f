"""The sessions of a store as a list shows them, out of their tapes: for a store without a session
index (indexed.py). No tape is folded: of each session a few events are read, and SQLite counts the
rest without reading it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from tapefold.activity import Active, describe, newest_first
from tapefold.domain.errors import SessionNotFound, TapefoldError
from tapefold.domain.events import (
    MessageDrafted,
    MessageFinalized,
    SessionInfoChanged,
    SessionStarted,
)
from tapefold.domain.heads import FINAL_STATUSES, Head
from tapefold.domain.outline import content_preview, cut
from tapefold.persistence.errors import StoreError
from tapefold.projections.branch_tree.index import name_key

from .directories import is_below
from .listed import NEWEST, SORT_KEYS, Listed, Wanted

if TYPE_CHECKING:
    from tapefold import Event, Sessions

_FIRST_PAGE = 4
_LARGEST_PAGE = 1024


def listed_sessions(
    sessions: Sessions, wanted: Wanted | None = None, left: list[str] | None = None
) -> Iterator[Listed]:
    """The wanted sessions in their order. Where that is by activity, each is read when it is
    asked for, else all of them are.

    A session that cannot be read is listed with its problem; where a filter would have to read
    it, it is left out, and `left` is told, as of sessions whose time says nothing to `since`.
    """
    wanted = wanted or Wanted()
    found = _in_order(sessions, wanted, [] if left is None else left)
    end = None if wanted.limit is None else wanted.offset + wanted.limit
    return islice(found, wanted.offset, end)


def _in_order(sessions: Sessions, wanted: Wanted, left: list[str]) -> Iterator[Listed]:
    read = (listed_session(sessions, one, wanted, left) for one in newest_first(sessions))
    found = (one for one in read if one is not None)
    if wanted.sort == NEWEST:
        yield from found
    else:
        yield from sorted(found, key=SORT_KEYS[wanted.sort])


def listed_session(
    sessions: Sessions, active: Active, wanted: Wanted, left: list[str]
) -> Listed | None:
    """One session, None where it is not wanted."""
    stream, problem = active.stream, active.problem
    try:
        if problem is None:
            if wanted.since is not None:
                if active.moment is None:
                    left.append(timeless(stream.session_id))
                    return None
                if active.moment < wanted.since.timestamp():
                    return None
            return _read(sessions, active, wanted)
    except StoreError:
        raise
    except TapefoldError as error:
        problem = str(error)
    if wanted.is_narrowed:
        left.append(problem)
        return None
    return Listed(
        stream.session_id,
        stream.position,
        active.last_activity,
        problem=problem,
        last_id=stream.last_id,
    )


def timeless(session_id: str) -> str:
    """Why a session is left out of a list of those since a moment."""
    return f"session {session_id!r} has no time that can be read"


def _read(sessions: Sessions, active: Active, wanted: Wanted) -> Listed | None:
    session_id = active.session_id
    totals = sessions.recorder.topic_totals(session_id)
    first, first_words = _beginning(sessions, session_id)
    is_alone = isinstance(first, SessionStarted) and SessionInfoChanged.TOPIC not in totals
    described = describe(sessions, session_id, first if is_alone else None)
    if wanted.directory is not None and not is_below(described.directory, wanted.directory):
        return None
    if wanted.name is not None:
        name = name_key(described.title, first_words)
        if name is None or wanted.name.casefold() not in name:
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
        last_id=active.stream.last_id,
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
