"""Which tool calls show, and which result belongs to which call.

Call ids are unique only inside their owner, so a result message that names its owner is paired
there and nowhere else. The others are matched as providers expect them (each result directly
after its assistant message, in call order), by the rule that Tau repairs histories with:

1. number the calls in order; the k-th call of the message at row i expects its result at row i+k
   of those that show;
2. a call whose expected row is a result with its id reserves that result;
3. each remaining call takes an unused result of its id: one after it before one in front of it,
   a real one before an interruption, the first before the later;
4. a call left with an interruption takes an unused real result of its id, wherever it stands.

Calls of struck messages, and calls that a revision dropped, take part as dead calls: they absorb
their results, so that these neither show nor fall to somebody else's call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .heads import FINAL_RANK, FINAL_STATUSES, PENDING_RANK
from .kernel import State
from .nodes import MessageNode, MessageState, Version

Owned = tuple[str, str]
"""(message_id, call_id): what identifies a call."""

MESSAGE_RESULT: Final = "message"
FACT_RESULT: Final = "fact"

NEVER_CALLED: Final = "never_called"
DUPLICATE: Final = "duplicate"


class PairRow:
    """One message on the path, as the pairing sees it.

    `winner` is the version that shows, `live` its calls, `dead` those that it has no more.
    """

    __slots__ = ("_state", "dead", "live", "node", "winner")

    def __init__(
        self, node: MessageNode, state: MessageState | None, winner: Version | None
    ) -> None:
        self.node = node
        self._state = state
        self.winner = winner
        self.live: tuple[str, ...] = ()
        self.dead: tuple[str, ...] = ()

    @property
    def state(self) -> MessageState:
        """What the message's versions amount to; made when it is asked for, where its node alone
        says it."""
        if self._state is None:
            self._state = MessageState.of(self.node)
        return self._state


@dataclass(frozen=True, slots=True)
class Result:
    """Where a call's result stands: a message on the path (its id), or a fact (its seq)."""

    kind: str
    message_id: str | None = None
    seq: int = 0


@dataclass(slots=True)
class Pairing:
    """The outcome: results of live calls, result messages to hide, and the ones left over."""

    results: dict[Owned, Result] = field(default_factory=dict)
    owner_of: dict[str, Owned] = field(default_factory=dict)
    """Result message id to the live call that it answers."""
    hidden: set[str] = field(default_factory=set)
    left_over: dict[str, str] = field(default_factory=dict)


def shown_calls(
    state: State, message_id: str, winner: Version, held: Sequence[str], include_pending: bool
) -> tuple[str, ...]:
    """The calls of a shown message: what its winning version holds, then recorded facts.

    A fact of a call that an earlier final version held does not bring the call back.
    """
    least = PENDING_RANK if include_pending else FINAL_RANK
    calls = dict.fromkeys(winner.call_ids)
    if winner.role == "assistant":
        barred = set(held)
        for call_id in state.fact_call_ids(message_id):
            fact = state.facts.get((message_id, call_id))
            if fact is not None and fact.call_rank() >= least and call_id not in barred:
                calls.setdefault(call_id)
    return tuple(calls)


def pair_row(state: State, node: MessageNode, include_pending: bool) -> PairRow:
    """What one message on the path brings to the pairing."""
    message = state.messages.get(node.message_id)
    if message is None and node.status in FINAL_STATUSES:
        # Nearly every message: one final version, which its node holds.
        plain = PairRow(node, None, node)
        if node.role == "assistant":
            plain.live = node.call_ids
            if state.fact_chains.get(node.message_id) is not None or _repeats(node.call_ids):
                plain.live = shown_calls(
                    state, node.message_id, node, node.call_ids, include_pending
                )
        return plain
    message = message or MessageState.of(node)
    winner = message.winner(include_pending)
    row = PairRow(node, message, winner)
    if winner is not None and winner.role == "assistant":
        row.live = shown_calls(state, node.message_id, winner, message.held, include_pending)
    known = list(message.held)
    if message.struck:
        known = [*message.latest.call_ids, *known, *state.fact_call_ids(node.message_id)]
        if message.latest.role != "assistant":
            known = []
    live = set(row.live)
    row.dead = tuple(call_id for call_id in dict.fromkeys(known) if call_id not in live)
    return row


def _repeats(call_ids: tuple[str, ...]) -> bool:
    return len(call_ids) > 1 and len(set(call_ids)) < len(call_ids)


class Unused:
    """The unused results of one call id, by row. Calls ask in rising order of their rows."""

    def __init__(self) -> None:
        self.real: list[int] = []
        self.interruptions: list[int] = []
        self.after = {"real": 0, "interruptions": 0}
        self.first = {"real": 0, "interruptions": 0}

    def take(self, row: int, used: set[int], real_only: bool = False) -> int | None:
        kinds = ("real",) if real_only else ("real", "interruptions")
        if not real_only:
            for kind in kinds:
                found = self._next(kind, self.after, row, used)
                if found is not None:
                    return found
        for kind in kinds:
            found = self._next(kind, self.first, -1, used)
            if found is not None:
                return found
        return None

    def _next(self, kind: str, at: dict[str, int], row: int, used: set[int]) -> int | None:
        rows: list[int] = getattr(self, kind)
        i = at[kind]
        while i < len(rows) and (rows[i] <= row or rows[i] in used):
            i += 1
        at[kind] = i
        return rows[i] if i < len(rows) else None


def pair(state: State, rows: Sequence[PairRow], include_pending: bool = False) -> Pairing:
    """Pair the results on a path with the calls on it. Linear in rows and calls."""
    pairing = Pairing()
    live = {(row.node.message_id, c) for row in rows for c in row.live}
    interrupted: dict[Owned, str] = {}
    struck: set[Owned] = set()
    by_owner = _named(state, rows, live, pairing, interrupted, struck)
    open_calls = [
        (i, k, (row.node.message_id, call_id))
        for i, row in enumerate(rows)
        for k, call_id in enumerate((*row.live, *row.dead), 1)
        if (row.node.message_id, call_id) not in by_owner
    ]
    _unnamed(rows, open_calls, live, pairing, interrupted, struck)
    _finish(state, rows, live, pairing, interrupted, struck, include_pending)
    return pairing


def _results(rows: Sequence[PairRow], named: bool) -> Iterable[tuple[int, PairRow, Version]]:
    """Result messages that show or were struck out, with the version that speaks for them."""
    for i, row in enumerate(rows):
        version = row.winner or (row.state.latest if row.state.struck else None)
        if version is None or version.role != "tool_result" or not version.call_ids:
            continue
        if (version.owner is not None) == named:
            yield i, row, version


def _named(
    state: State,
    rows: Sequence[PairRow],
    live: set[Owned],
    pairing: Pairing,
    interrupted: dict[Owned, str],
    struck: set[Owned],
) -> set[Owned]:
    """Results that name their owner. Answers with the calls that a real one settles, be
    they struck or dead: no other result is theirs."""
    settled: set[Owned] = set()
    closed: set[Owned] = set()
    gone: dict[str, set[str] | None] = {}
    for _, row, version in _results(rows, named=True):
        owned = (version.owner or "", version.call_ids[0])
        mid = row.node.message_id
        if row.winner is None:
            struck.add(owned)
            if not version.interruption:
                closed.add(owned)
        elif owned not in live:
            if owned[0] not in gone:
                gone[owned[0]] = _gone_calls(state.message(owned[0]))
            lost = gone[owned[0]]
            if lost is None or owned[1] in lost:
                pairing.hidden.add(mid)
                if not version.interruption:
                    closed.add(owned)
            else:
                pairing.left_over[mid] = NEVER_CALLED
        elif owned in settled:
            pairing.left_over[mid] = DUPLICATE
        elif version.interruption:
            if owned in interrupted:
                pairing.left_over[mid] = DUPLICATE
            interrupted.setdefault(owned, mid)
        else:
            settled.add(owned)
            _answer(pairing, owned, mid)
    return settled | closed


def _gone_calls(owner: MessageState | None) -> set[str] | None:
    """The calls that an owner has no more, since it was revised without them; None: all of
    them, since it is struck. One that merely stands on another branch has its calls still."""
    if owner is None:
        return set()
    if owner.struck:
        return None
    return set() if owner.final is None else set(owner.held) - set(owner.final.call_ids)


def _answer(pairing: Pairing, owned: Owned, message_id: str) -> None:
    pairing.results[owned] = Result(MESSAGE_RESULT, message_id)
    pairing.owner_of[message_id] = owned


def _unnamed(
    rows: Sequence[PairRow],
    open_calls: list[tuple[int, int, Owned]],
    live: set[Owned],
    pairing: Pairing,
    interrupted: dict[Owned, str],
    struck: set[Owned],
) -> None:
    candidates: dict[str, Unused] = {}
    struck_rows: dict[str, Unused] = {}
    at: dict[int, Version] = {}
    for i, row, version in _results(rows, named=False):
        by_id = candidates if row.winner is not None else struck_rows
        unused = by_id.setdefault(version.call_ids[0], Unused())
        (unused.interruptions if version.interruption else unused.real).append(i)
        if row.winner is not None:
            at[i] = version
    used: set[int] = set()
    chosen: dict[Owned, int] = {}
    following = _following(rows)
    for i, k, owned in open_calls:
        row_after = following(i, k)
        expected = at.get(row_after)
        if expected is not None and expected.call_ids[0] == owned[1] and row_after not in used:
            used.add(row_after)
            chosen[owned] = row_after
    for i, _, owned in open_calls:
        if owned not in chosen and owned[1] in candidates:
            found = candidates[owned[1]].take(i, used)
            if found is not None:
                used.add(found)
                chosen[owned] = found
    for _, _, owned in open_calls:
        held = chosen.get(owned)
        if held is not None and at[held].interruption:
            found = candidates[owned[1]].take(-1, used, real_only=True)
            if found is not None:
                used.discard(held)
                used.add(found)
                chosen[owned] = found
    _settle(rows, at, used, chosen, live, pairing, interrupted)
    for i, _, owned in open_calls:
        gone = struck_rows.get(owned[1]) if owned not in chosen else None
        found = None if gone is None else gone.take(i, used)
        if found is not None:
            used.add(found)
            struck.add(owned)


def _following(rows: Sequence[PairRow]) -> Callable[[int, int], int]:
    """(i, k) -> index of the k-th row after row i among those that show; -1: there is none.

    Rows that do not show are no rows to a provider, so they shift nothing.
    """
    showing = [i for i, row in enumerate(rows) if row.winner is not None]
    before = [0]  # how many show up to and with each row
    for row in rows:
        before.append(before[-1] + (row.winner is not None))

    def following(i: int, k: int) -> int:
        n = before[i + 1] + k - 1
        return showing[n] if n < len(showing) else -1

    return following


def _settle(
    rows: Sequence[PairRow],
    at: dict[int, Version],
    used: set[int],
    chosen: dict[Owned, int],
    live: set[Owned],
    pairing: Pairing,
    interrupted: dict[Owned, str],
) -> None:
    for owned, row in chosen.items():
        mid = rows[row].node.message_id
        if owned not in live:
            pairing.hidden.add(mid)
        elif not at[row].interruption:
            _answer(pairing, owned, mid)
        elif owned in interrupted:
            pairing.left_over[mid] = DUPLICATE
        else:
            interrupted[owned] = mid
    called = {call_id for row in rows for call_id in (*row.live, *row.dead)}
    for row, version in at.items():
        if row not in used:
            known = version.call_ids[0] in called
            pairing.left_over[rows[row].node.message_id] = DUPLICATE if known else NEVER_CALLED


def _finish(
    state: State,
    rows: Sequence[PairRow],
    live: set[Owned],
    pairing: Pairing,
    interrupted: dict[Owned, str],
    struck: set[Owned],
    include_pending: bool,
) -> None:
    """Calls without a real result message: the newest fact, else the interruption.

    A call whose result message was struck out has no result, whatever facts there are.
    """
    least = PENDING_RANK if include_pending else FINAL_RANK
    for owned in live:
        if owned in pairing.results:
            if owned in interrupted:
                pairing.left_over[interrupted[owned]] = DUPLICATE
            continue
        fact = state.facts.get(owned)
        if owned in struck:
            if owned in interrupted:
                _answer(pairing, owned, interrupted[owned])
        elif fact is not None and fact.result_seq and fact.result_rank() >= least:
            pairing.results[owned] = Result(FACT_RESULT, None, fact.result_seq)
            if owned in interrupted:
                pairing.left_over[interrupted[owned]] = DUPLICATE
        elif owned in interrupted:
            _answer(pairing, owned, interrupted[owned])
