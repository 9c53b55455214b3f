"""What a writing command is about: the session, entries and messages that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.domain.kernel import State
    from tapefold.domain.nodes import AnyNode


class Named(NamedTuple):
    """A session, and its state as it was when its entries were looked up."""

    session_id: str
    state: State


def named_session(sessions: Sessions, reference: str) -> Named:
    """The session that a reference means. Raises what `find_session` raises."""
    from tapefold.finding import find_session

    session_id = find_session(sessions, reference)
    return Named(session_id, sessions.state(session_id))


def named_entry(sessions: Sessions, state: State, reference: str) -> AnyNode:
    """The entry that a reference means; of a mark, the entry that it stands for.

    Raises `WrongKind` for the root, and what `find_entry` raises.
    """
    from tapefold.domain.errors import WrongKind
    from tapefold.domain.tree import require_entry
    from tapefold.finding import find_entry

    found = find_entry(sessions, state, reference)
    if found is None:
        raise WrongKind(
            f"session {state.session_id!r}: {reference!r} is the root, before any entry; "
            "name an entry, as the tree shows it"
        )
    return require_entry(state, found)


def named_message(sessions: Sessions, state: State, reference: str) -> str:
    """The message id of the message that a reference means. Raises `WrongKind` for others."""
    from tapefold.domain.errors import WrongKind
    from tapefold.domain.nodes import MessageNode

    node = named_entry(sessions, state, reference)
    if not isinstance(node, MessageNode):
        kind = node.kind.replace("_", " ")
        raise WrongKind(
            f"session {state.session_id!r}: entry {node.entry_id!r} is no message but a {kind}; "
            "name a message, as the view shows it"
        )
    return node.message_id
