"""A summary is made from a snapshot; recorded later, it is refused when that has changed."""

import pytest

from tapefold.domain.errors import InvalidBoundary, InvalidValue, StaleSummary
from tapefold.testing import given


def talk():
    """u1 - a1 (calls c) - r - u2 - a2 - u3: six entries, at position 7."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("", id="a1", calls=["c"])
        .result("c", "Oak.", "a1", id="r")
        .user("Glue?", id="u2")
        .assistant("Hide glue.", id="a2")
        .user("Paint?", id="u3")
    )


def late(boundary="u2", expected=7):
    return lambda s: s.compact("So far.", first_kept=boundary, expected_position=expected)


def test_a_summary_of_the_present_is_accepted():
    assert talk().tape.position == 7
    talk().when(late()).then("compaction_anchored")


CHANGED = {
    "revised": lambda g: g.revise("u1", "Which wood?"),
    "struck out": lambda g: g.retract("u1"),
    "result revised": lambda g: g.revise("r", "Beech."),
    "call fact": lambda g: g.call_fact("a1", "c"),
    "result fact": lambda g: g.result_fact("a1", "c", "Beech."),
    "edited": lambda g: g.edit("u1", "Which wood?"),
    "edited on another branch": lambda g: g.edit("u1", None, under="a1"),
    "struck out and restored": lambda g: g.retract("u1").revise("u1", "Wood?", revives=True),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
def test_a_covered_message_that_changed_since_makes_it_stale(change):
    change(talk()).when(late()).then_raises(StaleSummary, "changed after position 7")


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED.keys())
def test_without_an_expected_position_it_is_the_caller_s_present(change):
    change(talk()).when(late(expected=None)).then("compaction_anchored")


def test_what_changed_before_the_snapshot_is_in_the_summary():
    changed = talk().revise("u1", "Which wood?")
    changed.when(late(expected=8)).then("compaction_anchored")


def test_a_message_that_was_brought_back_since_is_not_in_the_summary():
    struck = talk().retract("u1").revise("u1", "Wood?", revives=True)
    struck.when(late(expected=8)).then_raises(StaleSummary, "u1")


def test_a_kept_message_that_changed_makes_nothing_stale():
    talk().revise("u2", "Which glue?").when(late()).then("compaction_anchored")
    talk().retract("u2").when(late()).then("compaction_anchored")


def test_messages_that_were_appended_since_are_kept():
    after = talk().user("Hurry", id="u4").when(late()).then("compaction_anchored")
    assert [row.entry_id for row in after.context().rows][1:] == ["u2", "a2", "u3", "u4"]


def test_keeping_nothing_would_lose_what_was_appended_since():
    talk().user("Hurry", id="u4").when(late(None)).then_raises(StaleSummary, "u4")


@pytest.mark.parametrize(
    "anchor",
    [
        lambda g: g.compact("Other", keep="u2"),
        lambda g: g.hand_off("Other", keep="u2"),
        lambda g: g.reset(),
    ],
    ids=["compaction", "hand-off", "reset"],
)
def test_another_anchor_since_makes_it_stale(anchor):
    anchor(talk()).when(late()).then_raises(StaleSummary, "compact anew")


def test_an_anchor_on_another_branch_makes_nothing_stale():
    talk().compact("Other", under="u1").when(late()).then("compaction_anchored")


def test_an_anchor_that_rules_no_longer_makes_it_stale():
    """The ruling anchor changes by a move of the leaf as well."""
    summed = talk().compact("ONE", id="k", keep="u2").user("More", id="u4")
    summed.move_leaf("u3").when(late("a2", 9)).then_raises(StaleSummary)


def test_keeping_nothing_is_about_the_path_that_it_was_made_on():
    """All of another path would be hidden behind the summary of this one."""
    aside = talk().user("Beech?", id="side", under="u1").move_leaf("side")
    aside.when(late(None, 8)).then_raises(StaleSummary, "leaf was moved")
    aside.when(late(None, 9)).then("compaction_anchored")


def test_a_boundary_that_left_the_path_makes_it_stale():
    talk().move_leaf("a1").when(late()).then_raises(StaleSummary, "path")


def test_a_boundary_that_never_was_one_is_invalid_not_stale():
    """Compacting anew would not help: the caller has to choose another boundary."""
    aside = talk().assistant("Beech.", id="side", under="u1")
    aside.when(late("side", 8)).then_raises(InvalidBoundary)
    talk().when(late("u1")).then_raises(InvalidBoundary)


@pytest.mark.parametrize("expected", [8, -1])
def test_an_expected_position_that_is_not_on_the_tape_is_refused(expected):
    talk().when(late(expected=expected)).then_raises(InvalidValue, "expected_position")
