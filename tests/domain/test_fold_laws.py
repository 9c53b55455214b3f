"""The laws of the fold, over random tapes of any shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapefold import BasisMissing, InvalidValue, OutOfOrder, State, fold
from tapefold.domain.heads import Head
from tapefold.testing import Tape
from tapefold.testing.strategies import families, tapes


@given(families(hostile=True), st.data())
def test_any_permutation_of_a_tape_folds_to_the_same_state(family, data):
    for tape in family:
        shuffled = data.draw(st.permutations(tape.events))
        assert fold(shuffled, tape.basis).describe() == tape.state().describe()


@given(families(hostile=True), st.data())
def test_folding_in_pieces_equals_folding_at_once(family, data):
    """Through copies and frozen states, at any point, any number of times."""
    for tape in family:
        cuts = data.draw(st.lists(st.sampled_from(["on", "copy", "freeze", "both"]), min_size=1))
        state = State(tape.session_id)
        state.inherit(tape.basis)
        for event, cut in zip(tape.events, cuts * len(tape.events), strict=False):
            state.apply(event)
            if cut == "copy":
                state = state.copy()
            elif cut == "freeze":
                state = state.freeze().copy()
            elif cut == "both":
                state.freeze()
                state = state.copy().copy()
        assert state.describe() == tape.state().describe()


@given(families(hostile=True), st.data())
def test_a_state_that_was_shared_never_changes_again(family, data):
    for tape in family:
        state = State(tape.session_id)
        state.inherit(tape.basis)
        kept = []
        for event in tape.events:
            state.apply(event)
            if data.draw(st.booleans()):
                frozen = state.freeze()
                kept.append((frozen, frozen.describe()))
        for frozen, then in kept:
            assert frozen.describe() == then


@given(families(hostile=True), st.data())
def test_the_fold_at_a_position_is_the_fold_of_the_events_up_to_it(family, data):
    for tape in family:
        at = data.draw(st.integers(1, tape.position))
        expected = fold(tape.events[:at], tape.basis).describe()
        assert fold(tape.events, tape.basis, at=at).describe() == expected


@given(tapes(), st.integers(-3, 60))
def test_apply_refuses_every_position_but_the_next(tape, position):
    state = tape.state()
    before = state.describe()
    if position == state.position + 1:
        state.apply_head(position, Head("usage_recorded"))
        return
    with pytest.raises(OutOfOrder) as error:
        state.apply_head(position, Head("usage_recorded"))
    assert (error.value.position, error.value.expected) == (position, tape.position + 1)
    assert "'s'" in str(error.value)
    assert state.describe() == before


@given(tapes(), st.data())
def test_a_tape_with_a_gap_or_a_doubled_position_is_refused(tape, data):
    tape.user("one")
    tape.user("two")
    at = data.draw(st.integers(1, tape.position - 1))
    gap = [event for event in tape.events if event.position != at]
    doubled = [*tape.events, tape.events[at - 1]]
    for events in (gap, doubled):
        with pytest.raises(OutOfOrder):
            fold(events)


def test_no_events_fold_to_an_empty_state():
    state = fold([])
    assert (state.position, state.leaf, len(state.entries)) == (0, None, 0)


def test_a_frozen_state_takes_no_events():
    tape = Tape()
    frozen = tape.state().freeze()
    with pytest.raises(InvalidValue, match="copy"):
        frozen.apply_head(2, Head("usage_recorded"))


def test_an_event_of_an_unknown_kind_is_refused_and_named():
    """A newer version wrote it; guessing would make a state that is wrong for good."""
    state = Tape().state()
    before = state.describe()
    with pytest.raises(InvalidValue, match=r"'s', position 2.*'message_sung'"):
        state.apply_head(2, Head("message_sung"))
    assert state.describe() == before


def test_a_basis_comes_before_the_first_event_or_not_at_all():
    tape = Tape()
    state = tape.state()
    with pytest.raises(InvalidValue, match="basis comes first"):
        state.inherit(Tape("other").state().freeze())


def test_a_forks_tape_does_not_fold_without_its_basis():
    parent = Tape("p")
    parent.user("hi")
    child = parent.fork("c")
    with pytest.raises(BasisMissing, match="'c' is a fork of 'p' at position 2"):
        fold(child.events)
    with pytest.raises(BasisMissing):
        fold(child.events, parent.state(at=1).freeze())
    assert fold(child.events, parent.state(at=2).freeze()).leaf == "e1"


def test_a_child_that_inherits_nothing_folds_alone():
    parent = Tape("p")
    parent.user("hi")
    child = parent.fork("c", inherit=False)
    assert fold(child.events).leaf is None
    assert fold(child.events).origin.session_id == "p"


def test_every_event_is_located_on_the_tape_that_holds_it():
    parent = Tape("p")
    parent.user("one")
    parent.user("two")
    child = parent.fork("c", at=2)
    child.user("three")
    state = child.state()
    places = [state.locate(seq) for seq in range(1, state.seq + 1)]
    assert places == [("p", 1), ("p", 2), ("c", 1), ("c", 2)]
    with pytest.raises(InvalidValue, match="begin at 1"):
        state.locate(0)


def test_two_equal_states_describe_themselves_equally_and_others_do_not():
    tape = Tape()
    tape.user("hi")
    state = tape.state()
    tape.retract("e1")
    assert tape.state(at=2).describe() == state.describe()
    assert tape.state().describe() != state.describe()


def test_a_provenance_key_names_its_first_delivery_on_the_tape_and_in_the_basis():
    """A tape by others may use a key twice; the answer to a retry stays the same."""
    parent = Tape("p")
    parent.user("first", key="k", request="one")
    parent.user("second", key="k", request="two")
    child = parent.fork("c")
    child.user("third", key="k", request="three")
    for state in (parent.state(), child.state()):
        assert (state.keys.get("k").seq, state.keys.get("k").request) == (2, "one")
        assert state.locate(2) == ("p", 2)
