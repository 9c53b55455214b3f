"""Results that name no owner are paired as providers expect them: checked against a reference.

The reference is the rule written down step by step, with no thought of speed. Rows are the
messages that show, in the order of the path:

1. the k-th call of the message at row i expects its result at row i+k;
2. a call whose expected row is a result with its id reserves that result, if none has yet;
3. each remaining call, in order, takes an unused result of its id: one after it before one in
   front of it, among these a real one before an interruption, the first before the later;
4. a call left with an interruption takes an unused real result of its id from anywhere;
5. what is unused belongs to no call.
"""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from tapefold import State
from tapefold.domain.calls import pair, pair_row
from tapefold.domain.heads import Head
from tapefold.domain.nodes import MessageNode
from tapefold.domain.tree import path
from tapefold.testing import Tape


@dataclass
class Row:
    message_id: str
    calls: list[str]
    answers: str | None
    interruption: bool


def rows_of(tape, view):
    """The messages that show, as the rule sees them."""
    heads = {event.head.message_id: event.head for event in tape.events}
    rows = []
    for item in view.items:
        if item.message is not None:
            head = heads[item.message.message_id]
            answers = head.call_ids[0] if head.role == "tool_result" else None
            calls = [call.call_id for call in item.message.calls]
            rows.append(Row(item.message.message_id, calls, answers, head.interruption))
    return rows


def reference(rows):
    """{(message_id, call_id): message_id of its result}."""
    calls = [(i, k, c) for i, row in enumerate(rows) for k, c in enumerate(row.calls, 1)]
    used: set[int] = set()
    chosen: dict[tuple[int, str], int] = {}

    def unused(call_id, real):
        return [
            i
            for i, row in enumerate(rows)
            if row.answers == call_id and i not in used and not (real and row.interruption)
        ]

    for i, k, call_id in calls:
        if i + k < len(rows) and rows[i + k].answers == call_id and i + k not in used:
            used.add(i + k)
            chosen[i, call_id] = i + k
    for i, _, call_id in calls:
        if (i, call_id) in chosen:
            continue
        behind = [at for at in unused(call_id, real=False) if at > i]
        candidates = behind or unused(call_id, real=False)
        real = [at for at in candidates if not rows[at].interruption]
        if candidates:
            chosen[i, call_id] = (real or candidates)[0]
            used.add(chosen[i, call_id])
    for i, _, call_id in calls:
        held = chosen.get((i, call_id))
        if held is not None and rows[held].interruption:
            real = unused(call_id, real=True)
            if real:
                used.remove(held)
                used.add(real[0])
                chosen[i, call_id] = real[0]
    return {(rows[i].message_id, c): rows[at].message_id for (i, c), at in chosen.items()}


def paired(view):
    """The same, as the view has it."""
    return {
        (message.message_id, call.call_id): call.result.message_id
        for message in view.messages
        for call in message.calls
        if call.result is not None
    }


CALLS = st.sampled_from([("c1",), ("c2",), ("c1", "c2"), ("c2", "c1")])
ROWS = st.lists(
    st.one_of(
        st.tuples(st.just("calls"), CALLS),
        st.tuples(st.sampled_from(["result", "interruption"]), st.sampled_from(["c1", "c2"])),
        st.tuples(st.sampled_from(["user", "struck", "draft"]), st.none()),
    ),
    max_size=14,
)


@given(ROWS)
def test_unnamed_results_are_paired_as_the_reference_pairs_them(rows):
    """Struck messages and drafts stand between: they do not show and must shift nothing."""
    tape = Tape()
    for kind, what in rows:
        if kind == "calls":
            tape.assistant(calls=what)
        elif kind in ("user", "struck"):
            entry = tape.user("hi")
            if kind == "struck":
                tape.retract(entry)
        elif kind == "draft":
            tape.draft("...")
        else:
            tape.result(what, interruption=kind == "interruption")
    view = tape.view()
    assert paired(view) == reference(rows_of(tape, view))


def test_a_struck_message_between_a_call_and_its_result_shifts_nothing():
    """An earlier call of the same id must not take the result over it."""
    tape = Tape()
    tape.assistant("tried", calls=["c1"], id="first")
    tape.assistant("tried again", calls=["c1"], id="second")
    tape.user("wait", id="wait")
    tape.result("c1", "done", id="result")
    tape.retract("wait")
    assert paired(tape.view()) == {("second", "c1"): "result"}


def test_a_reused_id_stays_with_its_own_turn():
    tape = Tape()
    for turn in range(3):
        tape.assistant("", calls=["c1"], id=f"a{turn}")
        tape.result("c1", "", id=f"r{turn}")
    assert paired(tape.view()) == {(f"a{n}", "c1"): f"r{n}" for n in range(3)}


def test_results_in_another_order_than_the_calls_are_found():
    tape = Tape()
    tape.assistant("", calls=["c1", "c2"], id="a")
    tape.result("c2", id="r2")
    tape.result("c1", id="r1")
    assert paired(tape.view()) == {("a", "c1"): "r1", ("a", "c2"): "r2"}


def test_a_result_in_front_of_its_call_is_taken_when_none_follows():
    tape = Tape()
    tape.result("c1", id="r")
    tape.assistant("", calls=["c1"], id="a")
    assert paired(tape.view()) == {("a", "c1"): "r"}


def test_a_real_result_that_comes_late_takes_the_place_of_the_interruption():
    tape = Tape()
    tape.assistant("", calls=["c1"], id="a")
    tape.result("c1", "stopped", interruption=True)
    tape.user("go on")
    tape.result("c1", "done after all", id="late")
    assert paired(tape.view()) == {("a", "c1"): "late"}


def test_twenty_thousand_calls_of_one_id_are_paired_in_linear_work():
    """Each result is looked at a few times, not once for every call. All results come last, so
    that every call looks beyond its own place."""
    n = 20_000
    state = State("s")
    state.apply_head(1, Head("session_started"))
    for i in range(2 * n):
        parent = f"e{i - 1}" if i else None
        head = Head(
            "message_finalized",
            entry_id=f"e{i}",
            parent_id=parent,
            takes_leaf=True,
            message_id=f"e{i}",
            role="assistant" if i < n else "tool_result",
            status="sent",
            call_ids=("c",),
        )
        state.apply_head(i + 2, head)
    nodes = path(state, state.leaf)
    rows = [pair_row(state, node, False) for node in nodes if isinstance(node, MessageNode)]
    found = pair(state, rows).results
    assert len(found) == n
    assert len({result.message_id for result in found.values()}) == n
