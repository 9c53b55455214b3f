"""Where a new entry hangs, and whether it takes the leaf."""

import pytest

from tapefold.domain.errors import (
    ConcurrencyConflict,
    InvalidValue,
    UnderRequired,
    UnknownEntry,
)
from tapefold.testing import event, given, said


def talk():
    """u1 - a1 - u2, and `side` under u1."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .user("Glue?", id="u2")
        .assistant("Beech.", id="side", under="u1")
    )


MAKES = [
    pytest.param(lambda s, **at: s.finalize("user", "Hi", **at), id="message"),
    pytest.param(lambda s, **at: s.draft("assistant", "Hi", **at), id="draft"),
    pytest.param(lambda s, **at: s.set_model("oak-2", **at), id="model"),
    pytest.param(lambda s, **at: s.set_thinking_level("high", **at), id="thinking level"),
    pytest.param(lambda s, **at: s.record_custom("x", **at), id="custom"),
    pytest.param(lambda s, **at: s.edit_context("u1", None, **at), id="edit"),
    pytest.param(lambda s, **at: s.summarize_branch("u2", "S", **at), id="branch summary"),
    pytest.param(lambda s, **at: s.reset_summary(**at), id="reset"),
    pytest.param(lambda s, **at: s.hand_off("S", **at), id="hand-off"),
]


@pytest.mark.parametrize("make", MAKES)
def test_left_out_under_means_the_leaf_and_the_entry_takes_it(make):
    after = talk().when(make)
    assert after.events[0].head.parent_id == "u2"
    assert after.state.leaf == after.outcome.entry_id


@pytest.mark.parametrize("make", MAKES)
def test_none_means_the_root_and_a_side_branch(make):
    after = talk().when(lambda s: make(s, under=None))
    assert after.events[0].head.parent_id is None
    assert after.state.leaf == "u2"


@pytest.mark.parametrize("make", MAKES)
def test_under_another_entry_than_the_leaf_is_a_side_branch(make):
    after = talk().when(lambda s: make(s, under="a1"))
    assert after.events[0].head.parent_id == "a1"
    assert after.state.leaf == "u2"


@pytest.mark.parametrize("make", MAKES)
def test_under_the_leaf_by_its_name_takes_the_leaf(make):
    after = talk().when(lambda s: make(s, under="u2"))
    assert after.state.leaf == after.outcome.entry_id


@pytest.mark.parametrize("make", MAKES)
def test_under_an_entry_that_does_not_exist_is_refused(make):
    talk().when(lambda s: make(s, under="zz")).then_raises(UnknownEntry, "'zz'")


@pytest.mark.parametrize("make", MAKES)
def test_under_takes_an_id_and_nothing_else(make):
    talk().when(lambda s: make(s, under=7)).then_raises(InvalidValue, "under=")


@pytest.mark.parametrize("make", MAKES)
def test_the_first_entry_of_all_takes_the_leaf_under_the_root(make):
    first = given().user("Wood?", id="u1").user("Glue?", id="u2").move_leaf(None)
    after = first.when(lambda s: make(s, under=None))
    assert after.state.leaf == after.outcome.entry_id


def test_under_an_imported_mark_is_under_the_entry_that_it_stands_for():
    marked = talk().usage(
        {"input": 1}, entry_id="spent", parent_id="a1", stands_for="a1", takes_leaf=False
    )
    marked.when(lambda s: s.finalize("user", "Hi", under="spent")).then(
        event("message_finalized", parent_id="a1", takes_leaf=False)
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda s: s.finalize("assistant", "Hide glue."),
        lambda s: s.draft("assistant"),
    ],
    ids=["final", "draft"],
)
def test_in_execute_an_assistant_message_says_what_it_answers(answer):
    """An answer never lands under somebody else's question."""
    talk().when(answer, executed=True).then_raises(UnderRequired, "under=")


@pytest.mark.parametrize("under", ["u2", "a1", None])
def test_in_execute_an_assistant_message_may_say_any_place(under):
    after = talk().when(lambda s: s.finalize("assistant", "Hide glue.", under=under), executed=True)
    assert after.events[0].head.parent_id == under


def test_with_the_expected_position_an_answer_goes_under_the_leaf():
    after = talk().when(lambda s: s.finalize("assistant", "Hide glue."), expected_position=5)
    after.then(event("message_finalized", parent_id="u2"))


def test_a_position_that_is_not_the_expected_one_is_a_conflict():
    asked = talk().when(lambda s: s.finalize("assistant", "Hide glue."), expected_position=4)
    error = asked.then_raises(ConcurrencyConflict).error
    assert isinstance(error, ConcurrencyConflict)
    assert (error.expected, error.actual) == (4, 5)
    assert "load it again" in str(error)


@pytest.mark.parametrize(
    "speak",
    [
        lambda s: s.finalize("user", "Hi"),
        lambda s: s.finalize("system", "Be brief."),
        lambda s: s.finalize("bash_execution", "out", details={"command": "ls"}),
        lambda s: s.set_model("oak-2"),
    ],
)
def test_in_execute_all_but_assistant_messages_go_under_the_leaf(speak):
    after = talk().when(speak, executed=True)
    assert after.events[0].head.parent_id == "u2"


def test_in_execute_a_running_draft_is_finalized_without_under():
    drafted = talk().draft("Hi", id="d", under="u2")
    drafted.when(
        lambda s: s.finalize("assistant", "Hide glue.", message_id="d"), executed=True
    ).then("message_finalized")


def test_in_execute_a_delivery_that_is_known_already_needs_no_under():
    first = talk().when(lambda s: s.finalize("assistant", "Glue.", message_id="x", key="k"))
    first.when(
        lambda s: s.finalize("assistant", "Glue.", message_id="x", key="k"), executed=True
    ).then_nothing()


def test_two_answers_to_different_questions_each_hang_under_their_own():
    asked = given().user("Wood?", id="q1").user("Glue?", id="q2", under=None, takes_leaf=True)
    one = asked.when(lambda s: s.finalize("assistant", "Oak.", under="q1"), executed=True)
    two = one.when(lambda s: s.finalize("assistant", "Hide glue.", under="q2"), executed=True)
    assert said(two.view(one.outcome.entry_id)) == ["user: Wood?", "assistant: Oak."]
    assert said(two.view()) == ["user: Glue?", "assistant: Hide glue."]
