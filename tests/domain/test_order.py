"""The order of rows: the path's, unless messages carry order numbers."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.order import sort_rows
from tapefold.testing import Tape, event, said
from tapefold.testing import given as given_session


def numbered(tape, **fields):
    """Messages `{text: order number or None}` under each other."""
    for text, number in fields.items():
        tape.user(text, id=text, order_seq=number)
    return tape


def texts(view):
    return [message.content[0].text for message in view.messages]


def test_without_order_numbers_the_order_is_the_paths():
    assert texts(numbered(Tape(), c=None, a=None, b=None).view()) == ["c", "a", "b"]


def test_messages_with_an_order_number_sort_by_it_and_then_by_message_id():
    assert texts(numbered(Tape(), c=2, b=1, d=0, a=1).view()) == ["d", "a", "b", "c"]


def test_message_ids_are_compared_as_utf8_bytes():
    """Not as UTF-16, where a character beyond the first plane comes before U+FF61."""
    tape = Tape()
    for message_id in ("\U00010000", "｡", "z", "\udfff"):
        tape.user(message_id, id=message_id, order_seq=1)
    assert texts(tape.view()) == ["z", "\udfff", "｡", "\U00010000"]


def test_every_other_row_stays_behind_its_path_predecessor_and_leading_ones_first():
    tape = numbered(Tape(), lead=None, b=2, behind_b=None, also=None, a=1, behind_a=None)
    assert texts(tape.view()) == ["lead", "a", "behind_a", "b", "behind_b", "also"]


def test_a_version_without_an_order_number_keeps_the_messages_last():
    tape = numbered(Tape(), a=5, b=3)
    tape.version("a", "a2")
    assert texts(tape.view()) == ["b", "a2"]
    tape.version("a", "a3", order_seq=1)
    tape.version("a", "a4")
    assert texts(tape.view()) == ["a4", "b"]


def test_once_a_tape_carries_an_order_number_new_messages_get_the_next():
    (
        given_session()
        .user("a", order_seq=7)
        .user("b", order_seq=3)
        .when(lambda s: s.finalize("user", "c"))
        .then(event("message_finalized", order_seq=8))
        .when(lambda s: s.draft("assistant", "d", under="e3"))
        .then(event("message_drafted", order_seq=9))
    )


def test_a_number_on_any_branch_or_later_version_or_in_the_basis_counts():
    tape = Tape("p")
    a = tape.user("a", order_seq=1)
    tape.user("aside", under=None, order_seq=4)
    tape.version(a, "a", order_seq=6)
    child = tape.fork("c")
    tape.user("the parent goes on", order_seq=99)
    given_session(child).when(lambda s: s.finalize("user", "b")).then(
        event("message_finalized", order_seq=7)
    )


def test_without_any_number_new_messages_get_none():
    given_session().user("a").when(lambda s: s.finalize("user", "b")).then(
        event("message_finalized", order_seq=None)
    )


def test_summaries_and_results_of_a_fork_keep_to_the_order_too():
    parent = numbered(Tape("p"), a=5)
    child = parent.fork("c")
    child.user("b", order_seq=2)
    assert said(child.view()) == ["user: b", "user: a"]


@given(st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=12))
def test_the_order_is_that_of_the_rule_written_down(numbers):
    """Each row without a number is glued to the row before it on the path."""
    rows = [(n, f"m{i % 5}", i) for i, n in enumerate(numbers)]

    def key(row):
        return None if row[0] is None else (row[0], row[1])

    first = next((i for i, row in enumerate(rows) if row[0] is not None), len(rows))
    glued = [[row] for row in rows[first:] if row[0] is not None]
    at = -1
    for row in rows[first:]:
        if row[0] is not None:
            at += 1
        else:
            glued[at].append(row)
    expected = rows[:first] + [
        row for block in sorted(glued, key=lambda b: (b[0][0], b[0][1])) for row in block
    ]
    assert sort_rows(rows, key) == expected
