"""Result messages that the view hides, those that it shows, and what holds for all of them."""

from hypothesis import given

from tapefold.testing import Tape, said
from tapefold.testing.strategies import families


def result_of(view, message_id, call_id):
    """The text and the entry of what a call gave back; None without a result."""
    (message,) = [m for m in view.messages if m.message_id == message_id]
    (result,) = [call.result for call in message.calls if call.call_id == call_id]
    return None if result is None else (result.content[0].text, result.entry_id)


def test_a_result_is_hidden_exactly_while_its_calls_message_is_struck():
    for owner in (True, False):
        tape = Tape()
        a = tape.assistant("a", calls=["c1"])
        tape.result("c1", "out", owner=a if owner else None)
        tape.retract(a)
        assert said(tape.view()) == []
        tape.version(a, "a", calls=["c1"], revives=True)
        assert said(tape.view()) == ["assistant: a tool(c1)", "tool_result: out"]


def test_a_result_is_hidden_exactly_while_its_calls_message_is_revised_without_the_call():
    for owner in (True, False):
        tape = Tape()
        a = tape.assistant("a", calls=["c1"])
        tape.result("c1", "out", owner=a if owner else None)
        tape.version(a, "b")
        assert said(tape.view()) == ["assistant: b"]
        tape.version(a, "c", calls=["c1"])
        assert said(tape.view()) == ["assistant: c tool(c1)", "tool_result: out"]


def test_the_result_of_a_struck_message_does_not_fall_to_another_call_of_the_same_id():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    tape.result("c1", "first")
    two = tape.assistant("two", calls=["c1"])
    tape.retract(one)
    view = tape.view()
    assert said(view) == ["assistant: two tool(c1)"]
    assert result_of(view, two, "c1") is None


def test_a_struck_call_whose_result_names_it_takes_no_other_result():
    """Its own is known; the next one of the same id belongs to the call that is left."""
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    tape.result("c1", "first", owner=one)
    two = tape.assistant("two", calls=["c1"])
    tape.user("meanwhile")
    tape.result("c1", "second")
    tape.retract(one)
    view = tape.view()
    assert said(view) == ["assistant: two tool(c1)", "user: meanwhile", "tool_result: second"]
    assert result_of(view, two, "c1")[0] == "second"


def test_a_call_whose_named_result_was_struck_takes_no_other_result():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    struck = tape.result("c1", "first", owner=one)
    two = tape.assistant("two", calls=["c1"])
    tape.user("meanwhile")
    tape.result("c1", "second")
    tape.retract(struck)
    view = tape.view()
    assert result_of(view, one, "c1") is None
    assert result_of(view, two, "c1")[0] == "second"


def test_a_result_that_was_never_called_shows():
    for owner in (None, "e1", "nobody"):
        tape = Tape()
        tape.assistant("a")
        tape.result("c9", "of nothing", owner=owner)
        assert said(tape.view()) == ["assistant: a", "tool_result: of nothing"]


def test_a_result_whose_call_stands_on_another_branch_shows():
    """Its call's message is neither struck nor revised; on this path it was never called."""
    tape = Tape()
    q = tape.user("q")
    a = tape.assistant("a", calls=["c1"])
    r = tape.result("c1", "elsewhere", owner=a, under=q)
    assert said(tape.view(r)) == ["user: q", "tool_result: elsewhere"]
    tape.version(a, "without the call")
    assert said(tape.view(r)) == ["user: q"]


def test_a_second_result_of_a_call_shows_beside_the_first():
    for owner in (True, False):
        tape = Tape()
        a = tape.assistant("a", calls=["c1"])
        tape.result("c1", "one", owner=a if owner else None)
        tape.result("c1", "two", owner=a if owner else None)
        assert said(tape.view())[1:] == ["tool_result: one", "tool_result: two"]


def test_a_result_without_a_call_id_is_a_message_like_others():
    tape = Tape()
    tape.assistant("a", calls=["c1"])
    tape.message("tool_result", "of what?")
    assert said(tape.view()) == ["assistant: a tool(c1)", "tool_result: of what?"]


def test_a_call_and_its_result_are_looked_for_on_the_path_only():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result("c1", "on a side branch", owner=a, under=a)
    tape.move_leaf(a)
    other = tape.user("other")
    assert result_of(tape.view(other), a, "c1") is None


@given(families(hostile=True))
def test_no_result_answers_two_calls_and_every_result_answers_a_call_of_its_id(family):
    for tape in family:
        for pending in (False, True):
            view = tape.view(include_pending=pending)
            messages = {m.message_id: m for m in view.messages}
            taken = [
                (call.result.message_id, call.call_id)
                for m in view.messages
                for call in m.calls
                if call.result is not None and call.result.message_id is not None
            ]
            assert len({message_id for message_id, _ in taken}) == len(taken)
            for message_id, call_id in taken:
                message = messages[message_id]
                (event,) = tape.tapes.events_at(message.session_id, [message.position])
                assert event.head.call_ids[0] == call_id


@given(families(hostile=True))
def test_a_call_has_a_result_or_says_that_it_has_none(family):
    for tape in family:
        for message in tape.view(include_pending=True).messages:
            for call in message.calls:
                assert (call.result is None) == (call.status == "pending") or (
                    call.result.message_id is None and call.status == "pending"
                )
