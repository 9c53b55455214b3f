"""How the messages at the end of a path show: by numbers of events, bodies aside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tapefold.domain.calls import FACT_RESULT, Pairing, PairRow, pair, pair_row
from tapefold.domain.heads import PENDING_RANK
from tapefold.domain.kernel import State
from tapefold.domain.nodes import MessageNode, Version

SortKey = tuple[int | None, str | None]
"""(order number, message id) of the row that a row stays behind, itself where it has a number.
(None, None): no row with a number stands before it on the path; it comes first."""

FIRST: SortKey = (None, None)


class CallRow(NamedTuple):
    """A call that shows, and where its result stands.

    `fact_seq`: the event that recorded the call, 0 where the message's content holds it.
    `result`: `message`, `fact` or None; `result_seq` the event that holds it, `result_id` the
    result message.
    """

    call_id: str
    fact_seq: int
    result: str | None
    result_seq: int
    result_id: str | None
    status: str | None
    interruption: bool


class Shown(NamedTuple):
    """How one message on the path shows. `winner_seq` None: no version of it does."""

    message_id: str
    winner_seq: int | None
    is_shown: bool
    sort: SortKey
    calls: tuple[CallRow, ...]


def present(
    state: State,
    nodes: Iterable[MessageNode],
    *,
    include_pending: bool = False,
    behind: SortKey = FIRST,
) -> list[Shown]:
    """The rows of messages that end a path and pair by themselves.

    `behind`: the sort key of the row that shows before the first of them.
    """
    return _present(
        state, [pair_row(state, node, include_pending) for node in nodes], behind, include_pending
    )


def present_both(
    state: State, nodes: Sequence[MessageNode], behind: tuple[SortKey, SortKey]
) -> tuple[list[Shown], list[Shown]]:
    """The same without and with unfinished versions; one list where there are none.

    `behind`: the sort keys of the rows before, in the two cases.
    """
    rows = [pair_row(state, node, False) for node in nodes]
    final = _present(state, rows, behind[0], False)
    if behind[0] == behind[1] and not _any_unfinished(state, rows):
        return final, final
    return final, present(state, nodes, include_pending=True, behind=behind[1])


def _any_unfinished(state: State, rows: Sequence[PairRow]) -> bool:
    if any(row.winner is None and row.state.pending is not None for row in rows):
        return True
    if not state.fact_chains.top and not state.fact_chains.below:
        return False
    return any(
        PENDING_RANK in (fact.call_rank(), fact.result_rank())
        for row in rows
        for call_id in state.fact_call_ids(row.node.message_id)
        if (fact := state.facts.get((row.node.message_id, call_id))) is not None
    )


def _present(
    state: State, rows: list[PairRow], behind: SortKey, include_pending: bool
) -> list[Shown]:
    pairing = pair(state, rows, include_pending)
    hidden = pairing.hidden
    winners = {row.node.message_id: row.winner for row in rows}
    found = []
    sort = behind
    for row in rows:
        winner, mid = row.winner, row.node.message_id
        if winner is None or mid in hidden:
            seq = None if winner is None else winner.seq
            found.append(Shown(mid, seq, False, FIRST, ()))
            continue
        if winner.order_seq is not None:
            sort = (winner.order_seq, mid)
        calls = _calls(state, row, pairing, winners) if row.live else ()
        found.append(Shown(mid, winner.seq, True, sort, calls))
    return found


def _calls(
    state: State, row: PairRow, pairing: Pairing, winners: dict[str, Version | None]
) -> tuple[CallRow, ...]:
    return tuple(_call(state, row, call_id, pairing, winners) for call_id in row.live)


def _call(
    state: State,
    row: PairRow,
    call_id: str,
    pairing: Pairing,
    winners: dict[str, Version | None],
) -> CallRow:
    owned = (row.node.message_id, call_id)
    fact = state.facts.get(owned)
    in_content = row.winner is not None and call_id in row.winner.call_ids
    fact_seq = 0 if in_content or fact is None else fact.call_seq
    result = pairing.results.get(owned)
    if result is None:
        return CallRow(call_id, fact_seq, None, 0, None, "pending", False)
    if result.kind == FACT_RESULT:
        status = (fact.result_status if fact is not None else None) or "success"
        return CallRow(call_id, fact_seq, result.kind, result.seq, None, status, False)
    winner = winners[result.message_id or ""]
    assert winner is not None
    return CallRow(
        call_id,
        fact_seq,
        result.kind,
        winner.seq,
        result.message_id,
        "interrupted" if winner.interruption else None,
        winner.interruption,
    )


def sorted_rows(rows: Sequence[tuple[int, Shown]]) -> list[tuple[int, Shown]]:
    """(place, row) of rows that show, in the order in which they are read."""
    return sorted(
        ((place, row) for place, row in rows if row.is_shown),
        key=lambda one: (
            one[1].sort[0] is not None,
            one[1].sort[0] or 0,
            (one[1].sort[1] or "").encode("utf-8", "surrogatepass"),
            one[0],
        ),
    )
