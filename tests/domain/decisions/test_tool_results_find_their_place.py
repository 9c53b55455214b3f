"""A tool result goes under the leaf while its call is on the leaf's path, else to its call."""

import pytest

from tapefold.domain.errors import InvalidValue, UnknownMessage
from tapefold.testing import event, given, said


def calling():
    """u1 - a1, which calls c1 and c2."""
    return given().user("Measure", id="u1").assistant("", id="a1", calls=["c1", "c2"])


def test_a_result_goes_under_the_leaf_while_its_call_is_on_the_path():
    calling().user("Hurry", id="u2").when(
        lambda s: s.finalize("tool_result", "12", for_call="c1")
    ).then(
        event("message_finalized", owner="a1", call_ids=("c1",), parent_id="u2", takes_leaf=True)
    )


def test_a_result_of_a_branch_that_was_left_goes_under_its_call():
    left = calling().move_leaf("u1").user("Never mind", id="u2")
    left.when(lambda s: s.finalize("tool_result", "12", for_call="c1", for_message_id="a1")).then(
        event("message_finalized", owner="a1", parent_id="a1", takes_leaf=False)
    )


def test_a_result_takes_the_leaf_only_where_it_stands():
    left = calling().move_leaf("u1").user("Never mind", id="u2")
    after = left.when(lambda s: s.finalize("tool_result", "12", for_call="c1", for_message_id="a1"))
    assert said(after.view()) == ["user: Measure", "user: Never mind"]
    assert said(after.view(after.outcome.entry_id))[-1] == "tool_result: 12"


def test_a_place_that_is_said_is_taken():
    calling().user("Hurry").when(
        lambda s: s.finalize("tool_result", "12", for_call="c1", under="a1")
    ).then(event("message_finalized", parent_id="a1", owner="a1"))


def test_in_execute_a_result_needs_no_place():
    calling().when(lambda s: s.finalize("tool_result", "12", for_call="c1"), executed=True).then(
        event("message_finalized", parent_id="a1")
    )


def test_the_owner_is_the_nearest_message_on_the_path_that_holds_the_call():
    """Call ids are unique only inside their message; three rounds may all use `look:0`."""
    rounds = (
        given()
        .assistant("", id="a1", calls=["look:0"])
        .result("look:0", "3", "a1")
        .assistant("", id="a2", calls=["look:0"])
    )
    rounds.when(lambda s: s.finalize("tool_result", "5", for_call="look:0")).then(
        event("message_finalized", owner="a2")
    )


def test_an_earlier_round_is_answered_by_naming_its_message():
    rounds = given().assistant("", id="a1", calls=["c"]).assistant("", id="a2", calls=["c"])
    after = rounds.when(lambda s: s.finalize("tool_result", "3", for_call="c", for_message_id="a1"))
    calls = [m.calls[0] for m in after.view().messages if m.calls]
    assert [call.status for call in calls] == ["success", "pending"]


def test_a_call_that_was_recorded_as_a_fact_is_found_as_well():
    given().assistant("Let me", id="a1").call_fact("a1", "c").when(
        lambda s: s.finalize("tool_result", "3", for_call="c")
    ).then(event("message_finalized", owner="a1"))


def test_a_call_of_a_draft_is_found_as_well():
    given().draft("", id="d", calls=["c"]).when(
        lambda s: s.finalize("tool_result", "3", for_call="c")
    ).then(event("message_finalized", owner="d"))


def test_a_call_that_nobody_on_the_path_made_is_refused():
    calling().move_leaf("u1").when(
        lambda s: s.finalize("tool_result", "12", for_call="c1")
    ).then_raises(InvalidValue, "for_message_id=")


def test_a_result_without_its_call_is_refused():
    calling().when(lambda s: s.finalize("tool_result", "12")).then_raises(InvalidValue, "for_call=")


def test_a_result_of_a_message_that_does_not_exist_is_refused():
    calling().when(
        lambda s: s.finalize("tool_result", "12", for_call="c1", for_message_id="zz")
    ).then_raises(UnknownMessage)


@pytest.mark.parametrize(
    "answering", [{"for_call": "c1"}, {"for_message_id": "a1"}, {"interruption": True}]
)
def test_only_a_tool_result_answers_a_call(answering):
    calling().when(lambda s: s.finalize("user", "12", **answering)).then_raises(
        InvalidValue, "tool_result"
    )


def test_an_interruption_says_that_there_is_no_real_result():
    after = calling().when(
        lambda s: s.finalize(
            "tool_result", "stopped", for_call="c1", interruption=True, is_error=True
        )
    )
    call = after.view().messages[1].calls[0]
    assert (call.status, call.result.interruption) == ("interrupted", True)


def test_a_real_result_that_comes_later_takes_the_interruption_s_place():
    stopped = calling().result("c1", "stopped", "a1", interruption=True, is_error=True)
    after = stopped.when(lambda s: s.finalize("tool_result", "12", for_call="c1"))
    assert after.view().messages[1].calls[0].status == "success"


def test_a_result_of_a_struck_message_is_recorded_and_does_not_show():
    struck = calling().retract("a1")
    after = struck.when(lambda s: s.finalize("tool_result", "12", for_call="c1"))
    assert said(after.view()) == ["user: Measure"]
    restored = after.when(lambda s: s.restore("a1"))
    assert said(restored.view())[-1] == "tool_result: 12"


def test_a_result_is_revised_and_still_answers_its_call():
    answered = calling().result("c1", "12", "a1", id="r")
    after = answered.when(lambda s: s.revise("r", "13", is_error=True))
    call = after.view().messages[1].calls[0]
    assert (call.status, call.result.message_id) == ("error", "r")
