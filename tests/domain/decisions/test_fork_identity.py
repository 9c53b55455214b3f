"""Fork ids, child ids, and what a child inherits of ids and provenance keys."""

import pytest

from tapefold.domain.errors import (
    BasisMissing,
    DuplicateId,
    InvalidValue,
    ProvenanceConflict,
    UnknownEntry,
)
from tapefold.domain.kernel import fold
from tapefold.domain.session import Session


@pytest.fixture
def talk(session):
    """u1 - a1, said with keys."""
    session.finalize("user", "Wood?", message_id="u1", key="k-u1")
    session.finalize("assistant", "Oak.", message_id="a1", key="k-a1")
    return session


def test_a_child_is_an_incarnation_of_its_own(talk):
    bodies = [one.pending_events[0].body for one in (talk, talk.fork()[0], talk.fork()[0])]
    assert all(body.incarnation for body in bodies)
    assert len({body.incarnation for body in bodies}) == 3


def test_a_child_s_id_tells_its_parent_and_its_fork_id(talk):
    child, _ = talk.fork(fork_id="beech")
    assert child.id == "s::fork::beech"


def test_an_id_that_would_be_too_long_is_a_new_one(talk):
    child, _ = talk.fork(fork_id="x" * 250)
    assert child.id == "s1"  # from the defaults
    assert child.pending_events[0].head.origin.session_id == "s"


def test_the_longest_id_that_fits_is_used(talk):
    child, _ = talk.fork(fork_id="x" * (255 - len("s::fork::")))
    assert len(child.id) == 255


def test_a_child_may_be_given_an_id(talk):
    assert talk.fork(child_id="beech")[0].id == "beech"


def test_a_session_cannot_be_its_own_fork(talk):
    with pytest.raises(InvalidValue, match="own fork"):
        talk.fork(child_id="s")


@pytest.mark.parametrize("fork_id", ["", "a\x00b", "x" * 256, 7])
def test_a_fork_id_is_an_id(talk, fork_id):
    with pytest.raises(InvalidValue, match="fork_id"):
        talk.fork(fork_id=fork_id)


def test_the_same_fork_again_is_the_first_one_although_the_parent_grew(talk):
    _, first = talk.fork(fork_id="f")
    talk.finalize("user", "Glue?")
    before = talk.version
    child, again = talk.fork(fork_id="f")
    assert child is None
    assert (again.session_id, again.position, again.changed) == ("s", first.position, False)
    assert talk.version == before


def test_the_same_fork_id_for_another_fork_is_a_conflict(talk):
    talk.fork(fork_id="f")
    for other in ({"leaf": "u1"}, {"inherit": False}, {"child_id": "c"}):
        with pytest.raises(ProvenanceConflict):
            talk.fork(fork_id="f", **other)


def test_forks_without_a_fork_id_are_always_new(talk):
    assert talk.fork()[0].id != talk.fork()[0].id


def test_a_fork_id_is_its_parent_s_own(talk):
    """A child inherits the keys of its parent: its fork "a" was answered with the parent's."""
    talk.fork(fork_id="a")
    child, _ = talk.fork(fork_id="b")
    grandchild, receipt = child.fork(fork_id="a")
    assert receipt.session_id == "s::fork::b"
    assert grandchild.id == "s::fork::b::fork::a"


def test_a_fork_takes_no_provenance_key_beside_its_fork_id(talk):
    with pytest.raises(InvalidValue, match="fork_id"):
        talk.fork(key="k")


def test_a_host_s_key_never_collides_with_a_fork_id(talk):
    talk.finalize("user", "Glue?", key="fork:f")
    assert talk.fork(fork_id="f")[0] is not None


def test_a_delivery_before_the_fork_is_known_in_the_child(talk):
    child, _ = talk.fork()
    again = child.finalize("user", "Wood?", message_id="u1", key="k-u1")
    assert (again.session_id, again.position, again.changed) == ("s", 2, False)
    assert (again.entry_id, again.message_id) == ("u1", "u1")


def test_a_delivery_before_the_fork_conflicts_in_the_child(talk):
    child, _ = talk.fork()
    with pytest.raises(ProvenanceConflict, match="position 2"):
        child.finalize("user", "Glue?", key="k-u1")


def test_deliveries_after_the_fork_are_the_child_s_and_the_parent_s_own(talk):
    child, _ = talk.fork()
    here = talk.finalize("user", "Glue?", key="k")
    there = child.finalize("user", "Paint?", key="k")
    assert (here.session_id, there.session_id) == ("s", child.id)


def test_entry_and_message_ids_are_unique_across_what_is_inherited(talk):
    child, _ = talk.fork()
    with pytest.raises(DuplicateId):
        child.finalize("user", "Glue?", message_id="u1")
    with pytest.raises(DuplicateId):
        child.finalize("user", "Glue?", entry_id="a1")


def test_an_id_that_the_parent_takes_later_is_free_in_the_child(talk):
    child, _ = talk.fork()
    talk.finalize("user", "Glue?", message_id="u2")
    assert child.finalize("user", "Paint?", message_id="u2").changed
    with pytest.raises(UnknownEntry):
        child.move_leaf("u3")


@pytest.fixture
def orphan(talk):
    """A child that was loaded without the state that it inherits."""
    child, _ = talk.fork(fork_id="f")
    return Session.from_events(child.id, child.pending_events)


@pytest.mark.parametrize(
    "decide",
    [
        lambda s: s.finalize("user", "Hello"),
        lambda s: s.draft(),
        lambda s: s.revise("u1", "Hello"),
        lambda s: s.retract("u1"),
        lambda s: s.retract_from("u1"),
        lambda s: s.restore("u1"),
        lambda s: s.record_call("a1", "c", "saw"),
        lambda s: s.record_result("a1", "c", "sawn"),
        lambda s: s.compact("S", first_kept=None),
        lambda s: s.coverage(None),
        lambda s: s.hand_off("S"),
        lambda s: s.reset_summary(),
        lambda s: s.summarize_branch("u1", "S"),
        lambda s: s.edit_context("u1", None),
        lambda s: s.move_leaf(None),
        lambda s: s.move_leaf_before("u1"),
        lambda s: s.label("u1", "x"),
        lambda s: s.set_title("x"),
        lambda s: s.set_info(directory="/x"),
        lambda s: s.set_model("oak-2"),
        lambda s: s.set_thinking_level("high"),
        lambda s: s.record_custom("x"),
        lambda s: s.record_usage({}),
        lambda s: s.fork(),
        lambda s: s.append_imported([]),
        lambda s: s.collect_events(),
        lambda s: s.view(),
        lambda s: s.context(),
    ],
)
def test_nothing_is_decided_or_shown_on_a_fork_without_its_basis(orphan, decide):
    with pytest.raises(BasisMissing, match="'s' at position 3"):
        decide(orphan)


def test_a_fork_s_tape_is_not_folded_without_its_basis(talk):
    child, _ = talk.fork()
    events = child.pending_events
    with pytest.raises(BasisMissing):
        fold(events)
    with pytest.raises(BasisMissing):  # the parent's state, but of another position
        fold(events, basis=talk.state.freeze())
    assert fold(events, basis=child.basis).leaf == "a1"


def test_a_child_that_inherits_nothing_needs_no_basis(talk):
    child, _ = talk.fork(inherit=False)
    again = Session.from_events(child.id, child.pending_events)
    assert again.finalize("user", "Hello").changed


def test_a_child_is_rebuilt_from_its_tape_and_its_basis(talk):
    child, _ = talk.fork()
    child.finalize("user", "Glue?")
    again = Session.from_events(child.id, child.pending_events, basis=child.basis)
    assert again.state.describe() == child.state.describe()
