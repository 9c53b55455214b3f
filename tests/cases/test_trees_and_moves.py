"""Cases of the tree: moving in it, its rows, its previews."""

import pytest

from tapefold.cli.drawing import layout
from tapefold.domain.outline import PREVIEW, cut
from tapefold.testing import Tape, given, said


def h4():
    return given().user("A", id="a").assistant("B", id="b").user("C", id="c").assistant("D", id="d")


def test_moving_before_a_user_message_gives_its_text_back_and_makes_siblings():
    """T65"""
    moved = h4().when(lambda s: s.move_leaf_before("c"))
    moved.then_outcome(text="C", entry_id="b")
    anew = moved.when(lambda s: s.finalize("user", "E", message_id="e"))
    assert said(anew.view()) == ["user: A", "assistant: B", "user: E"]
    parents = {n.entry_id: n.parent_id for n in anew.given.tape.outline().nodes}
    assert parents["c"] == parents["e"] == "b"


def test_a_move_that_leaves_a_summary_ends_on_the_summary():
    """T65"""
    moved = h4().when(lambda s: s.move_leaf("a"))
    moved.then_outcome(text=None)
    told = moved.when(lambda s: s.summarize_branch("d", "B to D", entry_id="bs"))
    assert told.state.leaf == "bs"
    assert told.events[0].head.parent_id == "a"
    assert said(told.context()) == ["user: A", "branch_summary: B to D"]


def test_a_plain_move_is_remembered():
    """T65"""
    moved = h4().when(lambda s: s.move_leaf("b")).given
    assert moved.tape.session().state.leaf == "b"


def indents(tape):
    """Entry id to how far the drawn tree indents it."""
    return {n.entry_id: len(prefix) for prefix, n in layout(tape.outline().nodes, ">", ">")}


def test_the_longest_branch_runs_straight_down_and_the_others_stand_beside_it_first():
    """T61"""
    tape = Tape()
    tape.user("a", id="a")
    tape.assistant("s", id="s", under="a")
    tape.assistant("b", id="b", parent_id="a", takes_leaf=True)
    tape.user("c", id="c")
    assert list(indents(tape).items()) == [("a", 0), ("s", 1), ("b", 0), ("c", 0)]


def test_of_equal_branches_the_one_that_leads_to_the_leaf_runs_straight_down():
    """T61"""
    tape = Tape()
    tape.user("a", id="a")
    tape.assistant("b", id="b")
    tape.assistant("c", id="c", under="a")
    assert list(indents(tape).items()) == [("a", 0), ("c", 1), ("b", 0)]
    tape.move_leaf("c")
    assert list(indents(tape).items()) == [("a", 0), ("b", 1), ("c", 0)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * PREVIEW, "x" * 72),
        ("x" * 73, "x" * 71 + "…"),
        ("  a\n b  ", "a b"),
        ("", ""),
    ],
    ids=["72 characters", "73 characters", "white space", "nothing"],
)
def test_a_preview_is_one_line_of_at_most_72_characters(text, shown):
    """T63"""
    assert cut(text) == shown
    tape = Tape()
    tape.user(text)
    assert tape.outline().nodes[0].preview == shown
