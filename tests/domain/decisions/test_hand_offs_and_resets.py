"""Hand-offs rule the context as compactions do; a reset takes every ruling away."""

import pytest

from tapefold.domain.context import build_context
from tapefold.domain.errors import InvalidBoundary, InvalidValue
from tapefold.domain.view import build_view
from tapefold.testing import event, given, said


def talk():
    """u1 - a1 - u2 - a2."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .user("Glue?", id="u2")
        .assistant("Hide glue.", id="a2")
    )


def test_a_hand_off_keeps_nothing_unless_it_is_told_to():
    after = talk().when(lambda s: s.hand_off("Oak and hide glue", state={"next": "paint"}))
    after.then(
        event(
            "handoff_anchored",
            name="handoff/manual",
            summary="Oak and hide glue",
            state={"next": "paint"},
            first_kept=None,
            covered=("u1", "a1", "u2", "a2"),
            parent_id="a2",
            takes_leaf=True,
        )
    )
    assert said(after.context()) == ["handoff: Oak and hide glue"]


def test_a_hand_off_may_keep_what_follows_an_entry():
    after = talk().when(lambda s: s.hand_off("Oak", first_kept="u2"))
    assert said(after.context()) == ["handoff: Oak", "user: Glue?", "assistant: Hide glue."]


def test_a_hand_off_s_boundary_is_checked_and_moved_as_a_compaction_s_is():
    calling = talk().assistant("", id="a3", calls=["c"]).result("c", "ok", "a3", id="r")
    calling.when(lambda s: s.hand_off("Oak", first_kept="r")).then(
        event("handoff_anchored", first_kept="a3")
    ).then_outcome(warnings=["boundary_moved"])
    talk().compact("S", keep="u2").when(lambda s: s.hand_off("Oak", first_kept="u1")).then_raises(
        InvalidBoundary
    )


def test_a_hand_off_that_keeps_nothing_keeps_what_is_unfinished():
    """It once passed an open call: its result, when it came, had no call in the context."""
    calling = talk().assistant("", id="a3", calls=["c"])
    after = calling.when(lambda s: s.hand_off("Oak"))
    after.then(
        event("handoff_anchored", first_kept="a3", covered=("u1", "a1", "u2", "a2"))
    ).then_outcome(warnings=["boundary_moved"])
    answered = after.given.result("c", "ok", "a3", id="r").tape
    rows = said(build_context(build_view(answered.state(), answered.tapes)))
    assert rows[0] == "handoff: Oak"
    assert "tool_result: ok" in rows
    talk().draft("Well", id="d").when(lambda s: s.hand_off("Oak")).then(
        event("handoff_anchored", first_kept="d")
    )


def test_a_session_of_which_all_is_open_may_be_handed_on():
    given().draft("Well", id="d").when(lambda s: s.hand_off("Go on")).then(
        event("handoff_anchored", first_kept="d", covered=())
    )


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("manual", "handoff/manual"),
        ("night shift", "handoff/night shift"),
        ("handoff/x", "handoff/x"),
        ("auto_handoff/context_overflow", "auto_handoff/context_overflow"),
        ("", "handoff/manual"),
        ("  ", "handoff/manual"),
    ],
)
def test_a_hand_off_s_name_is_prefixed_once(name, stored):
    talk().when(lambda s: s.hand_off("Oak", name=name)).then(event("handoff_anchored", name=stored))


@pytest.mark.parametrize(
    "name", [7, None, "a\x1bb", "x" * 300, "handoff/" + "x" * 300, "handoff/\n"]
)
def test_a_hand_off_s_name_is_short_text(name):
    talk().when(lambda s: s.hand_off("Oak", name=name)).then_raises(InvalidValue, "name")


@pytest.mark.parametrize("summary", ["", " \n ", None, 7])
def test_a_hand_off_needs_a_summary_and_writes_nothing_without(summary):
    talk().when(lambda s: s.hand_off(summary)).then_raises(InvalidValue, "summary")


def test_a_session_may_be_handed_off_before_anything_is_said():
    after = given().when(lambda s: s.hand_off("Nothing yet"))
    assert said(after.context()) == ["handoff: Nothing yet"]


def test_a_reset_makes_the_context_whole_again():
    after = talk().compact("S", keep=None).when(lambda s: s.reset_summary(reason="wrong"))
    after.then(event("summary_reset", name="summary/reset", reason="wrong"))
    assert said(after.context()) == said(talk().tape.view())


def test_a_compaction_after_a_reset_rules_again():
    after = talk().compact("S").reset().when(lambda s: s.compact("T", first_kept="u2"))
    assert said(after.context())[0] == "summary: T"


def test_a_reset_on_another_branch_resets_nothing_here():
    after = talk().compact("S").when(lambda s: s.reset_summary(under="u1"))
    assert said(after.context()) == ["summary: S"]


# -- changes below the boundary ------------------------------------------------------------------


def summed():
    """u1 - a1 - u2 - a2 - compaction k that keeps from u2 on."""
    return talk().compact("Oak", id="k", keep="u2")


BELOW = {
    "retract": lambda s, **how: s.retract("a1", **how),
    "retract_from": lambda s, **how: s.retract_from("a1", **how),
    "revise": lambda s, **how: s.revise("a1", "Beech.", **how),
}


@pytest.mark.parametrize("change", BELOW.values(), ids=BELOW)
def test_a_change_below_the_boundary_resets_the_summary(change):
    after = summed().when(change)
    assert [e.head.kind for e in after.events][1:] == ["summary_reset"]
    after.then_outcome(warnings=["summary_reset"])
    assert all(not line.startswith("summary") for line in said(after.context()))


@pytest.mark.parametrize("change", BELOW.values(), ids=BELOW)
def test_the_summary_may_be_kept(change):
    after = summed().when(lambda s: change(s, keep_summary=True))
    assert len(after.events) == 1
    after.then_outcome(warnings=[])
    assert said(after.context())[0] == "summary: Oak"
    assert "stale_summary" in [w.code for w in after.context().warnings]


def test_the_reset_stands_at_the_leaf_with_the_change():
    summed().user("Paint?", id="u3").when(lambda s: s.retract("u1")).then(
        event("retracted", targets=("u1",)),
        event("summary_reset", parent_id="u3", takes_leaf=True),
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.retract("u2"),
        lambda s: s.retract("a2"),
        lambda s: s.revise("a2", "Bone glue."),
        lambda s: s.retract_from("u2"),
    ],
)
def test_a_change_of_what_is_kept_resets_nothing(change):
    after = summed().when(change)
    assert len(after.events) == 1
    after.then_outcome(warnings=[])


def test_a_change_where_no_summary_rules_resets_nothing():
    for calm in (talk(), summed().reset(), summed().move_leaf("a2")):
        assert len(calm.when(lambda s: s.retract("u1")).events) == 1


def test_a_change_on_another_branch_resets_nothing():
    aside = summed().assistant("Beech.", id="side", under="u1")
    assert len(aside.when(lambda s: s.retract("side")).events) == 1


def test_a_change_that_changes_nothing_resets_nothing():
    summed().when(lambda s: s.revise("a1", "Oak.")).then_nothing()
    summed().retract("a1").when(lambda s: s.retract("a1")).then_nothing()


def test_a_change_of_what_an_anchor_replaced_one_by_one_resets_it():
    listed = talk().compact("Oak", replaces=("u1", "u2"))
    assert len(listed.when(lambda s: s.retract("u2")).events) == 2
    assert len(listed.when(lambda s: s.retract("a1")).events) == 1


def test_one_of_several_struck_messages_below_the_boundary_is_enough():
    assert len(summed().when(lambda s: s.retract(["a2", "u1"])).events) == 2


def test_a_repeated_delivery_does_not_reset_twice():
    first = summed().when(lambda s: s.retract("u1", key="k"))
    assert len(first.events) == 2
    first.when(lambda s: s.retract("u1", key="k")).then_nothing()


def test_a_change_below_a_boundary_that_a_fork_inherits_resets_in_the_fork_alone():
    parent = summed().tape
    child = parent.fork("child")
    after = given(child).when(lambda s: s.retract("u1"))
    assert [e.head.kind for e in after.events] == ["retracted", "summary_reset"]
    assert said(parent.context())[0] == "summary: Oak"
