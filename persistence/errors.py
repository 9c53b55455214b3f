"""The typed errors of a store. Each is a TapefoldError and the library's error of its kind.

So a caller of tapefold catches `TapefoldError`, and a host that knows only the `eventsourcing`
library catches the classes that it knows (PEP 249 names). A driver's own error never leaves this
package; it stands as the cause (`__cause__`) of the error that does.
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from eventsourcing.persistence import (
    ConnectionPoolClosedError,
    DatabaseError,
    InfrastructureFactoryError,
    IntegrityError,
    InterfaceError,
    MapperDeserialisationError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)
from eventsourcing.utils import TopicError

from tapefold.domain.errors import InvalidValue, TapefoldError


class StoreError(TapefoldError):
    """Base of all that can be wrong with a store. `store` names it as the caller did."""

    def __init__(self, store: str, problem: str, advice: str) -> None:
        self.store = store
        super().__init__(f"store {store!r}: {problem}; {advice}")


class StoreBusy(StoreError, OperationalError):
    """A lock or a connection did not come free within the busy timeout. Nothing was written."""


class StoreMissing(StoreError, OperationalError):
    """The file, its folder, or the log inside the file does not exist."""


class StoreUnreadable(StoreError, DatabaseError):
    """It is no SQLite database, or a damaged one."""


class StoreNotWritable(StoreError, OperationalError):
    """The file or its folder is read-only or forbidden, or the disk is full or failing."""


class StoreTooNew(StoreError, NotSupportedError):
    """A newer tapefold wrote the store; this one must not touch it."""

    def __init__(self, store: str, found: str, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            store,
            f"it has schema version {found}, and this tapefold knows versions up to {known}",
            "use the tapefold that wrote it, or a newer one",
        )


class TableClash(StoreError, ProgrammingError):
    """A table of ours stands in the file already, in a shape that is not ours."""


class StoreClosed(StoreError, ConnectionPoolClosedError, InterfaceError):
    """The store was closed, for one by the end of the application that owned it."""


class StoreForked(StoreError, InterfaceError):
    """The process was forked while the store was in use; the copy must not touch the file."""


class NestedWrite(StoreError, ProgrammingError):
    """A thread that is writing asks for the write lock again; it would wait for itself."""


class StoreFailed(StoreError, OperationalError):
    """Any other failure of the database's operation."""


class PositionTaken(TapefoldError, IntegrityError):
    """The position of an appended event is taken already. Nothing was written."""

    def __init__(self, originator_id: UUID | str, originator_version: int) -> None:
        self.originator_id = originator_id
        self.originator_version = originator_version
        super().__init__(
            f"stream {str(originator_id)!r} already has an event at position "
            f"{originator_version}; read the stream again and decide anew"
        )


class PositionSkipped(TapefoldError, IntegrityError):
    """The event would leave a gap: the position before it is not on the tape. Nothing was written.

    So it comes from an instance that is ahead of its tape, since a save of it has failed.
    """

    def __init__(self, session_id: UUID | str, position: int) -> None:
        self.originator_id = session_id
        self.originator_version = position
        super().__init__(
            f"session {str(session_id)!r}: the tape has no position {position - 1} that position "
            f"{position} could follow; an earlier save of this instance has failed, so load the "
            "session again and decide anew"
        )


class StoreSettingsRefused(TapefoldError, InfrastructureFactoryError, OSError):
    """A setting of the store is missing or cannot be used. (OSError, as the library's own.)"""


class OriginatorIdTypeRefused(StoreSettingsRefused):
    """ORIGINATOR_ID_TYPE is not `text`, so the ids of sessions could not be read back."""


class UnstorableEvent(InvalidValue):
    """The event cannot be stored so that it comes back as it is. Nothing was written."""

    def __init__(self, topic: str, session_id: str, position: int, problem: str) -> None:
        self.topic = topic
        self.session_id = session_id
        self.position = position
        super().__init__(
            f"session {session_id!r}, position {position}: {topic} cannot be stored: {problem}; "
            "give values that JSON can hold, or keep the record raw in a ForeignRecorded"
        )


class TextIdNeeded(InvalidValue):
    """An event of ours has a UUID, or something else that is no text, as its originator id."""

    def __init__(self, topic: str, originator_id: object) -> None:
        self.topic = topic
        self.originator_id = originator_id
        super().__init__(
            f"{topic} of {originator_id!r}: ids of sessions are text, not "
            f"{type(originator_id).__name__}; set ORIGINATOR_ID_TYPE=text in the environment of "
            "the application (its own aggregates may keep their UUIDs), and give sessions "
            "ids of type str"
        )


class UnreadableEvent(TapefoldError, MapperDeserialisationError):
    """A stored event is damaged, or was written with another key. Its row was left alone.

    `session_id` and `position` are None where the caller did not say them. `reason` is the text
    without them, for who has named them already.
    """

    ADVICE: ClassVar[str] = (
        "if no event of this store can be read, check CIPHER_TOPIC, CIPHER_KEY and "
        "COMPRESSOR_TOPIC; else restore this row from a backup"
    )

    def __init__(
        self, topic: str, session_id: str | None, position: int | None, problem: str
    ) -> None:
        self.topic = topic
        self.session_id = session_id
        self.position = position
        self.problem = problem
        self.reason = f"{problem}; {self.ADVICE}"
        where = before = ""
        if session_id is not None:
            where = f"session {session_id!r}, position {position}: "
            if position is not None and position > 1:
                before = f"; what lies before it: `tapefold view {session_id} --at {position - 1}`"
        super().__init__(f"{where}stored event {topic!r} cannot be read: {self.reason}{before}")


class NewerEvent(UnreadableEvent):
    """A newer tapefold wrote the event; read with this one it might be misunderstood."""

    ADVICE = "upgrade tapefold, at least to the release that wrote it (docs/schema-evolution.md)"

    def __init__(
        self, topic: str, session_id: str | None, position: int | None, stored: int, known: int
    ) -> None:
        self.stored = stored
        self.known = known
        problem = f"it has class version {stored}, and this tapefold knows versions up to {known}"
        super().__init__(topic, session_id, position, problem)


class UnknownTopic(UnreadableEvent, TopicError):
    """No event of ours has this topic: a newer tapefold wrote it, or a host forgot an import."""

    ADVICE = (
        "upgrade tapefold, or import the module that defines the event (docs/schema-evolution.md)"
    )

    def __init__(self, topic: str, session_id: str | None, position: int | None) -> None:
        super().__init__(topic, session_id, position, "this tapefold knows no such event")
