"""Which calls show, and which result belongs to which call."""

from tapefold.testing import Tape


def calls_of(view, message_id):
    """{call id: status} of a message's calls, in order."""
    (message,) = [m for m in view.messages if m.message_id == message_id]
    return {call.call_id: call.status for call in message.calls}


def result_of(view, message_id, call_id):
    """The text and the entry of what a call gave back; None without a result."""
    (message,) = [m for m in view.messages if m.message_id == message_id]
    (result,) = [call.result for call in message.calls if call.call_id == call_id]
    return None if result is None else (result.content[0].text, result.entry_id)


# -- calls ---------------------------------------------------------------------------------


def test_call_ids_are_unique_only_inside_their_owner():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    tape.result("c1", "first", owner=one)
    two = tape.assistant("two", calls=["c1"])
    tape.result("c1", "second", owner=two)
    view = tape.view()
    assert result_of(view, one, "c1")[0] == "first"
    assert result_of(view, two, "c1")[0] == "second"


def test_facts_of_two_messages_with_the_same_call_id_stay_apart():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    two = tape.assistant("two", calls=["c1"])
    tape.result_fact(two, "c1", "second")
    view = tape.view()
    assert result_of(view, one, "c1") is None
    assert result_of(view, two, "c1") == ("second", None)


def test_a_call_shows_while_the_version_that_shows_holds_it():
    tape = Tape()
    a = tape.assistant("a", calls=["c1", "c2"])
    tape.version(a, "b", calls=["c2"])
    assert calls_of(tape.view(), a) == {"c2": "pending"}


def test_a_call_that_was_only_recorded_as_a_fact_shows_after_those_in_the_content():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.call_fact(a, "c9", name="read", arguments={"path": "x"})
    (message,) = tape.view().messages
    in_content, fact = message.calls
    assert (in_content.call_id, in_content.in_content) == ("c1", True)
    assert (fact.call_id, fact.name, fact.arguments, fact.in_content) == (
        "c9",
        "read",
        {"path": "x"},
        False,
    )


def test_facts_show_in_the_order_in_which_their_calls_were_first_recorded():
    tape = Tape()
    a = tape.assistant("a")
    for call_id in ("z", "y", "x", "y"):
        tape.call_fact(a, call_id)
    assert list(calls_of(tape.view(), a)) == ["z", "y", "x"]


def test_a_call_that_an_earlier_final_version_held_is_not_brought_back_by_its_fact():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.call_fact(a, "c1")
    tape.version(a, "without the call")
    assert calls_of(tape.view(), a) == {}


def test_what_a_draft_held_does_not_count_against_a_fact():
    """The call was really made and recorded; the draft's content is not what was said."""
    tape = Tape()
    a = tape.draft("...", calls=["c1"])
    tape.redraft(a, "... ...", calls=["c1", "c2"])
    tape.call_fact(a, "c1")
    tape.call_fact(a, "c2")
    tape.finalize(a, "done")
    assert calls_of(tape.view(), a) == {"c1": "pending", "c2": "pending"}


def test_a_call_that_only_a_draft_held_is_gone_with_the_final_version():
    """No ghosts: the model thought of the call and did not make it."""
    tape = Tape()
    a = tape.draft("...", calls=["c1"])
    tape.finalize(a, "done")
    assert calls_of(tape.view(), a) == {}


def test_an_unfinished_call_fact_shows_with_the_drafts_only():
    tape = Tape()
    a = tape.assistant("a")
    tape.call_fact(a, "c1", status="pending")
    assert calls_of(tape.view(), a) == {}
    assert calls_of(tape.view(include_pending=True), a) == {"c1": "pending"}


def test_facts_compare_by_rank_and_then_by_order():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result_fact(a, "c1", "done")
    tape.result_fact(a, "c1", "still running", status="pending")
    assert result_of(tape.view(), a, "c1")[0] == "done"
    tape.result_fact(a, "c1", "failed", status="error")
    assert result_of(tape.view(), a, "c1")[0] == "failed"
    assert calls_of(tape.view(), a) == {"c1": "error"}
    tape.result_fact(a, "c1", "?", status="lost")
    assert result_of(tape.view(), a, "c1")[0] == "failed"


def test_a_call_fact_that_is_done_is_not_undone_by_a_later_unfinished_one():
    tape = Tape()
    a = tape.assistant("a")
    tape.call_fact(a, "c1", name="first")
    tape.call_fact(a, "c1", name="running", status="pending")
    (call,) = tape.view().messages[0].calls
    assert call.name == "first"
    tape.call_fact(a, "c1", name="second", status="error")
    (call,) = tape.view().messages[0].calls
    assert call.name == "second"


def test_a_result_fact_without_its_call_is_no_call():
    tape = Tape()
    a = tape.assistant("a")
    tape.result_fact(a, "c1", "of nothing")
    assert calls_of(tape.view(), a) == {}
    tape.call_fact(a, "c1")
    assert calls_of(tape.view(), a) == {"c1": "success"}


def test_only_assistant_messages_call():
    tape = Tape()
    u = tape.user("u")
    tape.call_fact(u, "c1")
    assert calls_of(tape.view(), u) == {}


# -- results -------------------------------------------------------------------------------


def test_a_result_that_names_its_owner_is_paired_there_and_nowhere_else():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    two = tape.assistant("two", calls=["c1"])
    r = tape.result("c1", "late, for the first", owner=one)
    view = tape.view()
    assert result_of(view, one, "c1") == ("late, for the first", r)
    assert result_of(view, two, "c1") is None


def test_unnamed_results_are_paired_among_the_calls_that_named_ones_leave():
    tape = Tape()
    one = tape.assistant("one", calls=["c1"])
    two = tape.assistant("two", calls=["c1"])
    tape.result("c1", "unnamed")
    tape.result("c1", "named", owner=two)
    view = tape.view()
    assert result_of(view, one, "c1")[0] == "unnamed"
    assert result_of(view, two, "c1")[0] == "named"


def test_the_first_result_message_that_is_no_interruption_is_the_result():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result("c1", "stopped", owner=a, interruption=True)
    tape.result("c1", "first", owner=a)
    tape.result("c1", "second", owner=a)
    assert result_of(tape.view(), a, "c1")[0] == "first"


def test_a_result_message_goes_before_a_newer_fact():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result("c1", "message", owner=a)
    tape.result_fact(a, "c1", "fact")
    assert result_of(tape.view(), a, "c1")[0] == "message"


def test_a_fact_goes_before_an_interruption():
    for owner in (True, False):
        tape = Tape()
        a = tape.assistant("a", calls=["c1"])
        tape.result("c1", "stopped", owner=a if owner else None, interruption=True)
        tape.result_fact(a, "c1", "it ended all the same")
        assert result_of(tape.view(), a, "c1") == ("it ended all the same", None)


def test_a_call_with_nothing_but_an_interruption_is_interrupted():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result("c1", "stopped", owner=a, interruption=True)
    tape.result("c1", "stopped again", owner=a, interruption=True)
    assert calls_of(tape.view(), a) == {"c1": "interrupted"}
    assert result_of(tape.view(), a, "c1")[0] == "stopped"


def test_of_two_interruptions_the_one_that_names_the_call_is_its_result():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result("c1", "unnamed", interruption=True)
    named = tape.result("c1", "named", owner=a, interruption=True)
    assert result_of(tape.view(), a, "c1") == ("named", named)
    assert tape.context().rows[1].entry_id == named


def test_a_call_whose_result_message_was_struck_has_no_result():
    """Not a fact's either: the user struck out what the tool gave back."""
    for owner in (True, False):
        tape = Tape()
        a = tape.assistant("a", calls=["c1"])
        r = tape.result("c1", "secret", owner=a if owner else None)
        tape.result_fact(a, "c1", "secret")
        tape.retract(r)
        assert calls_of(tape.view(), a) == {"c1": "pending"}


def test_a_result_that_is_an_error_says_so():
    tape = Tape()
    a = tape.assistant("a", calls=["c1", "c2"])
    tape.result("c1", "no such file", owner=a, is_error=True)
    tape.result_fact(a, "c2", "denied", status="error")
    assert calls_of(tape.view(), a) == {"c1": "error", "c2": "error"}


def test_a_running_result_shows_with_the_drafts_only():
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.result_fact(a, "c1", "so far", status="pending")
    assert result_of(tape.view(), a, "c1") is None
    assert result_of(tape.view(include_pending=True), a, "c1")[0] == "so far"
