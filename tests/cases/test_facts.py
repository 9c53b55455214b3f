"""Cases of facts: tool calls and results, retractions, revisions, as they are written."""

import pytest

from tapefold.domain.errors import InvalidValue
from tapefold.testing import given, said


def calls(view):
    """(message, call) to (status of the call's result) for all calls that show."""
    return {(m.message_id, c.call_id): c.status for m in view.messages for c in m.calls}


@pytest.mark.parametrize("name", ["execution/run_started", "executionx"])
def test_an_extension_may_record_under_any_name(name):
    """D4 D5"""
    given().when(lambda s: s.record_custom(name, {"n": 1})).then("custom_recorded")


def test_finished_calls_show_with_their_status_and_unfinished_ones_do_not():
    """D9"""
    tape = given().assistant("Let me", id="a").tape
    for call_id, status in (("c1", "success"), ("c2", "error"), ("c3", "pending")):
        tape.call_fact("a", call_id, status=status)
        tape.result_fact("a", call_id, "r", status=status)
    assert calls(tape.view()) == {("a", "c1"): "success", ("a", "c2"): "error"}
    given(tape).when(lambda s: s.record_call("a", "c4", "saw", status="loading")).then_raises(
        InvalidValue, "loading"
    )


def test_a_call_that_waits_for_the_user_does_not_show_beside_one_that_is_done():
    """D10"""
    tape = (
        given()
        .assistant("Let me", id="a")
        .call_fact("a", "asks", status="pending")
        .call_fact("a", "done")
        .result_fact("a", "done", "r")
        .tape
    )
    assert calls(tape.view()) == {("a", "done"): "success"}
    assert calls(tape.view(include_pending=True)).keys() == {("a", "asks"), ("a", "done")}


def test_blocks_that_are_none_hide_no_call_and_keep_its_place(pi):
    """D11"""
    record = pi.assistant("b", "a", "", calls=["c"])
    record["message"]["content"] = [None, "x", *record["message"]["content"]]
    session = pi.read(pi.user("a"), record)
    message = session.view().messages[1]
    assert [call.call_id for call in message.calls] == ["c"]
    assert message.content[2].call_id == "c"
    assert [block.value for block in message.content[:2]] == [None, "x"]


def test_a_user_s_blocks_call_no_tool():
    """D12"""
    after = given().when(
        lambda s: s.finalize("user", ["Look", {"type": "tool_call", "call_id": "c", "name": "saw"}])
    )
    assert said(after.view()) == ["user: Look saw(c)"]
    assert calls(after.view()) == {}


@pytest.mark.parametrize("text", ["{not json", '[{"type": "tool_call"}]', "null"])
def test_a_text_is_a_text_and_calls_no_tool(text):
    """D13"""
    after = given().when(lambda s: s.finalize("assistant", text))
    assert said(after.view()) == [f"assistant: {text}"]
    assert calls(after.view()) == {}


def test_the_same_message_twice_is_one():
    """D14"""
    first = given().when(lambda s: s.finalize("user", "Hello", message_id="m"))
    first.when(lambda s: s.finalize("user", "Hello", message_id="m")).then_nothing()


def test_other_content_and_another_place_are_two_revisions_whatever_their_reasons_say():
    """D15"""
    first = given().user("Hello", id="m").when(lambda s: s.revise("m", "Hi", reason="order"))
    first.then("message_revised")
    moved = first.when(lambda s: s.revise("m", "Hi", order_seq=7, reason="content"))
    moved.then("message_revised")
    assert moved.view().messages[0].order_seq == 7
    moved.when(lambda s: s.revise("m", "Hi", order_seq=7, reason="other words")).then_nothing()


def test_two_retractions_are_two_events_where_they_are_two_deliveries():
    """D16"""
    first = given().user("Hello", id="m").when(lambda s: s.retract("m", key="one"))
    second = first.when(lambda s: s.retract("m", key="two")).then("retracted")
    assert said(second.view()) == []
    tape = given().user("Hello", id="m").retract("m").retract("m").tape
    assert [e.head.kind for e in tape.events[2:]] == ["retracted", "retracted"]
    assert said(tape.view()) == []


def test_a_second_retraction_that_is_no_delivery_of_its_own_changes_nothing():
    """D16"""
    given().user("Hello", id="m").retract("m").when(lambda s: s.retract("m")).then_nothing()


def test_the_progress_of_a_compaction_is_told_beside_the_messages():
    """D17"""
    after = given().user("Hello")
    for status in ("compacting", "compacted"):
        after = (
            after.when(
                lambda s, status=status: s.record_custom("compaction_indicator", {"status": status})
            )
            .then("custom_recorded")
            .given
        )
    assert said(after.tape.view()) == said(after.tape.context()) == ["user: Hello"]


def test_a_result_that_becomes_another_and_again_the_first_is_three_facts():
    """D18"""
    after = given().assistant("", id="a", calls=["c"])
    for text in "ABA":
        after = (
            after.when(lambda s, text=text: s.record_result("a", "c", text))
            .then("tool_result_recorded")
            .given
        )
    (call,) = after.tape.view().messages[0].calls
    assert (call.result.content[0].text, call.result.position) == ("A", 5)


def test_a_message_that_was_sent_then_failed_then_was_sent_again_shows_as_sent():
    """D19"""
    failed = given().assistant("Oak.", id="m").when(lambda s: s.revise("m", "Oak.", status="error"))
    again = failed.when(lambda s: s.revise("m", "Oak.")).then("message_revised")
    assert [(m.status, m.position) for m in again.view().messages] == [("sent", 4)]


def test_two_revisions_at_one_moment_are_two_and_the_later_shows():
    """D20"""
    at = "2026-03-01T09:00:00.300Z"
    first = given().user("A", id="m").when(lambda s: s.revise("m", "B", timestamp=at))
    second = first.when(lambda s: s.revise("m", "C", timestamp=at)).then("message_revised")
    assert said(second.view()) == ["user: C"]
