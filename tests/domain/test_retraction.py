"""Retraction goes by order: it strikes what lies before it, and holds until a version revives."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold.testing import Tape, said
from tapefold.testing.scribbling import scribble
from tapefold.testing.strategies import families, strokes


def test_a_retracted_message_shows_on_no_branch():
    tape = Tape()
    q = tape.user("q")
    one = tape.assistant("one")
    two = tape.assistant("two", under=q)
    tape.retract(q)
    assert said(tape.view(one)) == ["assistant: one"]
    assert said(tape.view(two)) == ["assistant: two"]


def test_what_hangs_under_a_retracted_message_still_shows():
    tape = Tape()
    q = tape.user("q")
    tape.assistant("a")
    tape.user("next")
    tape.retract(q)
    assert said(tape.view()) == ["assistant: a", "user: next"]


def test_a_stream_that_finishes_late_does_not_bring_a_message_back():
    """The user struck the running answer out; its last version comes seconds later."""
    tape = Tape()
    tape.user("q")
    draft = tape.draft("...")
    tape.retract(draft)
    tape.finalize(draft, "the whole answer")
    assert said(tape.view(include_pending=True)) == ["user: q"]


def test_later_versions_of_a_struck_message_are_recorded_and_the_newest_can_be_restored():
    tape = Tape()
    draft = tape.draft("...")
    tape.retract(draft)
    tape.finalize(draft, "the whole answer")
    message = tape.state().message(draft)
    assert message.struck
    assert message.latest.seq == tape.position
    session = tape.session()
    session.restore(draft)
    assert said(session.view()) == ["assistant: the whole answer"]


def test_from_the_version_that_revives_on_versions_compete_again():
    tape = Tape()
    m = tape.user("one")
    tape.retract(m)
    tape.version(m, "struck")
    tape.version(m, "revived", revives=True)
    assert said(tape.view()) == ["user: revived"]
    tape.version(m, "newest")
    assert said(tape.view()) == ["user: newest"]


def test_a_draft_that_revives_does_not_let_struck_final_versions_show():
    tape = Tape()
    m = tape.assistant("struck")
    tape.retract(m)
    tape.redraft(m, "again", revives=True)
    assert said(tape.view()) == []
    assert said(tape.view(include_pending=True)) == ["assistant: again"]
    tape.finalize(m, "done")
    assert said(tape.view()) == ["assistant: done"]


def test_a_revived_message_can_be_struck_again():
    tape = Tape()
    m = tape.user("one")
    tape.retract(m)
    tape.version(m, "two", revives=True)
    tape.retract(m)
    assert said(tape.view()) == []


def test_a_retraction_before_the_first_version_strikes_nothing():
    """It strikes what lies before it, and nothing does."""
    tape = Tape()
    tape.retract("later")
    tape.user("hi", id="later")
    assert said(tape.view()) == ["user: hi"]


def test_one_retraction_strikes_several_messages():
    tape = Tape()
    q, a = tape.user("q"), tape.assistant("a")
    tape.user("next")
    tape.retract(q, a, "nobody")
    assert said(tape.view()) == ["user: next"]


def test_a_fork_strikes_what_it_inherits_and_the_parent_keeps_it():
    parent = Tape("p")
    q = parent.user("q")
    child = parent.fork("c")
    child.retract(q)
    assert said(child.view()) == []
    assert said(parent.view()) == ["user: q"]


def test_what_the_parent_strikes_after_the_fork_stays_in_the_child():
    parent = Tape("p")
    q = parent.user("q")
    child = parent.fork("c")
    parent.retract(q)
    assert said(child.view()) == ["user: q"]


def test_a_message_that_was_struck_before_the_fork_is_revived_by_the_child_alone():
    """All that is inherited comes first in the order, whatever the positions."""
    parent = Tape("p")
    q = parent.user("q")
    parent.title("a")
    parent.title("b")
    parent.retract(q)
    child = parent.fork("c")
    child.version(q, "revived", revives=True)
    assert said(child.view()) == ["user: revived"]
    assert said(parent.view()) == []


@given(families(), st.data())
def test_a_struck_message_never_shows_again_unless_it_is_revived(family, data):
    """Whatever comes later: versions, drafts, facts, moves, anchors."""
    tape = family[-1]
    struck = tape.user("struck", under=None)
    tape.retract(struck)
    scribble(data.draw(strokes()), on=tape)
    for status in ("pending", "sent", "error", "lost"):
        tape.version(struck, "late", status=status)
    for leaf in (struck, tape.leaf):
        view = tape.view(leaf, include_pending=True)
        assert struck not in {message.message_id for message in view.messages}
    tape.version(struck, "back", revives=True)
    assert "user: back" in said(tape.view(struck))


@given(families())
def test_the_view_shows_no_message_that_is_struck(family):
    for tape in family:
        state = tape.state()
        for message in tape.view(include_pending=True).messages:
            assert not state.message(message.message_id).struck


def test_the_position_of_the_last_change_counts_versions_retractions_and_facts():
    tape = Tape()
    m = tape.assistant("a", calls=["c1"])
    changes = [tape.state().changed(m)]
    for change in (
        lambda: tape.version(m, "b"),
        lambda: tape.call_fact(m, "c1"),
        lambda: tape.result_fact(m, "c1"),
        lambda: tape.result_fact(m, "c1", status="pending"),
        lambda: tape.retract(m),
        lambda: tape.version(m, "struck"),
    ):
        change()
        changes.append(tape.state().changed(m))
    assert changes == [2, 3, 4, 5, 6, 7, 8]
    tape.label(m, "x")
    assert tape.state().changed(m) == 8
    assert tape.state().changed("nobody") == 0
