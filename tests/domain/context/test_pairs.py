"""Calls and results stand paired, in call order, with nothing missing and nothing left over."""

from tapefold.testing import Tape, said


def talk(*steps):
    """A tape of lambdas; each takes it."""
    tape = Tape()
    for step in steps:
        step(tape)
    return tape


def call(id, *calls):
    return lambda t: t.assistant("", id=id, calls=calls)


def result(call_id, text, owner=None, **fields):
    return lambda t: t.result(call_id, text, owner, **fields)


def user(text):
    return lambda t: t.user(text, id=text)


def test_results_are_put_in_call_order_directly_after_their_message():
    tape = talk(call("a", "1", "2"), result("2", "two"), user("u"), result("1", "one"))
    assert said(tape.context()) == [
        "assistant: tool(1) tool(2)",
        "tool_result: one",
        "tool_result: two",
        "user: u",
    ]


def test_a_missing_result_becomes_an_interrupted_one_beside_its_call():
    tape = talk(call("a", "1", "2"), result("1", "one"), user("Never mind"))
    context = tape.context()
    assert said(context) == [
        "assistant: tool(1) tool(2)",
        "tool_result: one",
        "synthetic: interrupted",
        "user: Never mind",
    ]
    made_up = context.rows[2]
    assert (made_up.role, made_up.call_id, made_up.is_error) == ("tool_result", "2", True)
    assert (made_up.entry_id, made_up.position) == (None, None)


def test_a_made_up_result_is_never_written():
    tape = talk(call("a", "1"))
    before = tape.events
    assert said(tape.context()) == said(tape.context())
    assert tape.events == before


def test_the_last_call_of_all_gets_one_too():
    assert said(talk(call("a", "1")).context())[-1] == "synthetic: interrupted"


def test_a_result_without_a_call_is_left_out(why):
    tape = talk(user("u"), result("9", "stray", id="r"))
    assert said(tape.context()) == ["user: u"]
    assert why(tape.context()) == {"r": "no_call"}
    assert said(tape.view()) == ["user: u", "tool_result: stray"]


def test_of_two_results_the_first_is_sent_and_the_other_told(why):
    tape = talk(call("a", "1"), result("1", "one", id="r1"), result("1", "again", id="r2"))
    assert said(tape.context())[1:] == ["tool_result: one"]
    assert why(tape.context()) == {"r2": "duplicate_result"}


def test_a_real_result_wins_over_an_interruption(why):
    tape = talk(
        call("a", "1"), result("1", "stopped", id="i", interruption=True), result("1", "one")
    )
    assert said(tape.context())[1:] == ["tool_result: one"]
    assert why(tape.context()) == {"i": "duplicate_result"}


def test_an_interruption_that_was_recorded_is_sent_as_it_was_written():
    tape = talk(call("a", "1"), result("1", "stopped by Ada", interruption=True, is_error=True))
    assert said(tape.context())[1:] == ["tool_result: stopped by Ada"]
    assert tape.context().rows[1].is_error


def test_call_ids_that_are_used_again_are_paired_within_their_own_round():
    tape = talk(
        call("a1", "look"),
        result("look", "3"),
        call("a2", "look"),
        result("look", "5"),
        call("a3", "look"),
        user("Stop"),
    )
    assert said(tape.context()) == [
        "assistant: tool(look)",
        "tool_result: 3",
        "assistant: tool(look)",
        "tool_result: 5",
        "assistant: tool(look)",
        "synthetic: interrupted",
        "user: Stop",
    ]


def test_a_result_fact_stands_as_a_result():
    tape = talk(call("a", "1"), lambda t: t.result_fact("a", "1", "one", status="error"))
    row = tape.context().rows[1]
    assert (row.kind, row.role, row.call_id, row.is_error) == (
        "synthetic",
        "tool_result",
        "1",
        True,
    )
    assert (row.session_id, row.position, row.reason) == ("s", 3, "result_fact")
    assert said(tape.context())[1] == "synthetic: one"


def test_a_call_that_is_only_a_fact_is_put_into_its_message():
    tape = talk(
        lambda t: t.assistant("Let me", id="a"),
        lambda t: t.call_fact("a", "1", name="saw", arguments={"mm": 12}),
    )
    assert said(tape.context()) == ["assistant: Let me saw(1)", "synthetic: interrupted"]
    assert tape.context().rows[0].content[1].arguments == {"mm": 12}


def test_a_message_of_nothing_but_a_recorded_call_is_a_row():
    tape = talk(lambda t: t.assistant("", id="a"), lambda t: t.call_fact("a", "1", name="saw"))
    assert said(tape.context()) == ["assistant: saw(1)", "synthetic: interrupted"]


def test_a_call_that_stands_twice_in_a_message_is_sent_once():
    tape = Tape()
    block = {"type": "tool_call", "call_id": "1", "name": "saw"}
    tape.assistant([block, "and", block], id="a")
    tape.result("1", "sawn")
    assert said(tape.context()) == ["assistant: saw(1) and", "tool_result: sawn"]


def test_a_result_whose_call_is_summarised_is_left_out_and_is_no_orphan(why):
    tape = talk(user("u"), call("a", "1"), user("v"))
    tape.compact("S", keep="v")
    tape.result("1", "late", "a", id="r")
    assert said(tape.context()) == ["summary: S", "user: v"]
    assert why(tape.context()) == {
        "u": "before_boundary",
        "a": "before_boundary",
        "r": "call_summarised",
    }


def test_a_result_behind_an_imported_boundary_still_answers_its_call(why):
    """Another tool's boundary may lie between a result and the call that follows it."""
    tape = talk(user("u"), result("1", "early", id="r"), call("a", "1"))
    tape.compact("S", keep="a")
    assert said(tape.context()) == ["summary: S", "assistant: tool(1)", "tool_result: early"]
    assert why(tape.context()) == {"u": "before_boundary"}


def test_a_result_that_answers_a_struck_call_is_not_in_the_view_and_so_not_told(why):
    tape = talk(user("u"), call("a", "1"), result("1", "one", id="r"))
    tape.retract("a")
    assert said(tape.context()) == ["user: u"]
    assert why(tape.context()) == {}


def test_a_call_whose_result_was_struck_out_has_an_interrupted_one():
    tape = talk(call("a", "1"), result("1", "one", id="r"))
    tape.result_fact("a", "1", "by fact")
    tape.retract("r")
    assert said(tape.context()) == ["assistant: tool(1)", "synthetic: interrupted"]


def test_a_context_at_a_leaf_between_call_and_result_is_complete():
    tape = talk(user("u"), call("a", "1"), result("1", "one"))
    assert said(tape.context(leaf="a"))[-1] == "synthetic: interrupted"
    assert said(tape.context(leaf="a", at=tape.position)) == said(tape.context(leaf="a"))
