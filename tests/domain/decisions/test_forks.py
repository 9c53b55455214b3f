"""A fork is two small events; the child inherits the parent up to there, frozen."""

import pytest

from tapefold.domain.errors import InvalidValue, PositionOutOfRange, UnknownEntry
from tapefold.domain.session import Session


@pytest.fixture
def talk(session):
    """u1 - a1."""
    session.finalize("user", "Wood?", message_id="u1")
    session.finalize("assistant", "Oak.", message_id="a1")
    return session


@pytest.fixture
def tapes(talk):
    """All events of some sessions, as a store would serve them."""

    class Tapes:
        def __init__(self):
            self.known = {}

        def of(self, *sessions):
            for one in sessions:
                self.known[one.id] = {e.position: e for e in one.pending_events}
                one.tapes = self
            return self

        def events_at(self, session_id, positions):
            return [self.known[session_id][p] for p in positions]

    return Tapes()


def test_a_fork_is_one_event_on_the_parent_and_one_on_the_child(talk):
    before = talk.version
    child, receipt = talk.fork(fork_id="f")
    assert receipt.position == talk.version == before + 1
    assert talk.pending_events[-1].head.kind == "forked"
    assert [e.head.kind for e in child.pending_events] == ["session_started"]
    assert len(child.collect_events()) == 1


def test_the_child_says_where_it_comes_from(talk):
    child, _ = talk.fork(fork_id="f")
    origin = child.pending_events[0].head.origin
    assert (origin.session_id, origin.position, origin.leaf, origin.inherit) == (
        "s",
        3,
        "a1",
        True,
    )


def test_the_receipt_says_where_the_child_is(talk):
    child, _ = talk.fork(fork_id="f")
    body = talk.pending_events[-1].body
    assert (body.child, body.fork_id, body.position, body.leaf) == (child.id, "f", 3, "a1")


def test_a_child_shows_what_the_parent_showed(talk, tapes, said):
    child, _ = talk.fork()
    tapes.of(talk, child)
    assert said(child) == ["Wood?", "Oak."]
    assert child.view().messages[0].session_id == "s"


def test_whatever_the_parent_does_later_the_child_keeps_its_view(talk, tapes, said):
    child, _ = talk.fork()
    talk.revise("a1", "Beech.")
    talk.retract("u1")
    talk.finalize("user", "Glue?")
    talk.move_leaf(None)
    talk.set_title("Other")
    tapes.of(talk, child)
    assert said(child) == ["Wood?", "Oak."]
    assert child.view().name is None


def test_whatever_the_child_does_the_parent_keeps_its_view(talk, tapes, said):
    child, _ = talk.fork()
    child.retract("u1")
    child.revise("a1", "Beech.")
    child.compact("All of it", first_kept=None)
    tapes.of(talk, child)
    assert said(talk) == ["Wood?", "Oak."]
    assert [row.kind for row in talk.context().rows] == ["message", "message"]
    assert said(child) == ["Beech."]


def test_marks_of_a_child_may_speak_of_what_it_inherits(talk, tapes, said):
    child, _ = talk.fork()
    child.label("u1", "start")
    child.edit_context("a1", "Some wood.")
    child.retract("u1")
    tapes.of(talk, child)
    child.restore("u1")
    assert child.view().labels == {"u1": "start"}
    assert said(child) == ["Wood?", "Oak."]


def test_a_fork_begins_at_the_parent_s_leaf(talk):
    talk.move_leaf("u1")
    child, _ = talk.fork()
    assert child.state.leaf == "u1"


def test_a_fork_begins_above_an_unfinished_draft(talk):
    talk.draft("assistant", "Hm", message_id="d")
    talk.draft("assistant", "Hm, hm", message_id="below")
    child, _ = talk.fork()
    assert child.state.leaf == "a1"


def test_a_fork_begins_at_a_leaf_that_is_named(talk):
    talk.draft("assistant", "Hm", message_id="d")
    assert talk.fork(leaf="u1")[0].state.leaf == "u1"
    assert talk.fork(leaf="d")[0].state.leaf == "d"


def test_the_empty_path_is_written_as_such(talk):
    child, _ = talk.fork(leaf=None)
    stored = child.pending_events[0].head.to_json()
    assert stored["origin"]["leaf"] is None
    assert child.state.leaf is None


def test_a_leaf_that_does_not_exist_is_refused_and_nothing_is_written(talk):
    before = talk.version
    with pytest.raises(UnknownEntry):
        talk.fork(leaf="zz")
    assert talk.version == before


def test_a_fork_at_an_older_position_sees_the_tape_as_it_was(talk, tapes, said):
    older = talk.state.freeze()
    talk.finalize("user", "Glue?")
    talk.revise("u1", "Which wood?")
    child, receipt = talk.fork(at=older, fork_id="old")
    assert talk.pending_events[-1].body.position == 3
    assert receipt.position == 6
    tapes.of(talk, child)
    assert said(child) == ["Wood?", "Oak."]


def test_a_state_of_another_session_or_of_the_future_is_no_point_to_fork_at(talk):
    other = Session.start("other")
    other.finalize("user", "Hello")
    with pytest.raises(PositionOutOfRange):
        talk.fork(at=other.state.freeze())
    ahead = talk.state.copy()
    ahead.apply_head(4, talk.pending_events[-1].head)
    with pytest.raises(PositionOutOfRange):
        talk.fork(at=ahead.freeze())


def test_a_child_may_start_empty(talk, said):
    child, _ = talk.fork(inherit=False, title="Measure")
    assert said(child) == []
    assert child.basis is None
    assert child.pending_events[0].head.origin.inherit is False
    child.finalize("user", "Measure it", message_id="u1")  # the id is free here
    assert said(child) == ["Measure it"]


def test_a_child_has_a_title_of_its_own(talk, tapes):
    talk.set_title("Bird box")
    child, _ = talk.fork(title="Bird\n box, in beech")
    tapes.of(talk, child)
    assert child.view().name == "Bird box, in beech"


def test_forks_of_forks_inherit_all_the_way_down(talk, tapes, said):
    tip = talk
    sessions = [talk]
    for number in range(12):
        tip, _ = tip.fork()
        tip.finalize("user", str(number))
        sessions.append(tip)
    tapes.of(*sessions)
    assert said(tip) == ["Wood?", "Oak.", *(str(n) for n in range(12))]


def test_a_child_s_anchor_never_takes_over_the_parent_s_context(talk, sent):
    child, _ = talk.fork()
    child.hand_off("All of it")
    assert sent(talk) == [("message", "Wood?"), ("message", "Oak.")]


def test_an_anchor_of_the_parent_rules_in_the_child(talk, tapes, sent):
    talk.compact("All of it", first_kept=None)
    child, _ = talk.fork()
    tapes.of(talk, child)
    assert sent(child) == [("summary", "All of it")]


@pytest.mark.parametrize(
    "wrong", [{"title": 5}, {"directory": 5}, {"child_id": "a\nb"}, {"child_id": "s"}]
)
def test_a_fork_that_is_refused_writes_nothing(talk, wrong):
    before = talk.version
    with pytest.raises(InvalidValue):
        talk.fork(**wrong)
    assert talk.version == before
    assert talk.take_born() == []
