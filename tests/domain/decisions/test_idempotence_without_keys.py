"""Without a key only what is equal to the current version, fact or mark changes nothing."""

import pytest

from tapefold.testing import given, said


def talk():
    return given().user("Wood?", id="u1").assistant("Oak.", id="a1", calls=["c"])


def test_a_version_equal_to_the_current_one_is_a_no_op():
    first = talk().when(lambda s: s.finalize("user", "Glue?", message_id="u2"))
    again = first.when(lambda s: s.finalize("user", "Glue?", message_id="u2")).then_nothing()
    again.then_outcome(changed=False, position=first.outcome.position, message_id="u2")


def test_a_draft_equal_to_the_current_one_is_a_no_op():
    first = talk().when(lambda s: s.draft("assistant", "Let", message_id="d"))
    first.when(lambda s: s.draft("assistant", "Let", message_id="d")).then_nothing()


def test_a_revision_equal_to_the_current_version_is_a_no_op_whatever_its_reason():
    first = talk().when(lambda s: s.revise("u1", "Which?", reason="clearer"))
    first.when(lambda s: s.revise("u1", "Which?", reason="again")).then_nothing().then_outcome(
        position=first.outcome.position
    )


def test_a_b_a_is_three_versions():
    first = talk().when(lambda s: s.revise("u1", "Which?"))
    second = first.when(lambda s: s.revise("u1", "What?")).then("message_revised")
    third = second.when(lambda s: s.revise("u1", "Which?")).then("message_revised")
    assert said(third.view())[0] == "user: Which?"


@pytest.mark.parametrize(
    "other",
    [
        {"content": "Glue"},
        {"status": "error"},
        {"model": "oak-2"},
        {"provider": "forest"},
        {"stop_reason": "length"},
        {"error": "cut off"},
        {"usage": {"input": 1}},
        {"order_seq": 5},
        {"name": "ada"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_version_differs_by_all_that_it_says(other):
    asked = {"content": "Glue?", **other}
    talk().when(lambda s: s.revise("a1", "Glue?")).when(lambda s: s.revise("a1", **asked)).then(
        "message_revised"
    )


@pytest.mark.parametrize(
    "circumstance",
    [
        {"timestamp": "2020-01-01T00:00:00Z"},
        {"source": "repair"},
        {"actor": "ada"},
        {"trace_id": "t"},
        {"span_id": "s"},
        {"correlation_id": "c"},
        {"causation_id": "b"},
    ],
    ids=lambda circumstance: next(iter(circumstance)),
)
def test_a_version_does_not_differ_by_its_circumstances(circumstance):
    first = talk().when(lambda s: s.revise("u1", "Which?"))
    first.when(lambda s: s.revise("u1", "Which?", **circumstance)).then_nothing()


def test_a_fact_equal_to_the_current_one_is_a_no_op():
    first = talk().when(lambda s: s.record_call("a1", "c", "saw", {"mm": 12}))
    first.when(lambda s: s.record_call("a1", "c", "saw", {"mm": 12})).then_nothing()
    second = talk().when(lambda s: s.record_result("a1", "c", "sawn"))
    second.when(lambda s: s.record_result("a1", "c", "sawn")).then_nothing()


def test_facts_a_b_a_are_three_facts():
    facts = talk()
    for text in ("sawn", "split", "sawn"):
        facts = facts.when(lambda s, t=text: s.record_result("a1", "c", t)).given
    kinds = [e.head.kind for e in facts.tape.events]
    assert kinds.count("tool_result_recorded") == 3


@pytest.mark.parametrize(
    "set_again",
    [
        lambda s: s.label("u1", "start"),
        lambda s: s.set_title("Box"),
        lambda s: s.move_leaf("u1"),
        lambda s: s.retract("u1"),
    ],
    ids=["label", "name", "leaf", "retraction"],
)
def test_a_mark_that_changes_nothing_is_a_no_op(set_again):
    first = talk().when(set_again)
    assert first.outcome.changed
    first.when(set_again).then_nothing().then_outcome(changed=False)


@pytest.mark.parametrize(
    "clear",
    [
        lambda s: s.label("u1", None),
        lambda s: s.label("u1", "  "),
        lambda s: s.set_title(None),
        lambda s: s.set_title(" \n "),
        lambda s: s.move_leaf("a1"),
    ],
)
def test_taking_away_what_is_not_there_is_a_no_op(clear):
    talk().when(clear).then_nothing().then_outcome(changed=False)


def test_a_mark_that_was_cleared_may_be_set_again():
    first = talk().when(lambda s: s.label("u1", "start"))
    cleared = first.when(lambda s: s.label("u1", None)).then("labelled")
    again = cleared.when(lambda s: s.label("u1", "start")).then("labelled")
    assert again.view().labels == {"u1": "start"}


def test_retracting_some_that_are_struck_strikes_out_the_others():
    struck = talk().when(lambda s: s.retract("u1"))
    both = struck.when(lambda s: s.retract(["u1", "a1"]))
    assert both.outcome.changed
    assert said(both.view()) == []


@pytest.mark.parametrize(
    "again",
    [
        lambda s: s.finalize("user", "Glue?"),
        lambda s: s.draft("assistant", "Hm"),
        lambda s: s.set_model("oak-2"),
        lambda s: s.set_thinking_level("high"),
        lambda s: s.record_custom("x", {"n": 1}),
        lambda s: s.edit_context("u1", None),
        lambda s: s.summarize_branch("a1", "S", under="u1"),
        lambda s: s.hand_off("S"),
        lambda s: s.reset_summary(),
    ],
    ids=["message", "draft", "model", "thinking", "custom", "edit", "branch", "hand-off", "reset"],
)
def test_an_entry_without_a_key_is_never_a_no_op(again):
    first = talk().when(again)
    assert first.when(again).outcome.changed


def test_the_same_text_twice_is_two_messages():
    """Identity is never guessed from content: a user may say "yes" twice."""
    first = talk().when(lambda s: s.finalize("user", "Yes"))
    second = first.when(lambda s: s.finalize("user", "Yes"))
    assert said(second.view())[-2:] == ["user: Yes", "user: Yes"]
