"""What was learnt on a branch that was left: a row of the context that hides nothing."""

import pytest

from tapefold.domain.errors import DuplicateId, InvalidValue, UnknownEntry
from tapefold.testing import event, given, said


def left():
    """u1 - a1; from u1 a branch b1 - b2 that was left."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .assistant("Beech?", id="b1", under="u1")
        .user("Too pale", id="b2", under="b1")
    )


def test_a_branch_summary_names_the_tip_that_was_left():
    after = left().when(lambda s: s.summarize_branch("b2", "Beech is too pale", entry_id="bs"))
    after.then(
        event(
            "branch_summarized",
            entry_id="bs",
            parent_id="a1",
            takes_leaf=True,
            left="b2",
            targets=("b2",),
            summary="Beech is too pale",
        )
    )
    assert said(after.context()) == [
        "user: Wood?",
        "assistant: Oak.",
        "branch_summary: Beech is too pale",
    ]


def test_a_branch_summary_is_no_message_of_the_view():
    after = left().when(lambda s: s.summarize_branch("b2", "Beech is too pale"))
    assert said(after.view()) == ["user: Wood?", "assistant: Oak."]


@pytest.mark.parametrize("summary", ["", "  ", None, 7])
def test_a_branch_summary_needs_text(summary):
    left().when(lambda s: s.summarize_branch("b2", summary)).then_raises(InvalidValue, "text")


def test_a_branch_that_does_not_exist_cannot_be_summarised():
    left().when(lambda s: s.summarize_branch("zz", "S")).then_raises(UnknownEntry)


def test_an_id_that_is_taken_is_refused():
    left().when(lambda s: s.summarize_branch("b2", "S", entry_id="u1")).then_raises(DuplicateId)


CHANGES = {
    "retract": lambda s, i: s.retract(i),
    "revise": lambda s, i: s.revise(i, "Ash?"),
    "retract from": lambda s, i: s.retract_from(i),
}


@pytest.mark.parametrize("change", ["retract", "revise"])
def test_a_branch_summary_that_tells_of_what_changes_is_named(change):
    told = left().branch_summary("b2", "Beech is too pale", id="bs")
    after = told.when(lambda s: CHANGES[change](s, "b1"))
    after.then_outcome(warnings=["branch_summary_covers"])
    assert after.outcome.warnings[0].entry_ids == ("bs", "b1")
    assert "bs" in after.outcome.warnings[0].text


@pytest.mark.parametrize("change", CHANGES)
def test_a_branch_summary_does_not_tell_of_what_lies_on_its_own_path(change):
    """The shared part of the two branches stands in the context itself."""
    told = left().branch_summary("b2", "Beech is too pale", id="bs")
    assert told.when(lambda s: CHANGES[change](s, "u1")).outcome.warnings == ()


def test_every_branch_summary_that_tells_of_it_is_named():
    told = (
        left()
        .branch_summary("b2", "One", id="bs1")
        .branch_summary("b1", "Two", id="bs2")
        .branch_summary("a1", "Three", id="bs3", under="u1")
    )
    after = told.when(lambda s: s.retract("b1"))
    assert sorted(w.entry_ids[0] for w in after.outcome.warnings) == ["bs1", "bs2"]


def test_a_change_below_the_boundary_that_a_branch_summary_tells_of_is_both():
    told = left().branch_summary("b2", "Pale", id="bs").move_leaf("b2").compact("S", keep="b2")
    after = told.when(lambda s: s.retract("b1"))
    after.then("retracted", "summary_reset")
    assert sorted(w.code for w in after.outcome.warnings) == [
        "branch_summary_covers",
        "summary_reset",
    ]


def test_a_fork_is_warned_of_a_branch_summary_that_it_inherits():
    parent = left().branch_summary("b2", "Pale", id="bs").tape
    after = given(parent.fork("child")).when(lambda s: s.retract("b1"))
    after.then_outcome(warnings=["branch_summary_covers"])
