"""The typed errors of the domain. Each says where it happened and what to do next."""

from __future__ import annotations


class TapefoldError(Exception):
    """Base of every error that tapefold raises on purpose."""


def shown(value: object) -> str:
    """A value as an error's text shows it: short, and whatever it is."""
    try:
        text = repr(value)
    except Exception:  # endless, too deep, too long, or an object that cannot say what it is
        return f"a {type(value).__name__}"
    return text if len(text) <= 200 else text[:199] + "…"


class InvalidValue(TapefoldError, ValueError):
    """A value at the boundary has the wrong type, shape or range."""


class SessionNotFound(TapefoldError, LookupError):
    """No tape has this session id."""

    def __init__(self, session_id: str, hint: str = "list the sessions that exist") -> None:
        self.session_id = session_id
        super().__init__(f"session {session_id!r} does not exist; {hint}")


class SessionExists(TapefoldError):
    """A session is started under an id that already has a tape."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"session {session_id!r} already exists; load it, or start another id")


class UnknownEntry(TapefoldError, LookupError):
    """No entry (or mark) of the tape, basis included, has this id."""

    def __init__(
        self, session_id: str, entry_id: str, hint: str = "look at its tree for the ids"
    ) -> None:
        self.session_id = session_id
        self.entry_id = entry_id
        super().__init__(f"session {session_id!r} has no entry {entry_id!r}; {hint}")


class UnknownMessage(TapefoldError, LookupError):
    """No message of the tape, basis included, has this id."""

    def __init__(self, session_id: str, message_id: str) -> None:
        self.session_id = session_id
        self.message_id = message_id
        super().__init__(
            f"session {session_id!r} has no message {message_id!r}; look at its view for the ids"
        )


class WrongKind(TapefoldError):
    """The entry exists, but the command cannot be applied to an entry of its kind."""


class DuplicateId(TapefoldError):
    """An id that has to be new is already taken in the session or in what it inherits."""

    def __init__(self, session_id: str, what: str, taken: str) -> None:
        self.session_id = session_id
        self.taken = taken
        super().__init__(
            f"session {session_id!r} already has the {what} {taken!r}; "
            "give another id, or none to have one made"
        )


class PositionOutOfRange(TapefoldError, LookupError):
    """A position below 1 or past the end of the tape is asked for."""

    def __init__(self, session_id: str, position: int, last: int, hint: str = "") -> None:
        self.session_id = session_id
        self.position = position
        self.last = last
        super().__init__(
            f"session {session_id!r} has positions 1 to {last}; there is no position {position}"
            + (f"; {hint}" if hint else "")
        )


class OutOfOrder(TapefoldError):
    """The kernel was given an event that is not the next one of the tape."""

    def __init__(self, session_id: str, position: int, expected: int) -> None:
        self.session_id = session_id
        self.position = position
        self.expected = expected
        super().__init__(
            f"session {session_id!r}: event at position {position} cannot be applied, "
            f"position {expected} is next; sort the events, or read the missing ones first"
        )


class BasisMissing(TapefoldError):
    """A fork is folded, or decides, without the state that it inherits."""

    def __init__(self, session_id: str, parent: str, position: int) -> None:
        self.session_id = session_id
        self.parent = parent
        self.position = position
        super().__init__(
            f"session {session_id!r} is a fork of {parent!r} at position {position} and needs "
            "that state as its basis; load it with Sessions or with load_session()"
        )


class ConcurrencyConflict(TapefoldError):
    """Somebody else appended first. Nothing was written."""

    def __init__(self, session_id: str, expected: int | None, actual: int | None = None) -> None:
        self.session_id = session_id
        self.expected = expected
        self.actual = actual
        if expected == 0 and actual:
            super().__init__(
                f"session {session_id!r} already exists (it is at position {actual}); load it, "
                "or start another id"
            )
            return
        found = "has moved on" if actual is None else f"is at position {actual}"
        wanted = "" if expected is None else f", not at {expected} as expected"
        super().__init__(
            f"session {session_id!r} {found}{wanted}; load it again and decide anew, "
            "or use execute(), which decides on the newest state"
        )


class ProvenanceConflict(TapefoldError):
    """One provenance key was used for two different deliveries."""

    def __init__(self, session_id: str, key: str, position: int, first: str, second: str) -> None:
        self.session_id = session_id
        self.key = key
        self.position = position
        self.first = first
        self.second = second
        super().__init__(
            f"session {session_id!r}: key {key!r} already names the delivery at position "
            f"{position} (digest {first}); this one differs (digest {second}); "
            "a new delivery needs a key of its own"
        )


class UnderRequired(TapefoldError):
    """An assistant message was appended through execute() without saying where it hangs."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"session {session_id!r}: an assistant message needs under= (the entry it answers) "
            "or the call needs expected_position=, so that no answer lands under another question"
        )


class MessageStruck(TapefoldError):
    """The message was retracted; the command needs it restored first."""

    def __init__(self, session_id: str, message_id: str) -> None:
        self.session_id = session_id
        self.message_id = message_id
        super().__init__(
            f"session {session_id!r}: message {message_id!r} is struck out; restore it first"
        )


class InvalidBoundary(TapefoldError):
    """The first kept entry of a compaction is no entry of the context that it replaces."""


class StaleSummary(TapefoldError):
    """What a summary covers has changed since it was written."""


class SpentInstance(TapefoldError):
    """This instance may not decide any more: its state may be ahead of the tape, or be shared."""

    def __init__(self, session_id: str, reason: str = "its save failed") -> None:
        self.session_id = session_id
        super().__init__(
            f"session {session_id!r}: this instance is spent since {reason}; load the session again"
        )
