"""The forks of a session, and theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapefold.domain.outline import OutlineFork
from tapefold.forks import forks_of

if TYPE_CHECKING:
    from tapefold import SessionInfo, Sessions


@dataclass(frozen=True)
class Fork:
    """One descendant of a session; `depth` 1 is a child.

    `info` is None where only the parent's receipt tells of it: its tape is not in the store.
    """

    parent: str
    told: OutlineFork
    depth: int
    info: SessionInfo | None


@dataclass(frozen=True)
class Family:
    """A session with its parent, and its descendants: each behind its parent, oldest first."""

    session_id: str
    parent: str | None
    parent_position: int | None
    forks: tuple[Fork, ...]


def family_of(sessions: Sessions, session_id: str) -> Family:
    """Find the descendants, by the receipts on their parents' tapes."""
    found: list[Fork] = []
    seen = {session_id}
    todo = _children(sessions, session_id, 1)
    while todo:
        fork = todo.pop()
        child = fork.told.session_id
        if child in seen:
            continue
        seen.add(child)
        found.append(fork)
        if fork.info is not None:
            todo += _children(sessions, child, fork.depth + 1)
    first = sessions.tapes.first_head(session_id)
    origin = None if first is None else first.origin
    return Family(
        session_id,
        None if origin is None else origin.session_id,
        None if origin is None else origin.position,
        tuple(found),
    )


def _children(sessions: Sessions, parent: str, depth: int) -> list[Fork]:
    """The children of a session, the oldest last: a stack is emptied from its end."""
    forks = []
    for told in forks_of(sessions, parent):
        is_there = sessions.tapes.first_head(told.session_id) is not None
        info = sessions.info(told.session_id) if is_there else None
        forks.append(Fork(parent, told, depth, info))
    forks.reverse()
    return forks
