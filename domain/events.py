"""The events of a session. Their names and fields are storage.

An event is (session_id, position, head, body). The head is what the fold needs; the body is
everything else, a frozen record of its own for each kind. Every kind has an explicit topic,
`tapefold.<Name>`, so that moving code never changes what is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, Self, TypeGuard

from .bodies import (
    AnchorBody,
    BackfillBody,
    BodyBase,
    BranchSummaryBody,
    ContextBody,
    CustomBody,
    EditBody,
    ForeignBody,
    ForkBody,
    InfoBody,
    LabelBody,
    LeafBody,
    LinkBody,
    MergeBody,
    MessageBody,
    ModelBody,
    ModelCallBody,
    RetractionBody,
    StartBody,
    ThinkingBody,
    ToolCallBody,
    ToolResultBody,
    UsageBody,
)
from .heads import Head, Timestamp

TOPIC_PREFIX: Final = "tapefold."


def is_ours(topic: object) -> TypeGuard[str]:
    """Whether a topic is one of tapefold's events, known to this release or not.

    Topics with a colon are import paths, also of a host's module `tapefold.something:Class`. A
    column of SQLite holds any type, whatever it was declared as: what is no text is not ours.
    """
    return isinstance(topic, str) and topic.startswith(TOPIC_PREFIX) and ":" not in topic


class Event:
    """One event of a tape. `originator_id` and `originator_version` are the library's names."""

    __slots__ = ("_body", "_load", "head", "originator_id", "originator_version", "stored_body")

    KIND: ClassVar[str] = ""
    TOPIC: ClassVar[str] = ""
    BODY: ClassVar[type[BodyBase]] = BodyBase
    class_version: ClassVar[int] = 1
    IS_ENTRY: ClassVar[bool] = False
    EXPERIMENTAL: ClassVar[bool] = False

    def __init__(
        self,
        originator_id: str,
        originator_version: int,
        head: Head,
        body: BodyBase | None = None,
        load: Callable[[], BodyBase] | None = None,
        stored_body: dict[str, Any] | None = None,
    ) -> None:
        self.originator_id = originator_id
        self.originator_version = originator_version
        self.head = head
        self._body = body
        self._load = load
        self.stored_body = stored_body
        """The body's stored shape, where whoever made the event has built both, with all checks.
        It saves doing so again; None says nothing."""

    @property
    def session_id(self) -> str:
        """The tape that the event stands on."""
        return self.originator_id

    @property
    def position(self) -> int:
        """The place on that tape: 1, 2, 3 …"""
        return self.originator_version

    @property
    def timestamp(self) -> Timestamp:
        """When it happened, as it was written."""
        return self.head.timestamp

    @property
    def body(self) -> Any:
        """The body, decoded when it is first asked for."""
        if self._body is None:
            self._body = self.BODY() if self._load is None else self._load()
            self._load = None
        return self._body

    def mutate(self, aggregate: Any) -> Any:
        """The library's way to fold: lets `repository.get(session_id)` build a `Session`."""
        from .session import Session  # a cycle by nature: sessions trigger events

        session = Session(self.originator_id) if aggregate is None else aggregate
        session.apply(self)
        return session

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Event)
            and type(self) is type(other)
            and self.originator_id == other.originator_id
            and self.originator_version == other.originator_version
            and self.head == other.head
            and self.body == other.body
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        what = self.head.entry_id or self.head.message_id or ""
        return f"<{type(self).__name__} {self.originator_id}@{self.originator_version} {what}>"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__name__
        cls.TOPIC = TOPIC_PREFIX + name
        cls.KIND = "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
        EVENTS[cls.KIND] = cls
        TOPICS[cls.TOPIC] = cls

    @classmethod
    def make(
        cls, session_id: str, position: int, body: BodyBase | None = None, **head: Any
    ) -> Self:
        """An event from head fields and a body, without any check: for tests and importers."""
        return cls(session_id, position, Head(kind=cls.KIND, **head), body or cls.BODY())


EVENTS: dict[str, type[Event]] = {}
"""Kind to class."""
TOPICS: dict[str, type[Event]] = {}
"""Topic to class."""


class SessionStarted(Event):
    """The tape begins. Always position 1."""

    __slots__ = ()
    BODY = StartBody


class MessageDrafted(Event):
    """An unfinished version of a message (status `pending`)."""

    __slots__ = ()
    BODY = MessageBody
    IS_ENTRY = True


class MessageFinalized(Event):
    """The first final version of a message (`sent` or `error`)."""

    __slots__ = ()
    BODY = MessageBody
    IS_ENTRY = True


class MessageRevised(Event):
    """A later version of a message, with a reason; it may revive a struck one."""

    __slots__ = ()
    BODY = MessageBody
    IS_ENTRY = True


class Retracted(Event):
    """Messages are struck out."""

    __slots__ = ()
    BODY = RetractionBody


class ToolCallRecorded(Event):
    """A fact of one call, owned by (message_id, call_id)."""

    __slots__ = ()
    BODY = ToolCallBody


class ToolResultRecorded(Event):
    """The result of one call, as a fact beside the messages."""

    __slots__ = ()
    BODY = ToolResultBody


class CompactionAnchored(Event):
    """A summary takes the place of what lies before its boundary, in the context only."""

    __slots__ = ()
    BODY = AnchorBody
    IS_ENTRY = True


class SummaryReset(Event):
    """No anchor before it on the path rules."""

    __slots__ = ()
    BODY = AnchorBody
    IS_ENTRY = True


class HandoffAnchored(Event):
    """The conversation is handed on with a summary and a state."""

    __slots__ = ()
    BODY = AnchorBody
    IS_ENTRY = True


class BranchSummarized(Event):
    """What was learnt on a branch that was left. Hides nothing."""

    __slots__ = ()
    BODY = BranchSummaryBody
    IS_ENTRY = True


class ContextEdited(Event):
    """One entry is replaced or left out in the context, on this path."""

    __slots__ = ()
    BODY = EditBody
    IS_ENTRY = True


class Forked(Event):
    """Receipt on the parent's tape: a child session was forked off."""

    __slots__ = ()
    BODY = ForkBody


class ForkMerged(Event):
    """Receipt: a fork was merged back."""

    __slots__ = ()
    BODY = MergeBody
    EXPERIMENTAL = True


class ForkDiscarded(Event):
    """Receipt: a fork was given up."""

    __slots__ = ()
    BODY = MergeBody
    EXPERIMENTAL = True


class SubagentLinked(Event):
    """Receipt: a sub-agent's tape up to a position belongs to this session."""

    __slots__ = ()
    BODY = LinkBody
    EXPERIMENTAL = True


class LeafMoved(Event):
    """The leaf moves, explicitly and durably."""

    __slots__ = ()
    BODY = LeafBody


class Labelled(Event):
    """An entry gets a label, or loses it."""

    __slots__ = ()
    BODY = LabelBody


class SessionInfoChanged(Event):
    """The session's name or other information changes."""

    __slots__ = ()
    BODY = InfoBody


class ModelChanged(Event):
    """From here on another model answers."""

    __slots__ = ()
    BODY = ModelBody
    IS_ENTRY = True


class ThinkingLevelChanged(Event):
    """From here on the model thinks more, or less."""

    __slots__ = ()
    BODY = ThinkingBody
    IS_ENTRY = True


class UsageRecorded(Event):
    """Tokens or money spent outside the messages."""

    __slots__ = ()
    BODY = UsageBody


class CustomRecorded(Event):
    """State of an extension; never sent to a model."""

    __slots__ = ()
    BODY = CustomBody
    IS_ENTRY = True


class ForeignRecorded(Event):
    """A record of an imported file that we cannot read, kept raw. Without an id it is a mark."""

    __slots__ = ()
    BODY = ForeignBody
    IS_ENTRY = True


class BackfillRecorded(Event):
    """What one backfill run did."""

    __slots__ = ()
    BODY = BackfillBody
    EXPERIMENTAL = True


class ContextAssembled(Event):
    """What was sent to the model: references and digests, no text."""

    __slots__ = ()
    BODY = ContextBody
    EXPERIMENTAL = True


class ModelCallCompleted(Event):
    """How one attempt to call the model ended."""

    __slots__ = ()
    BODY = ModelCallBody
    EXPERIMENTAL = True
