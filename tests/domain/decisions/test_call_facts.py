"""Facts of calls and results, recorded beside the messages; owned by (message, call)."""

import pytest

from tapefold.domain.errors import InvalidValue, UnknownMessage, WrongKind
from tapefold.testing import Tape, event, given


def calls_of(view):
    return {call.call_id: call.status for message in view.messages for call in message.calls}


def test_a_call_recorded_as_a_fact_shows_at_its_message():
    after = (
        given()
        .assistant("Let me", id="a")
        .when(lambda s: s.record_call("a", "c", "saw", {"mm": 12}))
    )
    (call,) = after.view().messages[0].calls
    assert (call.name, call.arguments, call.in_content) == ("saw", {"mm": 12}, False)
    after.then_outcome(message_id="a", entry_id="a")


def test_a_result_fact_answers_a_call_of_the_content():
    after = (
        given()
        .assistant("", id="a", calls=["c"])
        .when(lambda s: s.record_result("a", "c", "sawn", status="error"))
    )
    (call,) = after.view().messages[0].calls
    assert (call.status, call.result.message_id) == ("error", None)


def test_the_newest_result_fact_counts():
    after = (
        given()
        .assistant("", id="a", calls=["c"])
        .result_fact("a", "c", "first")
        .when(lambda s: s.record_result("a", "c", "second"))
    )
    assert after.view().messages[0].calls[0].result.position == 4


def test_a_pending_fact_does_not_push_a_finished_one_aside():
    after = (
        given()
        .assistant("", id="a", calls=["c"])
        .result_fact("a", "c", "first")
        .when(lambda s: s.record_result("a", "c", "half", status="pending"))
    )
    assert after.outcome.changed
    assert after.view(include_pending=True).messages[0].calls[0].result.position == 3


def test_a_result_message_takes_precedence_over_the_fact():
    after = (
        given()
        .assistant("", id="a", calls=["c"])
        .result("c", "by message", "a", id="r")
        .when(lambda s: s.record_result("a", "c", "by fact"))
    )
    assert after.view().messages[0].calls[0].result.message_id == "r"


def test_a_result_fact_alone_is_no_call():
    after = given().assistant("Hm", id="a").when(lambda s: s.record_result("a", "c", "sawn"))
    assert calls_of(after.view()) == {}


def test_a_fact_does_not_bring_back_a_call_that_a_revision_dropped():
    after = (
        given()
        .assistant("", id="a", calls=["c"])
        .revise("a", "No saw needed")
        .when(lambda s: s.record_call("a", "c", "saw"))
    )
    assert after.outcome.changed
    assert calls_of(after.view()) == {}


def test_what_a_draft_held_does_not_bar_a_fact():
    after = (
        given()
        .draft("", id="a", calls=["c"])
        .finalize("a", "Done")
        .when(lambda s: s.record_call("a", "c", "saw"))
    )
    assert calls_of(after.view()) == {"c": "pending"}


@pytest.mark.parametrize("record", ["record_call", "record_result"])
def test_a_fact_belongs_to_an_assistant_message(record):
    user = given().user("Hi", id="u")
    user.when(lambda s: getattr(s, record)("u", "c", "saw")).then_raises(WrongKind, "assistant")
    user.when(lambda s: getattr(s, record)("zz", "c", "saw")).then_raises(UnknownMessage)


@pytest.mark.parametrize("status", ["loading", "", None, "sent"])
def test_a_fact_is_success_error_or_pending(status):
    assistant = given().assistant("Hm", id="a")
    assistant.when(lambda s: s.record_call("a", "c", "saw", status=status)).then_raises(
        InvalidValue, "success, error or pending"
    )


@pytest.mark.parametrize("call_id", ["", None, 7])
def test_a_fact_names_its_call(call_id):
    assistant = given().assistant("Hm", id="a")
    assistant.when(lambda s: s.record_call("a", call_id, "saw")).then_raises(
        InvalidValue, "call_id"
    )


def test_a_fact_may_name_its_message_by_the_entry():
    given().assistant("Hm", id="e", message_id="m").when(
        lambda s: s.record_call("e", "c", "saw")
    ).then(event("tool_call_recorded", owner="m", call_ids=("c",)))


def test_a_fact_about_what_a_fork_inherits_is_the_fork_s_own():
    parent = Tape()
    parent.assistant("", id="a", calls=["c"])
    child = parent.fork("child")
    after = given(child).when(lambda s: s.record_result("a", "c", "sawn"))
    assert calls_of(after.view()) == {"c": "success"}
    assert calls_of(parent.view()) == {"c": "pending"}
