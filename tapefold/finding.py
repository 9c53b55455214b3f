"""What people type for a session or an entry, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .activity import describe, newest_first
from .domain.errors import (
    InvalidValue,
    PositionOutOfRange,
    SessionNotFound,
    TapefoldError,
    UnknownEntry,
    WrongKind,
)
from .domain.kernel import State

if TYPE_CHECKING:
    from .domain.heads import Head
    from .sessions import Sessions

LAST = "last"
NONE = "none"
LEFT_OUT = ("…", "...")
"""What a list writes in the place of an id's beginning."""
LOOKED_AT = 200
"""Of so many sessions at most the first words are read for an error."""
FIRST = 8
"""Among so many events the first user message is looked for then."""
SHOWN = 8
"""How many candidates an error lists."""
DIGITS = 18
"""No position has more digits; more of them can only be an id."""


class AmbiguousReference(TapefoldError, LookupError):
    """A reference fits several sessions or entries. `candidates` are their ids."""

    def __init__(self, what: str, reference: str, candidates: Iterable[str]) -> None:
        self.reference = reference
        self.candidates = tuple(candidates)
        shown = ", ".join(self.candidates[:SHOWN])
        more = len(self.candidates) - SHOWN
        super().__init__(
            f"{reference!r} fits {len(self.candidates)} {what}: {shown}"
            + (f" and {more} more" if more > 0 else "")
            + "; give more of the id"
        )


# -- sessions ----------------------------------------------------------------------------------


def find_session(sessions: Sessions, reference: str) -> str:
    """The id of the session that `reference` names.

    The exact id; then `last`, the session with the newest activity (the first that a list
    shows, see activity.py); then a beginning or an end that one id alone has (forks of a
    session do not make its own id ambiguous), an end also with `…` before it, as lists show it;
    then a title that one session alone has. Raises `SessionNotFound`, `AmbiguousReference`.
    """
    if not reference or any("\ud800" <= c <= "\udfff" for c in reference):
        raise SessionNotFound(reference, "give an id, the beginning or end of one, or a title")
    if sessions.tapes.first_head(reference) is not None:
        return reference
    if reference == LAST:
        newest = newest_first(sessions)
        if not newest:
            raise SessionNotFound(reference, "the store holds no session yet")
        return newest[0].session_id
    ids = [stream.session_id for stream in sessions.tapes.streams()]
    found = [i for i in ids if i.startswith(reference) or i.endswith(reference)]
    mark = next((mark for mark in LEFT_OUT if reference.startswith(mark)), "")
    end = reference.removeprefix(mark)
    if not found and mark and end:
        found = [i for i in ids if i.endswith(end)]
    if len(found) > 1:
        found = _without_forks(sessions, found)
    if not found:
        found = _by_title(sessions, reference)
    if len(found) > 1:
        raise AmbiguousReference("sessions", reference, found)
    if not found:
        hint = "`tapefold sessions` lists those that do"
        begun = _by_first_words(sessions, reference, ids[:LOOKED_AT])
        if len(begun) == 1:
            hint = f"no id or title is so, but {begun[0]} begins with these words"
        raise SessionNotFound(reference, hint)
    return found[0]


def _by_first_words(sessions: Sessions, words: str, ids: list[str]) -> list[str]:
    """Those of these sessions whose first user message begins so: told of, never meant."""
    from .domain.outline import content_preview  # late: only a reference that fails needs it

    folded = " ".join(words.casefold().split())
    found = []
    for session_id in ids:
        try:
            events = sessions.tapes.events(session_id, 0, FIRST)
            first = next((event for event in events if event.head.role == "user"), None)
            said = "" if first is None else content_preview(first.body.content)
        except TapefoldError:
            continue  # one that cannot be read is no reason for another error
        if folded and " ".join(said.casefold().split()).startswith(folded):
            found.append(session_id)
    return found


def _without_forks(sessions: Sessions, ids: list[str]) -> list[str]:
    """Those of `ids` that descend from none of the others."""
    among = set(ids)
    kept = []
    for session_id in ids:
        seen = {session_id}
        parent = _parent(sessions, session_id)
        while parent is not None and parent not in among and parent not in seen:
            seen.add(parent)
            parent = _parent(sessions, parent)
        if parent is None or parent in seen:
            kept.append(session_id)
    return kept


def _parent(sessions: Sessions, session_id: str) -> str | None:
    head = sessions.tapes.first_head(session_id)
    return None if head is None or head.origin is None else head.origin.session_id


def _by_title(sessions: Sessions, title: str) -> list[str]:
    """The sessions with this title; where none is written so, without regard to case."""
    ids = [stream.session_id for stream in sessions.tapes.streams()]
    titles = [(session_id, describe(sessions, session_id).title or "") for session_id in ids]
    exact = [session_id for session_id, found in titles if found == title]
    folded = title.casefold().strip()
    return exact or [i for i, found in titles if folded and found.casefold().strip() == folded]


# -- entries -----------------------------------------------------------------------------------


def find_entry(
    sessions: Sessions, state: State, reference: str, *, digits_are_ids: bool = False
) -> str | None:
    """The id of the node that `reference` names in a session; None for `none`, the root.

    Digits, or `#` and digits, are a position of the session's own tape; with `digits_are_ids`
    digits are an exact id, and `#5` is a position unless an id reads so. `@id` is always an id,
    anything else an entry id, a message id, or a beginning that one entry id alone has. Raises
    `UnknownEntry`, `WrongKind`, `PositionOutOfRange`, `AmbiguousReference`.
    """
    if reference == NONE:
        return None
    session_id = state.session_id
    digits = reference.removeprefix("#")
    if digits.isascii() and digits.isdigit():
        is_id = digits_are_ids and (digits == reference or _exactly(state, reference) is not None)
        if not is_id:
            if len(digits) > DIGITS:
                raise UnknownEntry(session_id, reference)
            return _entry_at(sessions, state, int(digits))
        if digits == reference and _exactly(state, reference) is None:
            hint = f"write #{digits} for the position"
            raise UnknownEntry(session_id, digits, *((hint,) if len(digits) <= DIGITS else ()))
    marked = reference.startswith("@")
    for wanted in (reference[1:], reference) if marked else (reference,):
        found = _exactly(state, wanted)
        if found is not None:
            return found
    if not reference:
        raise InvalidValue("an entry is named by its id, its position, or `none` for the root")
    if marked:
        raise UnknownEntry(session_id, reference[1:])
    begun = [key for key in state.entries if key.startswith(reference)]
    if len(begun) > 1:
        raise AmbiguousReference("entries", reference, sorted(begun))
    if not begun:
        raise UnknownEntry(session_id, reference)
    return begun[0]


def position_of(reference: str) -> int | None:
    """The position that `5` or `#5` names; None for any other reference."""
    digits = reference.removeprefix("#")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= DIGITS
    return int(digits) if is_number else None


def _exactly(state: State, wanted: str) -> str | None:
    if state.entry(wanted) is not None:
        return wanted
    message = state.message_node(wanted)
    return None if message is None else message.entry_id


def _entry_at(sessions: Sessions, state: State, position: int) -> str:
    """The entry that the event at a position makes, or is a version of."""
    if not 1 <= position <= state.position:
        entry_id = str(position)
        is_id = _exactly(state, entry_id) is not None
        hint = f"the entry with that id is written @{entry_id}" if is_id else ""
        raise PositionOutOfRange(state.session_id, position, state.position, hint)
    event: Any = next(iter(sessions.tapes.events_at(state.session_id, [position])))
    found = _of_head(state, event.head)
    if found is None:
        raise WrongKind(
            f"session {state.session_id!r}: position {position} is {type(event).__name__}, "
            "which is no entry; name an entry by its id, as the tree shows it"
        )
    return found


def _of_head(state: State, head: Head) -> str | None:
    if head.message_id is not None:
        message = state.message_node(head.message_id)
        if message is not None:
            return message.entry_id
    if head.entry_id is not None and state.entry(head.entry_id) is not None:
        return head.entry_id
    return None
