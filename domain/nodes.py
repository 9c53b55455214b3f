"""The rows of the kernel's tables. Small, and never changed once they are in a table."""

from __future__ import annotations

from typing import Final

from .heads import FINAL_RANK, PENDING_RANK, fact_rank, message_rank

MESSAGE: Final = "message"
COMPACTION: Final = "compaction"
RESET: Final = "summary_reset"
HANDOFF: Final = "handoff"
BRANCH_SUMMARY: Final = "branch_summary"
CONTEXT_EDIT: Final = "context_edit"
CUSTOM: Final = "custom"
FOREIGN: Final = "foreign"
MODEL: Final = "model"
THINKING: Final = "thinking"
MARK: Final = "mark"

ANCHORS: Final = frozenset({COMPACTION, RESET, HANDOFF})

NODE_KINDS: Final = {
    "message_drafted": MESSAGE,
    "message_finalized": MESSAGE,
    "message_revised": MESSAGE,
    "compaction_anchored": COMPACTION,
    "summary_reset": RESET,
    "handoff_anchored": HANDOFF,
    "branch_summarized": BRANCH_SUMMARY,
    "context_edited": CONTEXT_EDIT,
    "custom_recorded": CUSTOM,
    "foreign_recorded": FOREIGN,
    "model_changed": MODEL,
    "thinking_level_changed": THINKING,
}
"""Event kinds that are entries, and the kind of node that they make."""

ROLES: Final = {
    role: role
    for role in ("user", "assistant", "system", "tool_result", "custom", "bash_execution")
}
"""The roles, each as the one string that every row shares."""

STATUSES: Final = {s: s for s in ("sent", "error", "pending", "success")}


class Node:
    """An entry that is no message, or a mark with a node of its own (`kind` is `mark`).

    `seq` counts everything that is inherited first, then the own events: the one order.
    `target` is what a context edit is about, the tip that a branch summary tells of, or the
    entry that a mark stands for.
    """

    __slots__ = ("entry_id", "kind", "parent_id", "seq", "target")

    def __init__(
        self, entry_id: str, parent_id: str | None, seq: int, kind: str, target: str | None = None
    ) -> None:
        self.entry_id = entry_id
        self.parent_id = parent_id
        self.seq = seq
        self.kind = kind
        self.target = target


class Version:
    """One version of a message."""

    __slots__ = (
        "call_ids",
        "digest",
        "interruption",
        "message_id",
        "order_seq",
        "owner",
        "role",
        "seq",
        "status",
    )

    def __init__(
        self,
        message_id: str,
        seq: int,
        role: str | None,
        status: str | None,
        digest: str | None,
        call_ids: tuple[str, ...],
        owner: str | None,
        order_seq: int | None,
        interruption: bool,
    ) -> None:
        self.message_id = message_id
        self.seq = seq
        self.role = role
        self.status = status
        self.digest = digest
        self.call_ids = call_ids
        self.owner = owner
        self.order_seq = order_seq
        self.interruption = interruption

    @property
    def rank(self) -> int:
        """2 final, 1 pending, 0 dropped."""
        return message_rank(self.status)


class MessageNode(Version):
    """An entry that is a message, with its newest version while that is the only one that counts.

    `born` is the first version's seq: where the message stands in the tree. `finalized` is that
    of the first final one, 0 while there is none.
    """

    __slots__ = ("born", "entry_id", "finalized", "parent_id")

    def __init__(
        self, entry_id: str, parent_id: str | None, born: int, finalized: int, version: Version
    ) -> None:
        self.entry_id = entry_id
        self.parent_id = parent_id
        self.born = born
        self.finalized = finalized
        # Written out: this runs once for every message of a tape.
        self.message_id = version.message_id
        self.seq = version.seq
        self.role = version.role
        self.status = version.status
        self.digest = version.digest
        self.call_ids = version.call_ids
        self.owner = version.owner
        self.order_seq = version.order_seq
        self.interruption = version.interruption

    kind = MESSAGE


AnyNode = Node | MessageNode


class MessageState:
    """What the versions and retractions of one message amount to.

    Attributes:
        entry_id: where the message shows.
        final, pending: the unstruck winner among the final versions, and among the drafts.
        latest: the newest version, struck or not: what a restore copies.
        struck: the message was retracted and not revived since.
        changed: seq of the last version or retraction.
        held: ids of the calls that a final version held, whichever.
    """

    __slots__ = ("changed", "entry_id", "final", "held", "latest", "pending", "struck")

    def __init__(
        self,
        entry_id: str,
        final: Version | None,
        pending: Version | None,
        latest: Version,
        struck: bool,
        changed: int,
        held: tuple[str, ...],
    ) -> None:
        self.entry_id = entry_id
        self.final = final
        self.pending = pending
        self.latest = latest
        self.struck = struck
        self.changed = changed
        self.held = held

    def winner(self, include_pending: bool = False) -> Version | None:
        """The version that shows: final before pending, then the newest."""
        if self.final is not None or not include_pending:
            return self.final
        return self.pending

    @classmethod
    def of(cls, node: MessageNode) -> MessageState:
        """The state of a message that has nothing but the version in its node."""
        rank = node.rank
        return cls(
            node.entry_id,
            node if rank == FINAL_RANK else None,
            node if rank == PENDING_RANK else None,
            node,
            False,
            node.seq,
            node.call_ids if rank == FINAL_RANK and node.role == "assistant" else (),
        )


class CallFact:
    """What was recorded of one call beside the messages: the best call and result fact.

    Facts compare by (rank, seq) as versions do. `before` is the call id of the owner's fact
    that came first before this one: the owner's facts form a chain.
    """

    __slots__ = (
        "before",
        "call_digest",
        "call_seq",
        "call_status",
        "changed",
        "result_digest",
        "result_seq",
        "result_status",
    )

    def __init__(self, before: str | None) -> None:
        self.before = before
        self.call_seq = 0
        self.call_status: str | None = None
        self.call_digest: str | None = None
        self.result_seq = 0
        self.result_status: str | None = None
        self.result_digest: str | None = None
        self.changed = 0

    def copy(self) -> CallFact:
        """A copy to be changed before it replaces this one."""
        other = CallFact(self.before)
        for name in CallFact.__slots__:
            setattr(other, name, getattr(self, name))
        return other

    def call_rank(self) -> int:
        """2 finished, 1 pending, 0 dropped or no call fact."""
        return fact_rank(self.call_status)

    def result_rank(self) -> int:
        """2 finished, 1 pending, 0 dropped or no result fact."""
        return fact_rank(self.result_status)


class Fact:
    """The newest mark of its kind: a label, a name, an edit."""

    __slots__ = ("cleared", "digest", "seq")

    def __init__(self, seq: int, digest: str | None = None, cleared: bool = False) -> None:
        self.seq = seq
        self.digest = digest
        self.cleared = cleared


class Delivery:
    """What a provenance key named first."""

    __slots__ = ("entry_id", "message_id", "request", "seq")

    def __init__(
        self, seq: int, request: str | None, entry_id: str | None, message_id: str | None
    ) -> None:
        self.seq = seq
        self.request = request
        self.entry_id = entry_id
        self.message_id = message_id


class Anchor:
    """The part of an anchor that decides what it covers."""

    __slots__ = ("cumulative", "entry_id", "first_kept", "kind", "name", "replaces", "seq")

    def __init__(
        self,
        entry_id: str,
        seq: int,
        kind: str,
        name: str | None,
        first_kept: str | None,
        replaces: tuple[str, ...] | None,
        cumulative: bool,
    ) -> None:
        self.entry_id = entry_id
        self.seq = seq
        self.kind = kind
        self.name = name
        self.first_kept = first_kept
        self.replaces = replaces
        self.cumulative = cumulative
