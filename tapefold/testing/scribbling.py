"""Tapes from lists of small numbers: what the random tapes are made of.

A stroke is a verb and three numbers that choose among the ids there are. So every list of
strokes is a tape, a shorter list a shorter tape, and a failing example stays readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..domain.tree import LEAF, LeafRef
from .tape import Tape

CALL_IDS: Final = ("c1", "c2", "c3")
"""Few, so that messages use the same ids for their calls."""


class Stroke(NamedTuple):
    """One step: a verb of `VERBS`, and numbers from 0 on."""

    verb: str
    a: int = 0
    b: int = 0
    c: int = 0


@dataclass
class Hand:
    """A tape that is written, with the ids that later strokes may choose."""

    tape: Tape
    entries: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    callers: list[str] = field(default_factory=list)
    hostile: bool = False
    stands_for: dict[str, str] = field(default_factory=dict)
    """The entry that a mark with a node of its own stands for."""

    def child(self, tape: Tape) -> Hand:
        """The hand of a fork: it knows the ids that the fork inherits."""
        basis = tape.basis
        if basis is None:
            return Hand(tape, hostile=self.hostile)
        entries = [e for e in self.entries if e in basis.entries]
        messages = [m for m in self.messages if tape.role_of(m) is not None]
        callers = [m for m in self.callers if tape.role_of(m) is not None]
        return Hand(tape, entries, messages, callers, self.hostile, dict(self.stands_for))

    def under(self, n: int) -> LeafRef:
        """Mostly the leaf; sometimes any entry, or the root."""
        if n % 3 or not self.entries:
            return LEAF
        return None if n % 30 == 0 else pick(self.entries, n // 3)

    def place(self, n: int) -> dict[str, Any]:
        """Where an entry hangs. A hostile hand also names parents and ids that commands refuse."""
        fields: dict[str, Any] = {"under": self.under(n)}
        if self.hostile:
            strange = (f"e{self.tape.made + 1 + n % 5}", "nowhere", f"e{n % 7}")
            if n % 4 == 1:
                fields["parent_id"] = strange[n // 4 % 3]
            if n % 5 == 2:
                fields["takes_leaf"] = n % 2 == 0
            if n % 11 == 3 and self.entries:
                fields["id"] = pick(self.entries, n)
        return fields

    def status(self, n: int, *common: str) -> str:
        """One of a few statuses; a hostile hand also writes one that nobody knows."""
        return str(pick((*common, "lost") if self.hostile else common, n))


def pick(values: Sequence[Any], n: int) -> Any:
    """One of `values`, by a number of any size."""
    return values[n % len(values)]


Verb = Callable[[Hand, int, int, int], None]


def _user(hand: Hand, a: int, b: int, c: int) -> None:
    order = {"order_seq": b % 9} if c % 10 == 7 else {}
    _keep(hand, hand.tape.user(f"u{a}", **hand.place(b), **order))


def _assistant(hand: Hand, a: int, b: int, c: int) -> None:
    calls = (*CALL_IDS, *CALL_IDS)[a % 3 : a % 3 + c % 3]
    fields: dict[str, Any] = {"model": f"m{a % 3}"} if a % 2 else {}
    status = hand.status(c // 3, "sent", "sent", "error", "pending")
    entry = hand.tape.assistant(f"a{a}", calls=calls, status=status, **fields, **hand.place(b))
    hand.callers.append(entry)
    _keep(hand, entry)


def _result(hand: Hand, a: int, b: int, c: int) -> None:
    owner = pick(hand.callers, c) if hand.callers and c % 2 else None
    entry = hand.tape.result(
        pick(CALL_IDS, a), f"r{a}", owner, interruption=c % 5 == 4, **hand.place(b)
    )
    _keep(hand, entry)


def _version(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.messages:
        status = hand.status(b, "sent", "sent", "error", "pending")
        calls = CALL_IDS[: c % 3] if c % 4 else ()
        message_id = pick(hand.messages, a)
        role = hand.tape.role_of(message_id)
        fields: dict[str, Any] = {"calls": calls} if role == "assistant" else {}
        if c % 10 == 9:
            fields["order_seq"] = b % 9
        hand.tape.version(message_id, f"v{b}", status=status, revives=c % 3 == 0, **fields)


def _retract(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.messages:
        also = (pick(hand.messages, b),) if c % 4 == 0 else ()
        hand.tape.retract(pick(hand.messages, a), *also)


def _call_fact(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.callers:
        status = hand.status(c, "success", "pending", "error")
        hand.tape.call_fact(pick(hand.callers, a), pick(CALL_IDS, b), status=status)


def _result_fact(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.callers:
        status = hand.status(c, "success", "pending", "error")
        hand.tape.result_fact(pick(hand.callers, a), pick(CALL_IDS, b), f"f{c}", status=status)


def _compact(hand: Hand, a: int, b: int, c: int) -> None:
    own = f"e{hand.tape.made + 1}"
    keep = pick((None, own, "nowhere", *[pick(hand.entries, b)] * 4), a) if hand.entries else None
    fields: dict[str, Any] = {}
    if c % 6 == 4:
        fields["cumulative"] = True
    elif c % 6 == 5 and hand.entries:
        fields["replaces"] = (pick(hand.entries, b), pick(hand.entries, a))
    make = hand.tape.hand_off if c % 7 == 3 else hand.tape.compact
    hand.entries.append(make(f"s{a}", keep=keep, **fields, **hand.place(c)))


def _reset(hand: Hand, a: int, b: int, c: int) -> None:
    hand.entries.append(hand.tape.reset(**hand.place(b)))


def _branch_summary(hand: Hand, a: int, b: int, c: int) -> None:
    left = pick(hand.entries, a) if hand.entries else None
    hand.entries.append(hand.tape.branch_summary(left, f"b{a}", **hand.place(b)))


def _edit(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.entries:
        content = None if c % 2 else f"x{c}"
        hand.entries.append(hand.tape.edit(pick(hand.entries, a), content, **hand.place(b)))


def _move(hand: Hand, a: int, b: int, c: int) -> None:
    hand.tape.move_leaf(None if not hand.entries or c % 8 == 0 else pick(hand.entries, a))


def _label(hand: Hand, a: int, b: int, c: int) -> None:
    if hand.entries:
        hand.tape.label(pick(hand.entries, a), f"l{b}" if c % 3 else None)


def _title(hand: Hand, a: int, b: int, c: int) -> None:
    hand.tape.title(f"t{a}" if c % 4 else None)


def _model(hand: Hand, a: int, b: int, c: int) -> None:
    provider = f"p{c % 2}" if c % 3 else None
    hand.entries.append(hand.tape.model(f"m{a % 3}", provider, **hand.place(b)))


def _thinking(hand: Hand, a: int, b: int, c: int) -> None:
    hand.entries.append(hand.tape.thinking(pick(("low", "high", None), a), **hand.place(b)))


def _custom(hand: Hand, a: int, b: int, c: int) -> None:
    make = hand.tape.custom if c % 2 else hand.tape.foreign
    hand.entries.append(make(**hand.place(b)))


def _mark(hand: Hand, a: int, b: int, c: int) -> None:
    """A mark with a node of its own, as importers write it, or one of the events to come."""
    tape = hand.tape
    if c % 3 == 0 and hand.entries:
        target = pick(hand.entries, a)
        mark_id = tape.new_id()
        entry_id = hand.stands_for.get(target, target)
        tape.usage(a, entry_id=mark_id, parent_id=target, stands_for=entry_id)
        hand.entries.append(mark_id)
        hand.stands_for[mark_id] = entry_id
        return
    pick(
        (
            lambda: tape.usage(a),
            lambda: tape.info(directory=f"d{a}"),
            tape.foreign_mark,
            lambda: tape.merged("x"),
            lambda: tape.discarded("x"),
            lambda: tape.linked("x"),
            lambda: tape.backfilled(read=a),
            lambda: tape.context_assembled({"n": a}),
            lambda: tape.model_call(status="success"),
        ),
        a,
    )()


def _keep(hand: Hand, entry_id: str) -> None:
    hand.entries.append(entry_id)
    hand.messages.append(entry_id)


VERBS: Final[dict[str, Verb]] = {
    "user": _user,
    "assistant": _assistant,
    "result": _result,
    "version": _version,
    "retract": _retract,
    "call_fact": _call_fact,
    "result_fact": _result_fact,
    "compact": _compact,
    "reset": _reset,
    "branch_summary": _branch_summary,
    "edit": _edit,
    "move": _move,
    "label": _label,
    "title": _title,
    "model": _model,
    "thinking": _thinking,
    "custom": _custom,
    "mark": _mark,
}
"""What a stroke can do. `fork` and `turn` are added by `scribble`."""


def scribble(
    strokes: Iterable[Stroke],
    session_id: str = "s",
    *,
    hostile: bool = False,
    on: Tape | None = None,
) -> list[Tape]:
    """The tapes that strokes write: the first (`on`, if it is given), then its forks.

    `fork` makes a fork of the tape in hand and goes on there; `turn` goes on with another tape
    of the family, so that parents grow after their forks began.
    """
    hands = [Hand(Tape(session_id) if on is None else on, hostile=hostile)]
    hand = hands[0]
    for verb, a, b, c in strokes:
        if verb == "fork":
            at = None if c % 2 else 1 + a % hand.tape.position
            leaf: LeafRef = LEAF
            if at is None and b % 3 == 0 and hand.entries:
                entry_id = pick(hand.entries, b)
                leaf = hand.stands_for.get(entry_id, entry_id)
            elif not hostile:  # no command begins a fork at a mark
                last = hand.tape.leaf_at(hand.tape.position if at is None else at)
                leaf = None if last is None else hand.stands_for.get(last, last)
            hand = hand.child(hand.tape.fork(f"{session_id}{len(hands)}", at=at, leaf=leaf))
            hands.append(hand)
        elif verb == "turn":
            hand = pick(hands, a)
        else:
            VERBS[verb](hand, a, b, c)
    return [one.tape for one in hands]
