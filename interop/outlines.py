"""What is known of a record before it is an event: its kind, its outline, its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..domain.events import Event
from ..domain.heads import Timestamp
from .messages import Taken

ROW: Final = "row"
"""An entry that makes a row: message, anchor, branch summary. It takes the leaf."""

QUIET: Final = "quiet"
"""An entry that makes none: settings, edits, custom data, what we cannot read."""

MARK: Final = "mark"
"""A mark: a node that is only walked through."""

LOOSE: Final = "loose"
"""No node of the tree at all."""

UNKNOWN_TYPE: Final = "unknown_type"
NO_OBJECT: Final = "no_object"
MISFIT: Final = "misfit"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, and of the body that takes it when it has this type.

    `type` None: any JSON value but null.
    """

    key: str
    name: str
    type: type | None = str


@dataclass(frozen=True, slots=True)
class Kind:
    """What records of one type become."""

    event: type[Event]
    node: str
    fields: tuple[Field, ...] = ()


@dataclass(slots=True)
class Outline:
    """What has to be known of a record before it can be placed.

    `kind` is None for a record that becomes foreign; `problem` says why. `older`: how the record
    of the file differs from this one, which was made of it.
    """

    record: Any
    node: str
    kind: Kind | None = None
    type: str = ""
    own_id: Any = None
    parent: Any = None
    taken: Taken | None = None
    problem: str | None = None
    older: dict[str, Any] | None = None


@dataclass(slots=True)
class Place:
    """Where a record goes: what the importer found out about it beside its content.

    `target` is the label's, of a record that does not name it. `first_kept` is a compaction's
    boundary as an id of ours; `tail` says that it, or the messages in `kept`, come from the
    messages that the record itself carries. `raw` is the text of a record that was not read
    whole, `why` the codes that say so.
    """

    line: int
    record: str
    timestamp: Timestamp
    entry_id: str | None = None
    parent_id: str | None = None
    takes_leaf: bool = False
    stands_for: str | None = None
    owner: str | None = None
    unknown_parent: bool = False
    target: str | None = None
    first_kept: str | None = None
    kept: Any = None
    tail: bool = False
    raw: bytes | None = None
    why: tuple[str, ...] = ()
