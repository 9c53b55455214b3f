"""The leaf moves explicitly and durably: to any entry, to none, before a user message."""

import pytest

from tapefold.domain.errors import UnknownEntry, UnknownMessage, WrongKind
from tapefold.testing import event, given, said


def talk():
    """u1 - a1 - u2 - a2, a label mark under a2, and `side` under u1."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .user("Glue?", id="u2")
        .assistant("Hide glue.", id="a2")
        .assistant("Beech.", id="side", under="u1")
    )


def test_the_next_entry_hangs_under_the_leaf():
    moved = talk().when(lambda s: s.move_leaf("side", reason="try beech"))
    moved.then(event("leaf_moved", targets=("side",), reason="try beech"))
    moved.then_outcome(entry_id="side")
    after = moved.when(lambda s: s.finalize("user", "Too pale"))
    assert said(after.view()) == ["user: Wood?", "assistant: Beech.", "user: Too pale"]


def test_the_leaf_may_be_none():
    moved = talk().when(lambda s: s.move_leaf(None))
    assert said(moved.view()) == []
    assert moved.view().leaf is None
    moved.when(lambda s: s.finalize("user", "Anew")).then(
        event("message_finalized", parent_id=None, takes_leaf=True)
    )


@pytest.mark.parametrize(
    "entry",
    [
        lambda g: g.model("oak-2", id="x"),
        lambda g: g.custom("n", id="x"),
        lambda g: g.compact("S", id="x"),
        lambda g: g.branch_summary("side", "S", id="x"),
        lambda g: g.edit("u1", id="x"),
        lambda g: g.foreign("{", id="x"),
    ],
    ids=["model", "custom", "anchor", "branch summary", "edit", "foreign"],
)
def test_the_leaf_goes_to_entries_of_any_kind(entry):
    entry(talk()).move_leaf("u1").when(lambda s: s.move_leaf("x")).then_outcome(entry_id="x")


def test_a_mark_is_the_entry_that_it_stands_for():
    marked = talk().label(
        "u1", "start", entry_id="l", parent_id="u2", stands_for="u2", takes_leaf=False
    )
    marked.when(lambda s: s.move_leaf("l")).then(event("leaf_moved", targets=("u2",)))


def test_a_mark_that_hangs_under_nothing_stands_for_the_root():
    marked = talk().usage({}, entry_id="m", parent_id=None, stands_for=None)
    after = marked.when(lambda s: s.move_leaf("m"))
    assert after.state.leaf is None


def test_an_entry_that_does_not_exist_is_refused():
    talk().when(lambda s: s.move_leaf("zz")).then_raises(UnknownEntry, "'zz'")


def test_the_leaf_may_stand_on_a_struck_message():
    struck = talk().retract("a1").when(lambda s: s.move_leaf("a1"))
    assert said(struck.view()) == ["user: Wood?"]


def test_before_a_user_message_its_text_is_answered_and_the_next_is_its_sibling():
    moved = talk().when(lambda s: s.move_leaf_before("u2"))
    moved.then(event("leaf_moved", targets=("a1",), before="u2"))
    moved.then_outcome(text="Glue?", entry_id="a1", message_id="u2")
    after = moved.when(lambda s: s.finalize("user", "Paint?"))
    assert said(after.view())[-1] == "user: Paint?"
    assert after.events[0].head.parent_id == "a1"


def test_before_the_first_message_there_is_no_leaf():
    moved = talk().when(lambda s: s.move_leaf_before("u1"))
    moved.then_outcome(text="Wood?", entry_id=None)
    assert moved.state.leaf is None


def test_the_text_is_that_of_the_version_that_shows():
    talk().revise("u2", "Which glue?").when(lambda s: s.move_leaf_before("u2")).then_outcome(
        text="Which glue?"
    )


def test_the_text_of_a_struck_message_can_be_taken_up_again():
    talk().retract("u2").when(lambda s: s.move_leaf_before("u2")).then_outcome(text="Glue?")


def test_the_text_is_the_text_blocks_alone():
    pictured = talk().user(["Like", {"type": "image", "url": "x"}, "this?"], id="u3")
    pictured.when(lambda s: s.move_leaf_before("u3")).then_outcome(text="Like\nthis?")


def test_before_a_message_under_a_mark_is_the_entry_that_the_mark_stands_for():
    marked = (
        talk()
        .usage({}, entry_id="m", parent_id="a1", stands_for="a1", takes_leaf=False)
        .user("Paint?", id="u3", parent_id="m", takes_leaf=True)
    )
    marked.when(lambda s: s.move_leaf_before("u3")).then(event("leaf_moved", targets=("a1",)))


def test_before_a_message_whose_parent_never_came_is_the_root():
    orphan = given().user("Wood?", id="u1", parent_id="nowhere", takes_leaf=True)
    orphan.when(lambda s: s.move_leaf_before("u1")).then(event("leaf_moved", targets=()))


def test_it_says_the_text_even_where_the_leaf_stands_already():
    there = talk().move_leaf("a1").when(lambda s: s.move_leaf_before("u2"))
    there.then_nothing().then_outcome(text="Glue?", changed=False)


def test_before_is_for_user_messages():
    talk().when(lambda s: s.move_leaf_before("a2")).then_raises(WrongKind, "no user message")
    talk().when(lambda s: s.move_leaf_before("zz")).then_raises(UnknownMessage)


def test_a_move_is_durable():
    """The peers forget a plain move when they are closed before the next message."""
    moved = talk().when(lambda s: s.move_leaf("side"))
    again = given(moved.given.tape)
    assert said(again.tape.session().view()) == ["user: Wood?", "assistant: Beech."]
