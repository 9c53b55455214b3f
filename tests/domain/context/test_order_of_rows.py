"""Rows are selected on the path, then sorted by order number; a summary in front stays there."""

from tapefold.testing import Tape, said


def numbered(*messages):
    """User messages of (text, order number), in the order of the tape."""
    tape = Tape()
    for text, number in messages:
        tape.user(text, id=text, order_seq=number)
    return tape


def test_rows_with_order_numbers_sort_by_them():
    assert said(numbered(("b", 2), ("a", 1), ("c", 3)).context()) == [
        "user: a",
        "user: b",
        "user: c",
    ]


def test_equal_numbers_sort_by_the_bytes_of_the_message_id():
    tape = numbered(("é", 1), ("a", 1), ("Z", 1), ("🪵", 1), ("\uffff", 1))
    assert said(tape.context()) == ["user: Z", "user: a", "user: é", "user: \uffff", "user: 🪵"]


def test_rows_without_a_number_stay_behind_their_predecessor_on_the_path():
    tape = numbered(("lead", None), ("b", 2), ("behind b", None), ("a", 1), ("behind a", None))
    assert said(tape.context()) == [
        "user: lead",
        "user: a",
        "user: behind a",
        "user: b",
        "user: behind b",
    ]


def test_a_branch_summary_moves_with_its_predecessor():
    tape = numbered(("b", 2))
    tape.branch_summary("b", "Pale")
    tape.user("a", order_seq=1)
    assert said(tape.context()) == ["user: a", "user: b", "branch_summary: Pale"]


def test_the_boundary_is_a_place_on_the_path_not_in_the_sorted_rows():
    """`late` has the lowest number, but it stands after the boundary: it is kept."""
    tape = numbered(("b", 2), ("c", 3))
    tape.compact("S", keep="c")
    tape.user("late", order_seq=1)
    assert said(tape.context()) == ["summary: S", "user: late", "user: c"]


def test_the_summary_is_first_even_before_rows_without_a_number():
    tape = numbered(("b", 2), ("plain", None), ("a", 1))
    tape.compact("S", keep="plain")
    assert said(tape.context()) == ["summary: S", "user: plain", "user: a"]


def test_rows_around_a_listing_anchor_are_sorted_as_well():
    """Its summary is no message: it stays behind the row that it stands after on the path."""
    tape = numbered(("c", 3), ("gone", 9), ("b", 2), ("a", 1))
    tape.compact("S", replaces=("gone",))
    assert said(tape.context()) == ["user: a", "user: b", "user: c", "summary: S"]


def test_results_stand_beside_their_calls_whatever_their_numbers():
    tape = Tape()
    tape.assistant("", id="a", calls=["c1", "c2"], order_seq=5)
    tape.result("c2", "two", "a", order_seq=1)
    tape.user("next", order_seq=2)
    tape.result("c1", "one", "a", order_seq=9)
    assert said(tape.context()) == [
        "user: next",
        "assistant: tool(c1) tool(c2)",
        "tool_result: one",
        "tool_result: two",
    ]


def test_without_order_numbers_the_path_is_the_order():
    tape = Tape()
    for text in ("c", "a", "b"):
        tape.user(text, id=text)
    assert said(tape.context()) == ["user: c", "user: a", "user: b"]
