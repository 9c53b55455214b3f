"""Which results the file leaves out, and which recorded ones it has to write as messages.

A file has no facts beside the messages, and no struck calls that absorb their results. What a
path says of a call may differ from branch to branch; the first path that is looked at decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ...domain.calls import FACT_RESULT, Owned, pair, pair_row
from ...domain.kernel import State
from ...domain.nodes import AnyNode, MessageNode
from ...domain.tree import path

BUDGET: Final = 16
"""Most nodes that are walked for the branches, as a multiple of the session's."""


@dataclass
class Verdicts:
    """`hidden`: result messages to leave out (message ids). `facts`: calls whose result is
    written as a message, by the message that holds them: (call id, order number) in call order.
    `doubtful`: messages of which the branches say different things. `unchecked`: there were too
    many branches."""

    hidden: set[str] = field(default_factory=set)
    facts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    calls: dict[str, list[str]] = field(default_factory=dict)
    """Message id to the calls that are known only as facts."""
    doubtful: set[str] = field(default_factory=set)
    unchecked: bool = False


def verdicts(state: State, leaf: str | None, tips: Iterable[str]) -> Verdicts:
    """The verdicts of the leaf's path, then of the other branches'."""
    found = Verdicts()
    if not _is_needed(state):
        return found
    budget = BUDGET * len(state.entries) + 10_000
    shown: dict[str, bool] = {}
    results: dict[Owned, int | None] = {}
    for tip in _each_once(leaf, tips):
        nodes = path(state, tip)
        budget -= len(nodes)
        if budget < 0:
            found.unchecked = True
            break
        _look(state, nodes, found, shown, results)
    for (message_id, call_id), seq in results.items():
        if seq is not None:
            found.facts.setdefault(message_id, []).append((call_id, seq))
    return found


def _each_once(leaf: str | None, tips: Iterable[str]) -> Iterator[str | None]:
    yield leaf
    yield from (tip for tip in tips if tip != leaf)


def _is_needed(state: State) -> bool:
    """Whether anything but plain messages speaks of calls."""
    if state.facts:
        return True
    for message in state.messages.values():
        calls = message.final.call_ids if message.final is not None else ()
        if message.held and (message.struck or set(message.held) - set(calls)):
            return True
        if message.struck and message.latest.role == "tool_result":
            return True
        if message.struck and message.latest.call_ids:
            return True
    return False


def _look(
    state: State,
    nodes: list[AnyNode],
    found: Verdicts,
    shown: dict[str, bool],
    results: dict[Owned, int | None],
) -> None:
    rows = [pair_row(state, node, False) for node in nodes if isinstance(node, MessageNode)]
    pairing = pair(state, rows)
    for row in rows:
        message_id = row.node.message_id
        hidden = message_id in pairing.hidden
        if shown.setdefault(message_id, not hidden) == hidden:
            found.doubtful.add(message_id)
        elif hidden:
            found.hidden.add(message_id)
        if row.winner is None or not row.live:
            continue
        beside = [c for c in row.live if c not in row.winner.call_ids]
        if beside:
            found.calls.setdefault(message_id, beside)
        for call_id in row.live:
            owned = (message_id, call_id)
            result = pairing.results.get(owned)
            seq = result.seq if result is not None and result.kind == FACT_RESULT else None
            if results.setdefault(owned, seq) != seq:
                # A longer path may have the message that a shorter one has not yet.
                found.doubtful.add(message_id)
