"""What a fork inherits, read from its parent's tape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tapefold.domain.content import content_json
from tapefold.domain.heads import PENDING, Origin
from tapefold.domain.kernel import State
from tapefold.domain.nodes import MODEL, THINKING, MessageNode
from tapefold.domain.tree import entry_of, path
from tapefold.domain.view import Call, Message, View, build_view

from ..bodies import load_fork_basis
from ..log import Log
from ..values import key_of, text_of
from .presenting import SortKey, present

if TYPE_CHECKING:
    from .reading import ReadMessage


class InheritedRow(NamedTuple):
    """A message that shows in the basis: where it sorts, its place on the path, and itself."""

    sort: SortKey
    place: int
    message: ReadMessage


class ModelAt(NamedTuple):
    """A place on the path that says which model is used; a message, or (None) a change of it."""

    place: int
    message_id: str | None
    model: str | None
    provider: str | None


@dataclass(frozen=True)
class Inherited:
    """The inherited part of a fork's view; of a session that is no fork, nothing."""

    rows: tuple[InheritedRow, ...] = ()
    path: frozenset[str] = frozenset()
    name: str | None = None
    directory: str | None = None
    models: tuple[ModelAt, ...] = ()
    thinking: tuple[int, str | None] | None = None
    labels: dict[str, str] = field(default_factory=dict)
    basis: State | None = None

    def entry_of(self, entry_id: str | None) -> str | None:
        """The entry that an inherited mark stands for; any other id as it is."""
        node = None if self.basis is None or not entry_id else self.basis.entries.get(entry_id)
        return entry_id if node is None else entry_of(node)


def inherited_rows(
    log: Log,
    session_id: str,
    parent_id: str,
    position: int,
    joins_at: str | None,
    include_pending: bool,
) -> Inherited:
    """What `session_id` inherits of its parent, at the entry where its own path begins."""
    basis = load_fork_basis(log, session_id, Origin(parent_id, position, joins_at))
    view = build_view(basis, log.tapes, joins_at, include_pending)
    messages = {message.message_id: message for message in view.messages}
    nodes = path(basis, joins_at)
    found = [(place, n) for place, n in enumerate(nodes) if isinstance(n, MessageNode)]
    shown = present(basis, [node for _, node in found], include_pending=include_pending)
    rows = tuple(
        InheritedRow(one.sort, place, read_message(messages[one.message_id]))
        for (place, _), one in zip(found, shown, strict=True)
        if one.is_shown
    )
    directory = None
    if basis.info is not None:
        directory = log.event_at(*basis.locate(basis.info.seq)).body.get("directory")
    return Inherited(
        rows,
        frozenset(node.entry_id for node in nodes),
        view.name,
        directory,
        tuple(_models(view)),
        _thinking(view),
        view.labels,
        basis,
    )


def _models(view: View) -> Iterator[ModelAt]:
    for item in view.items:
        message = item.message
        if item.kind == MODEL and item.event is not None:
            body = item.event.body
            yield ModelAt(item.index, None, body.model, body.provider)
        elif message is not None and message.role == "assistant" and message.status != PENDING:
            body = message.body
            if body.model and body.model != "unknown":
                yield ModelAt(item.index, message.message_id, body.model, body.provider)


def _thinking(view: View) -> tuple[int, str | None] | None:
    for item in reversed(view.items):
        if item.kind == THINKING and item.event is not None:
            return item.index, item.event.body.level
    return None


def read_message(message: Message) -> ReadMessage:
    """A message of the kernel's view, as the read model gives it."""
    from .reading import ReadMessage

    return ReadMessage(
        message.message_id,
        message.entry_id,
        message.role,
        message.status,
        message.order_seq,
        message.session_id,
        message.position,
        message.timestamp,
        message.body.to_json(),
        tuple(_read_call(call) for call in message.calls),
    )


def _read_call(call: Call) -> Any:
    from .reading import ReadCall

    result = call.result
    if result is None:
        return ReadCall(
            key_of(call.call_id), text_of(call.name), call.arguments, call.in_content, call.status
        )
    is_fact = result.message_id is None
    return ReadCall(
        key_of(call.call_id),
        text_of(call.name),
        call.arguments,
        call.in_content,
        call.status,
        "fact" if is_fact else "message",
        result.session_id,
        result.position,
        result.message_id,
        result.entry_id,
        result.is_error,
        result.interruption,
        content_json(result.content) if is_fact else None,
    )
