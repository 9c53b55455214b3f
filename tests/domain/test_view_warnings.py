"""Answers that a user would miss: final beside the path, right below it, after the last move."""

from tapefold.testing import Tape


def missed(view):
    return [entry for w in view.warnings if w.code == "answer_off_path" for entry in w.entry_ids]


def test_an_answer_that_became_final_beside_the_path_is_named():
    """Somebody asked on while the answer was on its way."""
    tape = Tape()
    q = tape.user("q")
    tape.user("and another thing")
    answer = tape.assistant("the answer to q", under=q)
    (warning,) = tape.view().warnings
    assert warning.entry_ids == (answer,)
    assert "as leaf" in warning.text


def test_several_are_named_in_the_order_in_which_they_became_final():
    tape = Tape()
    q = tape.user("q")
    late = tape.draft("...", under=q, takes_leaf=False)
    tape.user("next")
    early = tape.assistant("one", under=q)
    tape.finalize(late, "two")
    assert missed(tape.view()) == [early, late]


def test_an_answer_that_was_drafted_at_once_stays_on_the_path():
    tape = Tape()
    tape.user("q")
    draft = tape.draft("...")
    tape.user("and another thing")
    tape.finalize(draft, "the answer")
    assert missed(tape.view()) == []


def test_the_users_own_move_away_from_an_answer_is_no_reason_to_warn():
    tape = Tape()
    q = tape.user("q")
    tape.assistant("a")
    tape.move_leaf(q)
    assert missed(tape.view()) == []
    tape.assistant("b")
    assert missed(tape.view()) == []


def test_an_answer_that_ends_after_the_leaf_was_moved_away_from_it_is_named():
    tape = Tape()
    q = tape.user("q")
    draft = tape.draft("...")
    tape.move_leaf(q)
    tape.finalize(draft, "late")
    assert missed(tape.view()) == [draft]


def test_once_the_leaf_is_moved_to_the_answer_the_warning_ends():
    tape = Tape()
    q = tape.user("q")
    tape.user("next")
    answer = tape.assistant("aside", under=q)
    tape.move_leaf(answer)
    assert missed(tape.view()) == []


def test_what_hangs_deeper_or_is_no_answer_or_is_struck_or_unfinished_is_not_named():
    tape = Tape()
    q = tape.user("q")
    tape.user("next")
    aside = tape.user("not an answer", under=q)
    tape.assistant("below the aside", under=aside)
    tape.draft("unfinished", under=q)
    struck = tape.assistant("struck", under=q)
    tape.retract(struck)
    assert missed(tape.view()) == []


def test_a_fork_does_not_warn_of_what_its_parent_left_aside():
    """Beginning at a leaf is a choice of it."""
    parent = Tape("p")
    q = parent.user("q")
    parent.user("next")
    parent.assistant("aside", under=q)
    child = parent.fork("c")
    assert missed(parent.view()) != []
    assert missed(child.view()) == []
    answer = child.assistant("the child's own", under=q)
    assert missed(child.view()) == [answer]


def test_an_answer_below_a_mark_hangs_under_the_entry_that_the_mark_stands_for():
    tape = Tape()
    q = tape.user("q")
    tape.usage(1, entry_id="mark", parent_id=q, stands_for=q)
    tape.user("next", parent_id="mark", takes_leaf=True)
    answer = tape.assistant("aside", parent_id="mark", takes_leaf=False)
    assert missed(tape.view()) == [answer]
