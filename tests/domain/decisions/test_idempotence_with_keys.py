"""A provenance key names one delivery: again it changes nothing, for another it is a conflict."""

import pytest

from tapefold.domain.errors import InvalidValue, ProvenanceConflict
from tapefold.domain.tree import LEAF
from tapefold.testing import given

SAID = [
    pytest.param(lambda s, k: s.finalize("user", "Wood?", key=k), id="finalize"),
    pytest.param(lambda s, k: s.draft("assistant", "Oa", key=k), id="draft"),
    pytest.param(lambda s, k: s.revise("a1", "Beech.", key=k), id="revise"),
    pytest.param(lambda s, k: s.retract("a1", key=k), id="retract"),
    pytest.param(lambda s, k: s.restore("gone", key=k), id="restore"),
    pytest.param(lambda s, k: s.record_call("a1", "c", "saw", {"mm": 12}, key=k), id="call fact"),
    pytest.param(lambda s, k: s.record_result("a1", "c", "sawn", key=k), id="result fact"),
    pytest.param(lambda s, k: s.compact("S", first_kept="a1", key=k), id="compact"),
    pytest.param(lambda s, k: s.hand_off("S", key=k), id="hand off"),
    pytest.param(lambda s, k: s.reset_summary(key=k), id="reset"),
    pytest.param(lambda s, k: s.summarize_branch("a1", "S", under="u1", key=k), id="branch"),
    pytest.param(lambda s, k: s.edit_context("u1", "Which?", key=k), id="edit"),
    pytest.param(lambda s, k: s.move_leaf("u1", key=k), id="leaf"),
    pytest.param(lambda s, k: s.move_leaf_before("u1", key=k), id="leaf before"),
    pytest.param(lambda s, k: s.label("u1", "start", key=k), id="label"),
    pytest.param(lambda s, k: s.set_title("Box", key=k), id="title"),
    pytest.param(lambda s, k: s.set_info(directory="/box", key=k), id="info"),
    pytest.param(lambda s, k: s.set_model("oak-2", "forest", key=k), id="model"),
    pytest.param(lambda s, k: s.set_thinking_level("high", key=k), id="thinking"),
    pytest.param(lambda s, k: s.record_custom("x", {"n": 1}, key=k), id="custom"),
    pytest.param(lambda s, k: s.record_usage({"input": 1}, key=k), id="usage"),
]


def talk():
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1", calls=["c"])
        .result("c", "sawn", "a1")
        .user("Glue?", id="u2")
        .user("A slip", id="gone")
        .retract("gone")
    )


@pytest.mark.parametrize("deliver", SAID)
def test_the_same_delivery_again_writes_nothing_and_gets_the_first_answer(deliver):
    first = talk().when(lambda s: deliver(s, "k"))
    assert first.outcome.changed
    again = first.when(lambda s: deliver(s, "k")).then_nothing()
    again.then_outcome(
        changed=False,
        session_id="s",
        position=first.outcome.position,
        entry_id=first.outcome.entry_id,
        message_id=first.outcome.message_id,
        hidden=first.outcome.hidden,
        text=first.outcome.text,
    )


@pytest.mark.parametrize("deliver", [one for one in SAID if one.id not in ("restore", "compact")])
def test_the_same_under_a_key_of_its_own_is_another_delivery(deliver):
    first = talk().when(lambda s: deliver(s, "k"))
    second = first.when(lambda s: deliver(s, "k2"))
    assert second.outcome.changed
    assert second.events[0].head.key == "k2"


@pytest.mark.parametrize("deliver", SAID)
def test_one_key_for_two_kinds_of_delivery_is_a_conflict(deliver):
    first = talk().when(lambda s: s.finalize("user", "Something else", key="k"))
    first.when(lambda s: deliver(s, "k")).then_raises(ProvenanceConflict, "'k'")


OTHERWISE = [
    pytest.param(
        lambda s: s.finalize("user", "Wood?", key="k"),
        lambda s: s.finalize("user", "Paint?", key="k"),
        id="content",
    ),
    pytest.param(
        lambda s: s.finalize("user", "Wood?", key="k"),
        lambda s: s.finalize("custom", "Wood?", key="k"),
        id="role",
    ),
    pytest.param(
        lambda s: s.finalize("user", "Wood?", key="k"),
        lambda s: s.finalize("user", "Wood?", status="error", key="k"),
        id="status",
    ),
    pytest.param(
        lambda s: s.finalize("user", "Wood?", message_id="m", key="k"),
        lambda s: s.finalize("user", "Wood?", message_id="n", key="k"),
        id="message id",
    ),
    pytest.param(
        lambda s: s.finalize("user", "Wood?", under="u1", key="k"),
        lambda s: s.finalize("user", "Wood?", under=None, key="k"),
        id="place",
    ),
    pytest.param(
        lambda s: s.finalize("user", "Wood?", order_seq=3, key="k"),
        lambda s: s.finalize("user", "Wood?", order_seq=4, key="k"),
        id="order number",
    ),
    pytest.param(
        lambda s: s.draft("assistant", "Oak", key="k"),
        lambda s: s.finalize("assistant", "Oak", key="k"),
        id="event type",
    ),
    pytest.param(
        lambda s: s.record_result("a1", "c", "sawn", key="k"),
        lambda s: s.record_result("a1", "d", "sawn", key="k"),
        id="call",
    ),
    pytest.param(
        lambda s: s.record_result("a1", "c", "sawn", key="k"),
        lambda s: s.record_result("a1", "c", "sawn", status="error", key="k"),
        id="fact status",
    ),
    pytest.param(
        lambda s: s.label("u1", "start", key="k"),
        lambda s: s.label("u2", "start", key="k"),
        id="label's target",
    ),
    pytest.param(
        lambda s: s.retract("u1", key="k"),
        lambda s: s.retract(["u1", "u2"], key="k"),
        id="struck messages",
    ),
    pytest.param(
        lambda s: s.move_leaf("u1", key="k"), lambda s: s.move_leaf(None, key="k"), id="leaf"
    ),
    pytest.param(
        lambda s: s.compact("S", first_kept="u2", key="k"),
        lambda s: s.compact("S", first_kept=None, key="k"),
        id="boundary",
    ),
    pytest.param(
        lambda s: s.edit_context("u1", None, key="k"),
        lambda s: s.edit_context("u1", "Wood.", key="k"),
        id="edit",
    ),
]


PLACED = {
    "draft": lambda s, **how: s.draft("assistant", "Oak", **how),
    "compact": lambda s, **how: s.compact("S", first_kept="a1", **how),
    "hand off": lambda s, **how: s.hand_off("S", **how),
    "reset": lambda s, **how: s.reset_summary(**how),
    "branch": lambda s, **how: s.summarize_branch("u2", "S", **how),
    "edit": lambda s, **how: s.edit_context("u1", None, **how),
    "model": lambda s, **how: s.set_model("oak-2", **how),
    "thinking": lambda s, **how: s.set_thinking_level("high", **how),
    "custom": lambda s, **how: s.record_custom("x", **how),
}


@pytest.mark.parametrize("make", PLACED.values(), ids=PLACED)
def test_one_key_for_the_same_at_another_place_is_a_conflict(make):
    for first, other in ((LEAF, "u2"), ("u2", "gone"), ("u2", LEAF)):
        made = talk().when(lambda s, at=first: make(s, under=at, key="k"))
        made.when(lambda s, at=other: make(s, under=at, key="k")).then_raises(ProvenanceConflict)
        made.when(lambda s, at=first: make(s, under=at, key="k")).then_nothing()


@pytest.mark.parametrize(("first", "other"), OTHERWISE)
def test_one_key_for_another_delivery_is_a_conflict_that_writes_nothing(first, other):
    talk().when(first).when(other).then_raises(ProvenanceConflict)


def test_a_conflict_shows_both_deliveries():
    after = talk().when(lambda s: s.finalize("user", "Paint?", key="k"))
    position = after.outcome.position
    error = after.when(lambda s: s.finalize("user", "Varnish?", key="k")).error
    assert isinstance(error, ProvenanceConflict)
    assert error.position == position
    assert error.first != error.second
    for part in ("'s'", "'k'", f"position {position}", error.first, error.second):
        assert part in str(error)


def test_a_repeated_fact_of_a_struck_message_does_not_show_either():
    struck = talk().when(lambda s: s.retract("a1"))
    first = struck.when(lambda s: s.record_result("a1", "c", "sawn", key="k"))
    first.then_outcome(hidden=True, message_id="a1")
    first.when(lambda s: s.record_result("a1", "c", "sawn", key="k")).then_outcome(
        hidden=True, message_id="a1", position=first.outcome.position
    )


def test_circumstances_are_no_part_of_a_delivery():
    """A retry has another time, perhaps another actor, trace and source; it is the same."""
    first = talk().when(
        lambda s: s.finalize("user", "Paint?", key="k", timestamp="t1", actor="ada", source="live")
    )
    first.when(
        lambda s: s.finalize(
            "user", "Paint?", key="k", timestamp="t2", actor="bea", source="backfill", trace_id="x"
        )
    ).then_nothing()


def test_a_repeated_delivery_tells_that_its_message_does_not_show():
    first = talk().when(lambda s: s.finalize("user", "Paint?", message_id="p", key="k"))
    struck = first.when(lambda s: s.retract("p"))
    struck.when(lambda s: s.finalize("user", "Paint?", message_id="p", key="k")).then_outcome(
        changed=False, hidden=True, position=first.outcome.position, entry_id="p"
    )


def test_the_first_answer_stands_although_the_message_was_revised():
    first = talk().when(lambda s: s.finalize("user", "Paint?", message_id="p", key="k"))
    revised = first.when(lambda s: s.revise("p", "Varnish?"))
    again = revised.when(lambda s: s.finalize("user", "Paint?", message_id="p", key="k"))
    again.then_nothing().then_outcome(position=first.outcome.position, hidden=False)


def test_a_b_a_under_keys_of_their_own_are_three_versions():
    talked = talk()
    for text, key in (("Beech.", "1"), ("Oak.", "2"), ("Beech.", "3")):
        talked = talked.when(lambda s, t=text, k=key: s.revise("a1", t, key=k)).given
    assert [e.head.kind for e in talked.tape.events[-3:]] == ["message_revised"] * 3


@pytest.mark.parametrize("key", ["", 7, b"k"])
def test_a_key_is_text_and_not_empty(key):
    talk().when(lambda s: s.finalize("user", "Paint?", key=key)).then_raises(InvalidValue, "key")


def test_no_key_is_no_key():
    first = talk().when(lambda s: s.finalize("user", "Paint?", key=None))
    assert first.when(lambda s: s.finalize("user", "Paint?", key=None)).outcome.changed
