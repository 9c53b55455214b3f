"""The head of an event: all that the fold needs, and nothing else.

Heads are small and cheap to decode; the kernel sees only them. The names of the fields are
storage: they are never changed, only added to.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

Timestamp = str | int | float | None
"""A time as it was written: ISO text, or a number whose unit the writer knows. Data, no order."""

FINAL_STATUSES: Final = frozenset({"sent", "error"})
PENDING: Final = "pending"

FINAL_RANK: Final = 2
PENDING_RANK: Final = 1
DROPPED_RANK: Final = 0

DIRECTORY: Final = "directory"
"""`name` of an event that sets the session's directory."""


def message_rank(status: str | None) -> int:
    """2 for a final version (`sent`, `error`), 1 for a draft (`pending`), 0: dropped."""
    if status in FINAL_STATUSES:
        return FINAL_RANK
    return PENDING_RANK if status == PENDING else DROPPED_RANK


def fact_rank(status: str | None) -> int:
    """2 for a finished fact (`success`, `error`), 1 for `pending`, 0: dropped."""
    if status in ("success", "error"):
        return FINAL_RANK
    return PENDING_RANK if status == PENDING else DROPPED_RANK


@dataclass(slots=True)
class Origin:
    """Where a fork comes from: the parent's tape up to `position`, at `leaf` (None: the root).

    `inherit` is false for a child that starts empty, such as a sub-agent's session.
    """

    session_id: str
    position: int
    leaf: str | None = None
    inherit: bool = True


@dataclass(slots=True)
class Head:
    """What the fold needs of one event. Treat it as frozen; fields at their default are not stored.

    Attributes:
        kind: the event's name in snake case, `message_finalized`.
        timestamp: when it happened, as it was written.
        entry_id, parent_id: the node of the tree that the event is; None for most marks.
        takes_leaf: the node becomes the leaf. Decided by whoever writes the event.
        stands_for: of an imported mark with a node of its own: its nearest ancestor that is an
            entry (None: the root).
        message_id, role, status: of a message version. `status` of a fact is the fact's.
        call_ids: of an assistant version: the calls that its content holds; of a result message
            or a fact: the one call that it is about.
        owner: the message whose call a result message or a fact is about.
        interruption: of a result message: it only says that the call was interrupted.
        order_seq: where the message sorts, beside its position.
        revives: of a version: the message is shown again from here on.
        targets: what a mark is about: message ids (retraction), an entry id (label, edit, leaf).
        cleared: the label or name is taken away; of a context edit: its target is left out.
        name: an anchor's name, `compaction/manual`; `directory`: the event sets the session's.
        first_kept: an anchor's boundary; itself: nothing is kept.
        replaces: entries that an anchor replaces one by one (None: it has a boundary).
        cumulative: rows of older anchors after the boundary stay (Tau's rule).
        digest: digest of the content, of this version, fact or mark.
        key, request: provenance key, and digest of the delivery that it names.
        record: digest of the imported record. line: its line (1, 2, …) in the file.
        origin: of a fork's first event.
    """

    kind: str
    timestamp: Timestamp = None
    entry_id: str | None = None
    parent_id: str | None = None
    takes_leaf: bool = False
    stands_for: str | None = None
    message_id: str | None = None
    role: str | None = None
    status: str | None = None
    call_ids: tuple[str, ...] = ()
    owner: str | None = None
    interruption: bool = False
    order_seq: int | None = None
    revives: bool = False
    targets: tuple[str, ...] = ()
    cleared: bool = False
    name: str | None = None
    first_kept: str | None = None
    replaces: tuple[str, ...] | None = None
    cumulative: bool = False
    digest: str | None = None
    key: str | None = None
    request: str | None = None
    record: str | None = None
    line: int | None = None
    origin: Origin | None = None

    def to_json(self) -> dict[str, Any]:
        """The stored shape: only what differs from the defaults."""
        out = {
            name: value
            for name, value, default in zip(_NAMES, _values(self), _DEFAULTS, strict=True)
            if value is not default and value != default
        }
        if self.origin is not None:
            # All of it is written: a leaf of null means the empty path.
            out["origin"] = {name: getattr(self.origin, name) for name in _ORIGIN}
        return out


_NAMES = tuple(f.name for f in fields(Head))
_DEFAULTS = tuple(f.default for f in fields(Head))
_values = attrgetter(*_NAMES)
_ORIGIN = tuple(f.name for f in fields(Origin))
HEAD_FIELDS: Final = frozenset(_NAMES)
