"""The straight way: messages of one final version, whose calls their own results answer.

Nearly every message is one, and shows by itself. A call and the results that name its message are
straight together or not at all, so that what is not can be paired without them.
"""

from __future__ import annotations

from typing import NamedTuple

from tapefold.domain.heads import FINAL_STATUSES
from tapefold.domain.nodes import MessageNode, Node

from .groups import ROLE
from .tracker import Tracker

Placed = tuple[int, MessageNode]

Answered = tuple[tuple[str, MessageNode | None], ...]
"""The calls of a message, each with the message that answers it."""


class Split(NamedTuple):
    """The end of a path: the straight messages with their calls, the other messages, and the
    nodes that are none."""

    straight: list[tuple[int, MessageNode, Answered]]
    others: list[Placed]
    entries: list[tuple[int, Node]]


def split(tracker: Tracker, begin: int) -> Split:
    """Part the nodes from a place on, whose messages pair by themselves. Inherited messages are
    never straight, and where there are order numbers none is."""
    state, ids = tracker.state, tracker.path.ids
    finder = _Finder(tracker)
    found = Split([], [], [])
    numbered = state.max_order_seq is not None
    add, leave = found.straight.append, found.others.append
    node_of, is_plain, answers = state.entries.get, finder.is_plain, finder.answers
    for place in range(begin, len(ids)):
        node = node_of(ids[place])
        if not isinstance(node, MessageNode):
            if node is not None:
                found.entries.append((place, node))
        elif numbered or not is_plain(node):
            leave((place, node))
        elif not node.call_ids:
            add((place, node, ()))
        elif node.role == "assistant":
            calls = finder.calls(place, node)
            if calls is None:
                leave((place, node))
            else:
                add((place, node, calls))
        elif node.role != ROLE or place in answers:
            add((place, node, ()))
        else:
            leave((place, node))
    return found


class _Finder:
    """Looks for the results of straight calls. `answers`: the places of those that were found."""

    def __init__(self, tracker: Tracker) -> None:
        state = tracker.state
        self._groups = tracker.groups
        self._ids = tracker.path.ids
        self._node_of = state.entries.get
        self._message_of = state.messages.get
        self._facts_of = state.fact_chains.get
        self._offset = state.offset
        self.answers: set[int] = set()

    def is_plain(self, node: MessageNode) -> bool:
        """Whether an own message has one final version, and no facts."""
        return (
            node.status in FINAL_STATUSES
            and node.born > self._offset
            and self._message_of(node.message_id) is None
            and self._facts_of(node.message_id) is None
        )

    def calls(self, place: int, node: MessageNode) -> Answered | None:
        """The calls of a plain message with their results; None: only the pairing knows."""
        call_ids, groups = node.call_ids, self._groups
        if groups.has_unowned and any(map(groups.is_unowned, call_ids)):
            return None
        named = groups.naming(node.message_id)
        if len(call_ids) == 1 == len(named):  # nearly every call
            result = self._result(place, named[0], node)
            if result is None:
                return None
            self.answers.add(named[0])
            return ((call_ids[0], result),)
        if len(set(call_ids)) < len(call_ids):
            return None
        results: dict[str, MessageNode] = {}
        for one in named:
            result = self._result(place, one, node)
            if result is None or result.call_ids[0] in results:
                return None
            results[result.call_ids[0]] = result
        self.answers.update(named)
        return tuple((call_id, results.get(call_id)) for call_id in call_ids)

    def _result(self, place: int, at: int, owner: MessageNode) -> MessageNode | None:
        """The message at a place, if it is a plain result of one of the owner's calls."""
        node = self._node_of(self._ids[at])
        if (
            isinstance(node, MessageNode)
            and at > place
            and node.role == ROLE
            and not node.interruption
            and node.owner == owner.message_id
            and node.call_ids[0] in owner.call_ids
            and self.is_plain(node)
        ):
            return node
        return None
