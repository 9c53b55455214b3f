"""Every reason for leaving something out that is declared is produced, and no other."""

import pytest

from tapefold.domain.context import REASONS
from tapefold.testing import Tape

MADE = {}


def makes(reason):
    """Registers what writes a tape on which the entry `x` is left out for this reason."""

    def register(make):
        MADE[reason] = make
        return make

    return register


@makes("before_boundary")
def covered(tape):
    tape.user("Wood?", id="x")
    tape.compact("S")


@makes("call_summarised")
def result_of_a_covered_call(tape):
    tape.assistant("", id="a", calls=["c"])
    tape.user("Hurry")
    tape.compact("S")
    tape.result("c", "ok", "a", id="x")


@makes("call_left_out")
def result_of_an_edited_message(tape):
    tape.assistant("", id="a", calls=["c"])
    tape.result("c", "ok", "a", id="x")
    tape.edit("a")


@makes("no_call")
def stray_result(tape):
    tape.result("c", "ok", id="x")


@makes("duplicate_result")
def second_result(tape):
    tape.assistant("", id="a", calls=["c"])
    tape.result("c", "ok", "a")
    tape.result("c", "ok", "a", id="x")


@makes("edited_out")
def edited_out(tape):
    tape.user("Wood?", id="x")
    tape.edit("x")


@makes("superseded")
def superseded_edit(tape):
    tape.user("Wood?", id="u")
    tape.edit("u", "Which?", id="x")
    tape.revise("u", "What?")


@makes("excluded_by_record")
def excluded_command(tape):
    tape.message("bash_execution", "out", id="x", details={"exclude_from_context": True})


@makes("reasoning_only")
def thought(tape):
    tape.assistant([{"type": "thinking", "thinking": "Hm"}], id="x")


@makes("empty")
def said_nothing(tape):
    tape.assistant("", id="x")


def test_every_declared_reason_has_a_tape_that_produces_it():
    assert set(MADE) == set(REASONS)


@pytest.mark.parametrize("reason", MADE)
def test_a_reason_is_produced(reason, why):
    tape = Tape()
    MADE[reason](tape)
    context = tape.context()
    assert why(context)["x"] == reason
    assert "x" not in {row.entry_id for row in context.rows}


@pytest.mark.parametrize("reason", MADE)
def test_what_is_left_out_is_named_with_its_event_in_the_manifest(reason):
    tape = Tape()
    MADE[reason](tape)
    left = next(one for one in tape.context().manifest["excluded"] if one["entry_id"] == "x")
    assert left["reason"] == reason
    assert left["session_id"] == "s"
    event = tape.events[left["position"] - 1]
    assert event.head.entry_id == "x"


@pytest.mark.parametrize("reason", MADE)
def test_every_message_of_the_view_is_a_row_or_is_left_out(reason):
    tape = Tape()
    MADE[reason](tape)
    context = tape.context()
    rows = {row.entry_id for row in context.rows}
    left = {one.entry_id for one in context.excluded}
    messages = {message.entry_id for message in tape.view().messages}
    assert messages <= rows | left
    assert not rows & left
