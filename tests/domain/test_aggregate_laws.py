"""The laws of the aggregate, over random command sequences, some of them wrong."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapefold import Session, TapefoldError, fold
from tapefold.testing import MemoryTapes, Tape, counted_defaults
from tapefold.testing.commanding import Step
from tapefold.testing.strategies import commands, families, tapes


def run(session, steps):
    """Run commands; what each answered, or the error that it raised."""
    answers = []
    for step in steps:
        try:
            answers.append(step(session))
        except TapefoldError as error:
            answers.append(error)
    return answers


@given(families(hostile=True, max_size=25), commands())
def test_a_command_appends_at_the_next_positions_or_raises_and_appends_nothing(family, steps):
    for tape in family:
        session = tape.session()
        for step in steps:
            before, position = session.state.describe(), session.version
            pending = session.pending_events
            try:
                step(session)
            except TapefoldError:
                assert session.state.describe() == before
                assert session.pending_events == pending
            positions = [event.position for event in session.pending_events[len(pending) :]]
            assert positions == list(range(position + 1, session.version + 1))


@given(families(hostile=True, max_size=25), commands())
def test_the_state_after_commands_is_the_fold_of_the_events(family, steps):
    for tape in family:
        session = tape.session()
        run(session, steps)
        events = [*tape.events, *session.pending_events]
        assert session.state.describe() == fold(events, tape.basis).describe()


@given(commands())
def test_a_session_of_commands_is_rebuilt_from_its_events_alone(steps):
    session = Session.start("s", defaults=counted_defaults())
    run(session, steps)
    again = Session.from_events("s", session.pending_events)
    assert again.state.describe() == session.state.describe()
    assert again.version == session.version == len(session.pending_events)


@given(commands())
def test_commands_are_deterministic(steps):
    one, two = (Session.start("s", defaults=counted_defaults()) for _ in range(2))
    run(one, steps)
    run(two, steps)
    assert one.pending_events == two.pending_events


@given(tapes(max_size=25), commands())
def test_every_session_of_commands_can_be_read(tape, steps):
    session = tape.session()
    run(session, steps)
    session.view(include_pending=True)
    session.context()
    for leaf in session.state.entries:
        session.view(leaf)


@given(commands())
def test_the_same_delivery_again_is_answered_and_appends_nothing(steps):
    """Each command is retried at once with its key, as a client does that got no answer."""
    session = Session.start("s", defaults=counted_defaults())
    for i, step in enumerate(steps):
        if step.verb in ("fork", "import"):
            continue
        keyed = _Keyed(session, f"delivery {i}")
        try:
            first = step(keyed)
        except TapefoldError:
            continue
        position = session.version
        again = keyed.again()
        assert session.version == position
        assert (again.session_id, again.position) == (first.session_id, first.position)
        assert not again.changed


class _Keyed:
    """A session on which every command is given a key; `again` repeats the last call."""

    def __init__(self, session, key):
        self._session, self._key, self._last = session, key, None

    def __getattr__(self, name):
        value = getattr(self._session, name)
        if not callable(value):
            return value

        def call(*args, **fields):
            self._last = (name, args, {**fields, "key": self._key})
            return value(*args, **self._last[2])

        return call

    def again(self):
        name, args, fields = self._last
        return getattr(self._session, name)(*args, **fields)


@given(tapes(max_size=25), commands())
def test_a_deep_copy_of_a_session_goes_on_by_itself(tape, steps):
    """The library copies aggregates in its cache."""
    session = tape.session()
    before = session.state.describe()
    copy = deepcopy(session)
    copy.defaults = counted_defaults(tape.made + 1)
    run(copy, steps)
    assert session.state.describe() == before
    assert session.pending_events == ()
    assert session.take_born() == []
    run(session, steps)
    assert session.pending_events == copy.pending_events


@given(tapes(max_size=25), commands(max_size=12))
def test_a_session_goes_on_from_a_folded_state_as_from_its_events(tape, steps):
    one = tape.session()
    two = Session.of_state(
        tape.state(), None, defaults=counted_defaults(tape.made + 1), tapes=tape.tapes
    )
    run(one, steps)
    run(two, steps)
    assert one.pending_events == two.pending_events


def test_a_session_without_its_tape_says_what_to_do():
    tape = Tape()
    tape.user("hi")
    session = Session.from_events("s", tape.events)
    with pytest.raises(TapefoldError, match="load_session"):
        session.view()


def test_an_empty_source_of_tapes_has_no_events():
    assert list(MemoryTapes().events_at("s", [1, 2])) == []


@given(tapes(max_size=20), commands(max_size=20), commands(max_size=12))
def test_children_go_on_by_themselves_and_fold_on_their_basis(tape, steps, more):
    session = tape.session()
    run(session, [*steps, Step("fork", 1, 1, 1)])
    before = session.state.describe()
    children = session.take_born()
    assert children
    for child in children:
        basis = None if child.basis is None else child.basis.describe()
        run(child, more)
        folded = fold(child.pending_events, child.basis)
        assert child.state.describe() == folded.describe()
        assert (None if child.basis is None else child.basis.describe()) == basis
    assert session.state.describe() == before


TALK = st.lists(
    st.sampled_from(["user", "draft", "struck", "c1", "c2", "c1 c2", "=c1", "=c2", "!c1"]),
    min_size=3,
    max_size=10,
)


def talk(words):
    """A tape of one branch: `c1 c2` calls, `=c1` is a result, `!c1` an interruption."""
    tape = Tape()
    for word in words:
        if word in ("user", "struck"):
            entry = tape.user(word)
            if word == "struck":
                tape.retract(entry)
        elif word == "draft":
            tape.draft(word)
        elif word[0] in "=!":
            tape.result(word[1:], interruption=word[0] == "!")
        else:
            tape.assistant(calls=word.split())
    return tape


@given(TALK)
def test_a_compaction_splits_no_call_from_its_result_and_passes_nothing_unfinished(words):
    """Whatever entry is asked for as the boundary."""
    tape = talk(words)
    for asked in [None, *(item.entry_id for item in tape.view().items)]:
        session = tape.session()
        try:
            session.compact("summary", first_kept=asked)
        except TapefoldError:
            continue
        view = session.view(include_pending=True)
        index = {item.entry_id: item.index for item in view.items}
        (anchor,) = session.state.anchors.values()
        boundary = index[anchor.first_kept or anchor.entry_id]
        for message in view.messages:
            behind = index[message.entry_id] < boundary
            assert not (behind and message.status == "pending")
            for call in message.calls:
                if call.result is not None and call.result.entry_id is not None:
                    assert (index[call.result.entry_id] < boundary) == behind
