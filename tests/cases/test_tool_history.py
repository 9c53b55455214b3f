"""Cases of malformed tool histories: what a model is sent. The tape and the view keep all.

U is a user message, A1,2 an assistant calling 1 and 2, R1 a result of call 1; R' is a second one.
"""

import pytest

from tapefold.domain.nodes import MESSAGE
from tapefold.testing import Tape


def rows_of(*steps):
    """The rows of a context, named as the steps are; a made-up result of call 1 is I1."""
    tape = Tape()
    for step in steps:
        if step.startswith("U"):
            tape.user(step, id=step)
        elif step.startswith("A"):
            tape.assistant(step, id=step, calls=[c for c in step[1:].split(",") if c])
        else:
            tape.result(step[1:].rstrip("'"), step, id=step)
    context = tape.context()
    rows = [row.entry_id or f"I{row.call_id}" for row in context.rows]
    assert all(row.kind in (MESSAGE, "synthetic") for row in context.rows)
    return rows, {left.entry_id: left.reason for left in context.excluded}


def test_results_in_another_order_are_put_in_call_order():
    """T34"""
    assert rows_of("U", "A1,2", "R2", "R1") == (["U", "A1,2", "R1", "R2"], {})


def test_a_missing_result_is_made_up_beside_its_call():
    """T35"""
    assert rows_of("U", "A1,2", "R2", "U'") == (["U", "A1,2", "I1", "R2", "U'"], {})


@pytest.mark.parametrize(
    ("steps", "rows", "left"),
    [
        (["U", "R9", "A"], ["U", "A"], {"R9": "no_call"}),
        (["U", "A1", "R1", "R1'"], ["U", "A1", "R1"], {"R1'": "duplicate_result"}),
        (["R1", "U", "A1"], ["U", "A1", "R1"], {}),
    ],
    ids=["never called", "called once, answered twice", "answered before it was called"],
)
def test_stray_results_go_doubled_ones_give_way_and_early_ones_move(steps, rows, left):
    """T38"""
    assert rows_of(*steps) == (rows, left)


def test_a_result_that_comes_after_the_next_question_moves_to_its_call():
    """T41"""
    rows, left = rows_of("U", "A1,2", "R1", "U'", "R2")
    assert (rows, left) == (["U", "A1,2", "R1", "R2", "U'"], {})


def test_a_file_with_such_a_history_is_shown_as_it_is_and_sent_in_order(tool):
    """T38"""
    session = tool.read(
        tool.user("a"),
        tool.assistant("b", "a", "", calls=["1", "2"]),
        tool.result("r2", "b", "2"),
        tool.result("r9", "r2", "9"),
        tool.user("c", "r9"),
        tool.result("r1", "c", "1"),
    )
    assert session.said() == ["A", "saw(1) saw(2)", "R2", "R9", "C", "R1"]
    assert session.sent() == ["A", "saw(1) saw(2)", "R1", "R2", "C"]
    assert session.texts(tool.NAME) == ["A", "", "R2", "R9", "C", "R1"]  # as the tool itself
