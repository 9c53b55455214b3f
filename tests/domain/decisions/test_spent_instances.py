"""After a failed save an instance is ahead of its tape: it is spent, and says so."""

import copy

import pytest

from tapefold.domain.errors import (
    ConcurrencyConflict,
    InvalidValue,
    OutOfOrder,
    SpentInstance,
    TapefoldError,
)
from tapefold.domain.session import Session


@pytest.fixture
def talk(session):
    session.finalize("user", "Wood?", message_id="u1")
    session.finalize("assistant", "Oak.", message_id="a1")
    return session


COMMANDS = {
    "finalize": lambda s: s.finalize("user", "x"),
    "draft": lambda s: s.draft(),
    "revise": lambda s: s.revise("u1", "x"),
    "retract": lambda s: s.retract("u1"),
    "retract_from": lambda s: s.retract_from("u1"),
    "restore": lambda s: s.restore("u1"),
    "record_call": lambda s: s.record_call("a1", "c", "saw"),
    "record_result": lambda s: s.record_result("a1", "c", "sawn"),
    "compact": lambda s: s.compact("S", first_kept=None),
    "coverage": lambda s: s.coverage(None),
    "hand_off": lambda s: s.hand_off("S"),
    "reset_summary": lambda s: s.reset_summary(),
    "summarize_branch": lambda s: s.summarize_branch("u1", "S"),
    "edit_context": lambda s: s.edit_context("u1", None),
    "move_leaf": lambda s: s.move_leaf(None),
    "move_leaf_before": lambda s: s.move_leaf_before("u1"),
    "label": lambda s: s.label("u1", "x"),
    "set_title": lambda s: s.set_title("x"),
    "set_info": lambda s: s.set_info(directory="/x"),
    "set_model": lambda s: s.set_model("oak-2"),
    "set_thinking_level": lambda s: s.set_thinking_level("high"),
    "record_custom": lambda s: s.record_custom("x"),
    "record_usage": lambda s: s.record_usage({}),
    "fork": lambda s: s.fork(),
    "repair": lambda s: s.repair(),
    "append_imported": lambda s: s.append_imported([]),
}


def test_every_command_is_in_this_list():
    commands = {
        name
        for cls in Session.__mro__
        if cls.__module__.startswith("tapefold.domain.decisions")
        for name in vars(cls)
        if not name.startswith("_")
    }
    assert commands <= COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_spent_instance_decides_nothing(talk, command):
    before = talk.version
    talk.spend()
    with pytest.raises(SpentInstance, match="load the session again"):
        command(talk)
    assert talk.version == before


def test_a_spent_instance_hands_out_no_events(talk):
    talk.spend()
    with pytest.raises(SpentInstance, match="'s'"):
        talk.collect_events()


def test_events_are_handed_out_once(talk):
    assert [e.position for e in talk.collect_events()] == [1, 2, 3]
    assert talk.collect_events() == []
    talk.finalize("user", "Glue?")
    assert [e.position for e in talk.collect_events()] == [4]


def test_the_version_is_the_position_of_the_last_event(talk):
    assert talk.version == 3
    talk.version = 3  # as the library sets it
    with pytest.raises(InvalidValue):
        talk.version = 7


def test_an_event_that_is_not_the_next_is_not_applied(talk):
    events = talk.pending_events
    again = Session.from_events("s", events[:2])
    with pytest.raises(OutOfOrder, match="position 3 is next"):
        again.apply(events[1])
    with pytest.raises(OutOfOrder):
        Session.from_events("s", [events[0], events[2]])
    again.apply(events[2])
    assert again.state.describe() == talk.state.describe()


def test_a_stale_instance_is_told_so(talk):
    talk.expect(None)
    talk.expect(3)
    with pytest.raises(ConcurrencyConflict, match="at position 3, not at 2"):
        talk.expect(2)


def test_a_copy_goes_on_by_itself(talk):
    other = copy.deepcopy(talk)
    other.finalize("user", "Glue?")
    assert (talk.version, other.version) == (3, 4)
    assert len(talk.pending_events) == 3
    talk.retract("u1")
    assert len(other.view().messages) == 3


def test_a_command_that_is_refused_changes_nothing(talk):
    before = talk.state.describe()
    for wrong in (
        lambda: talk.finalize("nobody", "x"),
        lambda: talk.finalize("user", b"x"),
        lambda: talk.finalize("user", "x", actor=7),
        lambda: talk.revise("u1", "x", colour=1),
        lambda: talk.compact("S", first_kept="u1"),
        lambda: talk.hand_off("S", actor=7),
        lambda: talk.set_model("m", 7),
        lambda: talk.record_custom("x", {1}),
        lambda: talk.move_leaf(None, actor=7),
        lambda: talk.label("u1", "x", actor=7),
        lambda: talk.fork(actor=7),
        lambda: talk.reset_summary(reason=7),
        lambda: talk.retract("u1", reason=7),
        lambda: talk.record_result("a1", "c", [7]),
    ):
        with pytest.raises(TapefoldError):
            wrong()
    assert talk.state.describe() == before
    assert len(talk.pending_events) == 3
