"""The sessions of a store as a list shows them, out of the session index.

Where that was never built, or is being built, they come from the tapes (listing.py). What is shown
is the same either way, but for tokens and costs, which only the index knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from tapefold.activity import activity_of
from tapefold.domain.errors import TapefoldError
from tapefold.persistence.errors import StoreError
from tapefold.projections.branch_tree.index import SessionFilter, SessionIndex

from .directories import is_below
from .listed import COST, NEWEST, SORT_KEYS, Listed, Wanted
from .listing import listed_session, listed_sessions, timeless

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.projections.branch_tree.index import IndexedSession
    from tapefold.projections.parking import Parked

    from .projected import Projected


def list_sessions(sessions: Sessions, wanted: Wanted, left: list[str]) -> list[Listed]:
    """The wanted sessions in their order. `left` is told which could not be looked at.

    An order by cost needs the index, and builds it. Raises what reading a projection raises.
    """
    from tapefold.projections.branch_tree.projection import BranchTree

    if wanted.sort != COST and not _is_built(sessions):
        return list(listed_sessions(sessions, wanted, left))
    from .projected import projected

    with projected(sessions, BranchTree()) as read:
        return list(indexed_sessions(read, sessions, wanted, left))


def _is_built(sessions: Sessions) -> bool:
    from tapefold.projections.database import FOLLOWING
    from tapefold.projections.errors import NoFiles, ProjectionMissing
    from tapefold.projections.opening import read_model

    try:
        model = read_model(sessions, "branch_tree")
    except NoFiles:
        return False
    try:
        with model.reading() as build:
            return build.progress().phase == FOLLOWING
    except ProjectionMissing:
        return False
    finally:
        model.close()


def indexed_sessions(
    read: Projected, sessions: Sessions, wanted: Wanted, left: list[str]
) -> Iterator[Listed]:
    """The wanted sessions out of the index, as `listed_sessions` has them.

    One that stands still at an event that cannot be applied is as it was before that event; where
    that is its first, there is no row of it, and its tape tells the problem.
    """
    index = SessionIndex(read.connection)
    rowless = [one for one in read.parked if index.get(one) is None]
    last: list[str] = []
    lost = _lost(rowless, sessions, wanted, left, last)
    is_plain = not lost and wanted.text is None
    rows = index.page(
        _filter(index, wanted),
        sort=wanted.sort,
        limit=wanted.limit if is_plain else None,
        offset=wanted.offset if is_plain else 0,
    )
    found: Iterator[Listed] = (_listed(row, read.parked.get(row.session_id)) for row in rows)
    if wanted.text is not None:
        found = _saying(sessions, found, wanted.text, left)
    if not is_plain:
        end = None if wanted.limit is None else wanted.offset + wanted.limit
        found = islice(merge(found, lost, key=SORT_KEYS[wanted.sort]), wanted.offset, end)
    number = 0
    for one in found:
        number += 1
        yield one
    # These sort last: who looks at the newest alone never comes to them.
    if wanted.since is not None and (number != wanted.limit or wanted.sort != NEWEST):
        left.extend([*map(timeless, index.without_time()), *last])


def _lost(
    ids: Iterable[str], sessions: Sessions, wanted: Wanted, left: list[str], last: list[str]
) -> list[Listed]:
    """`last` is told of those without a time, which sort last."""
    found = []
    for active in (activity_of(sessions, one) for one in ids):
        said = last if wanted.since is not None and active.moment is None else left
        one = listed_session(sessions, active, wanted, said)
        if one is not None:
            found.append(one)
    return sorted(found, key=SORT_KEYS[wanted.sort])


def _filter(index: SessionIndex, wanted: Wanted) -> SessionFilter:
    directories = None
    if wanted.directory is not None:
        directories = [one for one in index.directories() if is_below(one, wanted.directory)]
    return SessionFilter(directories=directories, since=wanted.since, name=wanted.name)


def _saying(
    sessions: Sessions, found: Iterator[Listed], text: str, left: list[str]
) -> Iterator[Listed]:
    """Those that say a text. Messages are looked through on the tapes, of a session that stands
    still up to there."""
    from .grepping import find_text

    for one in found:
        try:
            known = (one.title, one.first_words)
            upto = None if one.parked is None else one.parked.position - 1
            match = find_text(sessions, one.session_id, known, text, upto)
        except StoreError:
            raise
        except TapefoldError as error:
            left.append(str(error))
            continue
        if match is not None:
            yield replace(one, match=match)


def _listed(row: IndexedSession, parked: Parked | None) -> Listed:
    return Listed(
        session_id=row.session_id,
        position=row.position,
        last_activity=row.last_activity,
        title=row.title,
        first_words=row.first_words,
        directory=row.directory,
        created=row.created,
        messages=row.messages,
        size=row.size,
        model=row.model,
        leaf=row.leaf,
        parent=row.parent_session_id,
        parent_position=row.parent_position,
        spent=row.tokens,
        last_id=row.last_id,
        parked=parked,
    )
