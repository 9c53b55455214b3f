"""What a list of sessions shows, and which sessions are asked for in which order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, Any, Final

from tapefold.activity import newest_key
from tapefold.domain.heads import Timestamp
from tapefold.domain.instants import seconds
from tapefold.projections.branch_tree.index import name_key

if TYPE_CHECKING:
    from tapefold.projections.parking import Parked
    from tapefold.projections.usage import Tokens

    from .grepping import Match

NEWEST: Final = "newest"
COST: Final = "cost"


@dataclass(frozen=True)
class Listed:
    """One session.

    `title` and `directory` are the newest, inherited ones included; `first_words` those of the
    first user message, None where there is none; `messages` began on this tape, struck or not;
    `size` is that of the stored events, in bytes; `model` that of the newest answer or change of
    model on this tape. `spent` are the tokens and the cost that its events tell of, where the
    list comes from the session index; None: not known. `match` is where the searched text stands.
    `problem` tells why the session cannot be read; then most of the rest is empty. `last_id` is
    the id of the last event in the store's log. `parked`: where the session stands still in the
    session index, and why; then all of this is as it was before that event.
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
    spent: Tokens | None = None
    last_id: int = 0
    parked: Parked | None = None


@dataclass(frozen=True)
class Wanted:
    """Which sessions are listed: below a directory, with activity since a moment, with a name in
    title or first words, with a text in title, first words or messages (letter case does not
    count); by which key of `SORT_KEYS`; and at most how many after how many."""

    directory: str | None = None
    since: datetime | None = None
    name: str | None = None
    text: str | None = None
    sort: str = NEWEST
    limit: int | None = None
    offset: int = 0

    @property
    def is_narrowed(self) -> bool:
        """Whether a session may be left out for what it is, or says."""
        return (self.directory, self.since, self.name, self.text) != (None,) * 4


def _newest(one: Listed) -> tuple[float, float]:
    moment, last_id = newest_key(seconds(one.last_activity), one.last_id)
    return -moment, -last_id


def _by_name(one: Listed) -> tuple[Any, ...]:
    name = name_key(one.title, one.first_words)
    return name is None, name or "", _newest(one)


def _by_created(one: Listed) -> tuple[Any, ...]:
    began = seconds(one.created)
    return inf if began is None else -began, _newest(one)


SORT_KEYS: Final[dict[str, Callable[[Listed], tuple[Any, ...]]]] = {
    NEWEST: _newest,
    "name": _by_name,
    "created": _by_created,
    "messages": lambda one: (-one.messages, _newest(one)),
    "size": lambda one: (-one.size, _newest(one)),
    COST: lambda one: (0.0 if one.spent is None else -one.spent.cost, _newest(one)),
}
"""How sessions can be sorted, as the session index does it: the least key first."""
