"""What the replay says of each event adds up to the view, and costs no more than it must."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold.cli.effects import EFFECTS
from tapefold.cli.follower import Follower
from tapefold.cli.look import Look
from tapefold.domain.selection import select
from tapefold.testing import Tape
from tapefold.testing.strategies import families

SHOWS = {"added", "finished", "restored", "unhidden", "entered"}
GOES = {"struck", "hidden", "left"}


LOOKED_AT = "shown hidden calls index length messages answers outside".split()


def followers(tape, **how):
    return Follower(tape.state(at=1), **how)


@given(families(hostile=True))
def test_the_effects_add_up_to_the_view_at_every_position(family):
    for tape in family:
        follower = followers(tape)
        shown = {m.entry_id: m.position for m in tape.view(at=1).messages}
        for event in tape.events[1:]:
            for effect in follower.step(event):
                ids = effect.entries or (effect.entry_id,)
                if effect.code in SHOWS:
                    assert not any(i in shown for i in ids), effect
                    shown.update(dict.fromkeys(ids))
                elif effect.code in GOES and not (effect.code == "hidden" and ids[0] not in shown):
                    for i in ids:
                        del shown[i]
                elif effect.code == "revised":
                    assert effect.entry_id in shown
            view = tape.view(at=event.position)
            assert set(shown) == {m.entry_id for m in view.messages}


@given(families(hostile=True))
def test_the_effects_add_up_to_what_the_context_leaves_out_of_the_view(family):
    """Anchors that come, go with their branch, are reset, or stand before what is restored."""
    for tape in family:
        follower = followers(tape)
        outside = left_out_of_context(tape, 1)
        for event in tape.events[1:]:
            for effect in follower.step(event):
                if effect.code == "context_hidden":
                    assert not outside & set(effect.entries)
                    outside |= set(effect.entries)
                elif effect.code == "context_shown":
                    assert outside >= set(effect.entries)
                    outside -= set(effect.entries)
                elif effect.code in GOES:
                    outside -= set(effect.entries or (effect.entry_id,))
            assert outside == left_out_of_context(tape, event.position), event


def left_out_of_context(tape, at):
    view = tape.view(at=at)
    kept = {item.entry_id for item in select(view.state, view.items, True).kept}
    return {message.entry_id for message in view.messages} - kept


@given(families(hostile=True), st.data())
def test_a_copy_of_a_follower_goes_on_by_itself(family, data):
    """Stepping back goes on from a copy that was kept; the one that it was made of goes on too."""
    for tape in family:
        at = data.draw(st.integers(1, tape.position))
        follower = followers(tape)
        for event in tape.events[1:at]:
            follower.step(event)
        copy = follower.copy()
        first = [follower.step(event) for event in tape.events[at:]]
        assert [copy.step(event) for event in tape.events[at:]] == first
        assert copy.look.shown == follower.look.shown == Look(copy.state).shown


@given(families(hostile=True))
def test_following_cheaply_says_what_comparing_everything_says(family):
    for tape in family:
        quick, thorough = followers(tape), followers(tape, thorough=True)
        for event in tape.events[1:]:
            assert quick.step(event) == thorough.step(event), event
            for name in LOOKED_AT:
                assert _plain(getattr(quick.look, name)) == _plain(getattr(thorough.look, name))


@given(families(hostile=True))
def test_the_calls_that_are_followed_are_those_of_the_view(family):
    for tape in family:
        follower = followers(tape)
        for event in tape.events[1:]:
            follower.step(event)
        view = tape.view()
        in_view = {
            (m.message_id, call.call_id): call.result is not None
            for m in view.messages
            for call in m.calls
        }
        followed = {owned: result is not None for owned, result in follower.look.calls.items()}
        assert followed == in_view


@given(families(hostile=True))
def test_every_effect_has_a_code_that_is_documented(family):
    for tape in family:
        follower = followers(tape)
        for event in tape.events[1:]:
            effects = follower.step(event)
            assert effects, event
            for effect in effects:
                assert effect.code in EFFECTS
                assert effect.to_json()["effect"] == effect.code


def effects_of(tape, position):
    follower = followers(tape)
    for event in tape.events[1 : position - 1]:
        follower.step(event)
    return follower.step(tape.events[position - 1])


def codes_of(tape, position=None):
    return [effect.code for effect in effects_of(tape, position or tape.position)]


def test_a_message_at_the_end_is_one_row_whatever_the_length_of_the_path():
    """The look is built once; appending to it never builds it again."""
    tape = Tape("s")
    for n in range(20):
        tape.user(f"q{n}")
        tape.assistant(f"a{n}", calls=[f"c{n}"])
        tape.result(f"c{n}", f"r{n}")
    follower = followers(tape)
    look = follower.look
    for event in tape.events[1:]:
        follower.step(event)
    assert follower.look is look


def _plain(table):
    """A table of layers as a dictionary, whatever its layers."""
    return dict(table.items()) if hasattr(table, "freeze") else table
