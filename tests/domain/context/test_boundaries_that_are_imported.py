"""Imported anchors name any node, a node that does not exist, or the rows that they replace."""

import pytest

from tapefold.domain.events import Labelled
from tapefold.testing import Tape, said


@pytest.mark.parametrize(
    ("write", "kept"),
    [
        (lambda t: t.model("oak-2", id="x"), ["user: Paint?"]),
        (lambda t: t.thinking("high", id="x"), ["user: Paint?"]),
        (lambda t: t.custom(id="x"), ["user: Paint?"]),
        (lambda t: t.foreign("{", id="x"), ["user: Paint?"]),
        (lambda t: t.edit("u1", id="x"), ["user: Paint?"]),
        (
            lambda t: t.branch_summary("a1", "Pale", id="x"),
            ["branch_summary: Pale", "user: Paint?"],
        ),
        (lambda t: t.compact("OLD", id="x"), ["user: Paint?"]),
        (
            lambda t: t.add_mark(
                Labelled, targets=("u1",), entry_id="x", parent_id="a2", stands_for="a2"
            ),
            ["user: Paint?"],
        ),
    ],
    ids=["model", "thinking", "custom", "foreign", "edit", "branch summary", "anchor", "mark"],
)
def test_a_boundary_may_be_any_node_of_the_path(talk, codes, write, kept):
    write(talk)
    talk.user("Paint?", parent_id="x", takes_leaf=True)
    talk.compact("S", keep="x")
    assert said(talk.context()) == ["summary: S", *kept]
    assert "boundary_missing" not in codes(talk.context())


@pytest.mark.parametrize("boundary", ["nowhere", "side", "later"])
def test_a_boundary_that_is_not_before_the_anchor_keeps_nothing_and_says_so(talk, codes, boundary):
    talk.user("Beech?", id="side", under="u1")
    talk.compact("S", id="k", keep=boundary)
    talk.user("Paint?", id="later")
    context = talk.context()
    assert said(context) == ["summary: S", "user: Paint?"]
    assert codes(context) == ["boundary_missing"]
    assert context.warnings[0].entry_ids == ("k",)


def test_a_struck_message_may_be_the_boundary(talk):
    talk.retract("u2")
    talk.compact("S", keep="u2")
    assert said(talk.context()) == ["summary: S", "assistant: Hide glue."]


# -- anchors that list what they replace -----------------------------------------------------------


def test_listed_entries_are_replaced_where_the_first_of_them_stood(talk):
    talk.compact("S", replaces=("a1", "u2"))
    assert said(talk.context()) == ["user: Wood?", "summary: S", "assistant: Hide glue."]


def test_where_no_listed_entry_is_there_the_summary_stands_at_the_end(talk):
    talk.compact("S", replaces=("nowhere",))
    talk.user("Paint?")
    assert said(talk.context())[-3:] == ["assistant: Hide glue.", "summary: S", "user: Paint?"]


def test_an_empty_list_replaces_nothing(talk):
    talk.compact("S", replaces=())
    assert said(talk.context()) == [*said(talk.view()), "summary: S"]


def test_a_list_may_name_an_older_summary(talk):
    talk.compact("ONE", id="k1", replaces=("u1", "a1"))
    talk.compact("TWO", replaces=("k1", "u2"))
    assert said(talk.context()) == ["summary: TWO", "assistant: Hide glue."]


def test_rows_that_one_list_removed_do_not_come_back_by_the_next(talk):
    talk.compact("ONE", replaces=("u1", "a1"))
    talk.compact("TWO", replaces=("u2",))
    assert said(talk.context()) == ["summary: ONE", "summary: TWO", "assistant: Hide glue."]


def test_listed_entries_are_left_out_with_a_reason(talk, why):
    talk.compact("S", replaces=("a1",))
    assert why(talk.context()) == {"a1": "before_boundary"}


def test_the_list_wins_over_a_boundary_beside_it(talk):
    talk.compact("S", keep="a2", replaces=("u1",))
    assert said(talk.context())[:2] == ["summary: S", "assistant: Oak."]


# -- cumulative anchors ---------------------------------------------------------------------------


@pytest.fixture
def twice(talk):
    """Two compactions as Tau writes them; the second keeps from `boundary` on."""

    def of(boundary, cumulative=True):
        talk.compact("S1", id="k1", keep="u2", cumulative=cumulative)
        talk.user("Paint?", id="u3")
        talk.assistant("Red.", id="a3")
        talk.compact("S2", id="k2", keep=boundary, cumulative=cumulative)
        return said(talk.context())

    return of


def test_a_cumulative_anchor_leaves_an_older_summary_where_it_stands(twice):
    assert twice("u2") == [
        "summary: S2",
        "user: Glue?",
        "assistant: Hide glue.",
        "summary: S1",
        "user: Paint?",
        "assistant: Red.",
    ]


def test_a_plain_anchor_does_not(twice):
    assert twice("u2", cumulative=False) == [
        "summary: S2",
        "user: Glue?",
        "assistant: Hide glue.",
        "user: Paint?",
        "assistant: Red.",
    ]


@pytest.mark.parametrize("cumulative", [True, False])
def test_an_older_summary_behind_the_boundary_is_gone(twice, cumulative):
    assert twice("u3", cumulative) == ["summary: S2", "user: Paint?", "assistant: Red."]


def test_what_an_older_cumulative_anchor_dropped_does_not_come_back(twice):
    assert "user: Wood?" not in twice("u1")
    assert "assistant: Oak." not in twice("a1")


def test_an_older_summary_may_be_the_boundary_of_a_cumulative_anchor(twice):
    assert twice("k1") == ["summary: S2", "summary: S1", "user: Paint?", "assistant: Red."]


def test_a_reset_ends_what_cumulates(talk):
    talk.compact("S1", keep="u2", cumulative=True)
    talk.reset()
    talk.compact("S2", keep="a1", cumulative=True)
    assert said(talk.context())[:2] == ["summary: S2", "assistant: Oak."]
    assert "summary: S1" not in said(talk.context())


def test_a_plain_anchor_ends_what_cumulates(talk):
    talk.compact("S1", keep="u2", cumulative=True)
    talk.compact("S2", keep="a1")
    assert said(talk.context())[:2] == ["summary: S2", "assistant: Oak."]


def test_messages_that_a_summary_carries_in_itself_follow_it():
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.compact(
        "S",
        kept=[
            {"role": "user", "content": [{"type": "text", "text": "Cut the roof"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Cut."}]},
        ],
    )
    tape.user("Next?")
    assert said(tape.context()) == [
        "summary: S",
        "user: Cut the roof",
        "assistant: Cut.",
        "user: Next?",
    ]


def carries(*messages):
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.compact("S", id="k", kept=list(messages))
    return tape.context()


def text(role, words, **fields):
    return {"role": role, "content": [{"type": "text", "text": words}], **fields}


def call(call_id):
    block = {"type": "tool_call", "call_id": call_id, "name": "saw"}
    return {"role": "assistant", "content": [block]}


def test_calls_and_results_that_a_summary_carries_are_paired():
    context = carries(
        call("1"),
        text("user", "So?"),
        text("tool_result", "sawn", call_id="1", is_error=True),
        text("tool_result", "stray", call_id="9"),
        call("2"),
    )
    assert said(context) == [
        "summary: S",
        "assistant: saw(1)",
        "tool_result: sawn",
        "user: So?",
        "assistant: saw(2)",
        "synthetic: interrupted",
    ]
    assert (context.rows[2].call_id, context.rows[2].is_error) == ("1", True)


@pytest.mark.parametrize(
    "odd",
    [7, "text", [], None, {}, {"role": None}, {"role": "tool_result"}, text("user", " ")],
    ids=str,
)
def test_what_is_no_message_among_those_that_a_summary_carries_is_passed_over(odd):
    assert said(carries(odd, text("user", "Next?"))) == ["summary: S", "user: Next?"]
