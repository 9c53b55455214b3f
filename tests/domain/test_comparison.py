"""What differs between two views of a session, or of two."""

from tapefold.domain.comparison import compare_views
from tapefold.testing import Tape


def told(comparison):
    return [(d.op, d.item.entry_id, *d.changes) for d in comparison.differences]


def talk():
    tape = Tape()
    tape.user("How long?", id="q")
    tape.assistant("118 cm, I think.", id="a")
    tape.user("And the right one?", id="q2")
    return tape


def test_the_same_view_has_no_difference():
    tape = talk()
    comparison = compare_views(tape.view(), tape.view())
    assert not comparison
    assert (comparison.common, comparison.same) == (3, 3)


def test_what_came_later_is_only_in_b_behind_a_common_beginning():
    tape = talk()
    comparison = compare_views(tape.view(at=3), tape.view())
    assert told(comparison) == [("only_b", "q2")]
    assert (comparison.common, comparison.same) == (2, 2)


def test_two_branches_differ_from_where_they_part():
    tape = talk()
    tape.user("Is it birch?", id="w", under="a", takes_leaf=False)
    comparison = compare_views(tape.view("q2"), tape.view("w"))
    assert told(comparison) == [("only_a", "q2"), ("only_b", "w")]
    assert comparison.common == 2


def test_a_revision_is_told_by_its_words():
    tape = talk()
    before = tape.view()
    tape.revise("a", "118 cm, I measured.")
    (difference,) = compare_views(before, tape.view()).differences
    assert (difference.op, difference.changes) == ("changed", ("text",))
    assert [tuple(piece) for piece in difference.text] == [
        ("=", "118 cm, I "),
        ("-", "think"),
        ("+", "measured"),
        ("=", "."),
    ]


def test_a_shell_command_that_was_revised_is_told_by_its_words():
    tape = Tape()
    tape.message("bash_execution", "0,1", id="b", details={"command": "head beam.csv"})
    before = tape.view()
    tape.revise("b", "0,1", details={"command": "tail beam.csv"})
    (difference,) = compare_views(before, tape.view()).differences
    assert (difference.op, difference.changes) == ("changed", ("text",))
    assert ("-", "head") in [tuple(piece) for piece in difference.text]


def test_a_struck_message_is_struck_one_way_and_restored_the_other():
    tape = talk()
    before = tape.view()
    tape.retract("a")
    assert told(compare_views(before, tape.view())) == [("struck", "a")]
    assert told(compare_views(tape.view(), before)) == [("restored", "a")]


def test_a_message_on_a_path_that_b_left_is_not_struck_but_only_in_a():
    tape = talk()
    before = tape.view()
    tape.retract("q2")
    assert told(compare_views(before, tape.view("a"))) == [("only_a", "q2")]


def test_a_call_that_was_answered_is_a_difference_of_its_message():
    tape = Tape()
    call = {"type": "tool_call", "call_id": "c", "name": "measure", "arguments": {"side": 1}}
    tape.assistant([call], id="a")
    before = tape.view()
    tape.result("c", "118 cm", id="r")
    found = compare_views(before, tape.view()).differences
    assert [(d.op, d.item.entry_id, d.in_its_call) for d in found] == [
        ("changed", "a", False),
        ("only_b", "r", True),
    ]
    (call_difference,) = found[0].calls
    assert call_difference.a.status == "pending"
    assert call_difference.b.status == "success"


def test_a_result_that_no_call_of_a_difference_tells_of_stands_for_itself():
    tape = Tape()
    call = {"type": "tool_call", "call_id": "c", "name": "measure"}
    tape.assistant([call], id="a", order_seq=1)
    tape.result("c", "118 cm", id="r", order_seq=2)
    tape.user("Thanks", id="u", order_seq=3)
    tape.user("Bye", id="v", order_seq=4)
    before = tape.view()
    tape.revise("r", "118 cm", role="tool_result", call_ids=("c",), order_seq=9)
    found = compare_views(before, tape.view()).differences
    assert [(d.item.entry_id, d.changes) for d in found] == [("r", ("place",))]
    assert not found[0].in_its_call


def test_settings_labels_and_title_tell_both_sides():
    tape = talk()
    before = tape.view()
    tape.label("a", "the length")
    tape.assistant("Birch.", model="m-2", provider="p", id="b")
    comparison = compare_views(before, tape.view())
    assert comparison.settings == {"model": (None, "m-2"), "provider": (None, "p")}
    assert comparison.labels == {"a": (None, "the length")}
    assert comparison.title is None


def test_messages_that_stand_elsewhere_are_in_both():
    tape = Tape()
    for n, name in enumerate("abcd"):
        tape.user(name, id=name, order_seq=n + 1)
    before = tape.view()
    tape.revise("a", "a", order_seq=9)
    comparison = compare_views(before, tape.view())
    assert told(comparison) == [("changed", "a", "place")]
    assert comparison.same == 3


def test_a_fork_is_compared_by_the_messages_that_it_shares_with_its_parent():
    tape = talk()
    child = tape.fork("kid")
    child.revise("a", "117 cm, I think.")
    child.user("Mine", id="m")
    comparison = compare_views(tape.view(), child.view())
    assert comparison.related
    assert told(comparison) == [("changed", "a", "text"), ("only_b", "m")]


def test_sessions_without_a_common_history_are_compared_by_what_they_say():
    """Ids say nothing here: counters as ids make strangers look related."""
    one, other = talk(), Tape("other")
    other.user("How long?", id="x1")
    other.user("Something else", id="a")
    other.user("And the right one?", id="q2")
    comparison = compare_views(one.view(), other.view())
    assert not comparison.related
    assert told(comparison) == [("only_a", "a"), ("only_b", "a")]
    assert (comparison.common, comparison.same) == (1, 2)


def test_an_anchor_is_compared_as_well():
    tape = talk()
    before = tape.view()
    tape.compact("They measured.", first_kept="q2", id="k")
    assert told(compare_views(before, tape.view())) == [("only_b", "k")]
