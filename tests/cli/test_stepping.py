"""Going forward, back and anywhere on a tape comes to the same as replaying it from the start."""

import random

import pytest

from tapefold.cli.effects import mark_effect
from tapefold.cli.follower import Follower
from tapefold.cli.stepping import ANCHOR, TOOL, USER, Stepper

from .conftest import ROOT

EXAMPLES = ("kitchen-garden.tau.jsonl", "bird-box.pi.jsonl")


@pytest.fixture(params=EXAMPLES)
def imported(request, run, sessions):
    run("import", ROOT / "examples" / request.param)
    (info,) = sessions.sessions()
    return info.session_id


def replayed(sessions, session_id):
    """Position to (effects, state, what shows)."""
    follower = Follower(sessions.state(session_id, at=1))
    found = {}
    for event in sessions.tape(session_id):
        effects = [mark_effect(event)] if event.position == 1 else follower.step(event)
        found[event.position] = (effects, follower.state.describe(), follower.look.shown)
    return found


def here(stepper):
    follower = stepper.follower
    return stepper.effects, follower.state.describe(), follower.look.shown


@pytest.mark.parametrize("is_scouted", [True, False])
def test_any_way_to_a_position_comes_to_the_same(sessions, imported, is_scouted):
    wanted = replayed(sessions, imported)
    stepper = Stepper(sessions, imported)
    stepper.apart = 5  # copies lie close, so that ways lead over several of them
    while is_scouted and stepper.scout():
        pass
    chance = random.Random(7)
    ways = [stepper.count, 1, 2, *(chance.randint(1, stepper.count) for _ in range(60))]
    for position in [*ways, *range(stepper.count, 0, -1)]:
        stepper.go(position)
        assert stepper.position == stepper.event.position == position
        assert here(stepper) == wanted[position]


def test_there_is_no_way_past_the_ends(sessions, imported):
    stepper = Stepper(sessions, imported)
    assert not stepper.go(0)
    assert not stepper.go(stepper.count + 1)
    assert stepper.position == 1


def test_the_next_and_the_last_user_message_anchor_and_tool_call_are_found(sessions, imported):
    events = {e.position: e for e in sessions.tape(imported)}
    wanted = {
        USER: [p for p, e in events.items() if e.head.role == "user"],
        ANCHOR: [p for p, e in events.items() if e.head.kind == "compaction_anchored"],
        TOOL: [p for p, e in events.items() if e.head.role == "assistant" and e.head.call_ids],
    }
    for kind, places in wanted.items():
        assert places
        stepper = Stepper(sessions, imported)
        found = []
        while (position := stepper.find(kind, True)) is not None:
            stepper.go(position)
            found.append(position)
        assert found == places
        stepper = Stepper(sessions, imported, at=len(events))
        back = [len(events)] if places[-1] == len(events) else []
        while (position := stepper.find(kind, False)) is not None:
            stepper.go(position)
            back.append(position)
        assert back == places[::-1]


def test_what_is_appended_meanwhile_can_be_stepped_to(sessions, talk):
    stepper = Stepper(sessions, "talk", at=9)
    assert not stepper.look_again()
    while stepper.scout():
        pass
    sessions.execute("talk", lambda session: session.finalize("user", "One more"))
    assert stepper.look_again()
    assert stepper.find(USER, True) == stepper.count == 10
    assert stepper.go(10)
    assert [effect.code for effect in stepper.effects] == ["added"]


def test_a_fork_is_stepped_through_on_its_own_tape(sessions, talk):
    child = sessions.fork("talk", child_id="child")
    sessions.execute(child.id, lambda session: session.finalize("user", "Onwards"))
    stepper = Stepper(sessions, "child", at=2)
    assert stepper.go(1)
    assert stepper.follower.look.messages == 4
    assert stepper.go(2)
    assert stepper.follower.look.messages == 5
