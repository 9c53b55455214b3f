"""Whatever changes behind the boundary after the anchor makes its summary stale."""

import pytest

from tapefold.testing import Tape, said


@pytest.fixture
def summed():
    """u1 - a1 (calls c) - r - u2 - anchor that keeps from u2 on."""
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.assistant("", id="a1", calls=["c"])
    tape.result("c", "Oak.", "a1", id="r")
    tape.user("Glue?", id="u2")
    tape.compact("S", id="k", keep="u2")
    return tape


CHANGES = {
    "later version": lambda t: t.revise("u1", "Which?"),
    "retraction": lambda t: t.retract("u1"),
    "restore": lambda t: (t.retract("u1"), t.revise("u1", "Wood?", revives=True)),
    "result's version": lambda t: t.revise("r", "Beech."),
    "call fact": lambda t: t.call_fact("a1", "c"),
    "result fact": lambda t: t.result_fact("a1", "c", "Beech."),
    "pending fact": lambda t: t.result_fact("a1", "c", "Be", status="pending"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_behind_the_boundary_is_warned_of(summed, codes, change):
    assert codes(summed.context()) == []
    change(summed)
    assert codes(summed.context()) == ["stale_summary"]


def test_the_warning_names_the_anchor_and_what_changed(summed):
    summed.revise("u1", "Which?")
    summed.retract("a1")
    (warning,) = summed.context().warnings
    assert warning.entry_ids == ("u1", "a1")
    assert "summary k" in warning.text


def test_a_stale_summary_is_still_sent(summed):
    summed.retract("u1")
    assert said(summed.context()) == ["summary: S", "user: Glue?"]


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.revise("u2", "Which glue?"),
        lambda t: t.retract("u2"),
        lambda t: t.label("u1", "start"),
        lambda t: t.edit("u1", "Which?"),
        lambda t: t.user("Paint?"),
        lambda t: t.assistant("Beech.", under="u1", takes_leaf=False, status="error"),
        lambda t: t.usage({}),
    ],
    ids=["kept version", "kept retraction", "label", "edit", "message", "side branch", "usage"],
)
def test_what_the_summary_does_not_cover_makes_nothing_stale(summed, codes, change):
    change(summed)
    assert "stale_summary" not in codes(summed.context())


def test_a_change_before_the_anchor_was_seen_by_it(codes):
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.revise("u1", "Which?")
    tape.compact("S")
    assert codes(tape.context()) == []


def test_after_a_newer_anchor_or_a_reset_the_old_change_is_told(summed, codes):
    summed.revise("u1", "Which?")
    anew = summed.copy()
    anew.compact("T", keep="u2")
    assert codes(anew.context()) == []
    summed.reset()
    assert codes(summed.context()) == []


def test_the_full_policy_has_no_summary_that_could_be_stale(summed):
    summed.revise("u1", "Which?")
    assert summed.context("full").warnings == ()


def test_a_change_in_a_fork_makes_the_inherited_summary_stale_there(summed, codes):
    child = summed.fork("child")
    child.retract("u1")
    assert codes(child.context()) == ["stale_summary"]
    assert codes(summed.context()) == []


def test_a_listing_anchor_is_stale_by_what_it_lists(codes):
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.user("Glue?", id="u2")
    tape.compact("S", replaces=("u1",))
    tape.revise("u2", "Which glue?")
    assert codes(tape.context()) == []
    tape.revise("u1", "Which?")
    assert codes(tape.context()) == ["stale_summary"]
