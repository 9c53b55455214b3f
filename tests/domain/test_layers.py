"""Tables in layers: shared where they are frozen, bounded in number, equal to a dictionary."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold import State
from tapefold.domain.layers import MAX_LAYERS, Layers
from tapefold.testing import Tape
from tapefold.testing.strategies import tapes

WRITES = st.lists(
    st.one_of(st.tuples(st.integers(0, 9), st.integers()), st.sampled_from(["freeze", "go on"])),
    max_size=60,
)


@given(WRITES)
def test_a_table_in_layers_is_a_dictionary(writes):
    table, plain = Layers(), {}
    for write in writes:
        if write == "freeze":
            table.freeze()
        elif write == "go on":
            table = table.freeze()
        else:
            key, value = write
            table[key] = value
            plain[key] = value
        assert len(table.below) <= MAX_LAYERS
    assert dict(table.items()) == plain
    assert sorted(table) == sorted(plain)
    assert sorted(table.values()) == sorted(plain.values())
    assert len(table) == len(plain)
    assert bool(table) == bool(plain)
    for key in range(10):
        assert table.get(key) == plain.get(key)
        assert (key in table) == (key in plain)


@given(WRITES)
def test_what_is_written_on_top_never_reaches_a_frozen_table(writes):
    table, seen = Layers(), []
    for write in writes:
        if isinstance(write, str):
            shared = table.freeze()
            seen.append((shared, dict(shared.items())))
        else:
            table[write[0]] = write[1]
    for shared, then in seen:
        assert dict(shared.items()) == then


def test_freezing_copies_nothing():
    table = Layers()
    table["a"] = 1
    top = table.top
    shared = table.freeze()
    assert shared.below[0] is top
    assert table.below[0] is top
    assert shared.top == {}


def test_freezing_again_without_writing_adds_no_layer():
    table = Layers()
    table["a"] = 1
    for _ in range(20):
        table = table.freeze()
    assert len(table.below) == 1


def test_a_thousand_forks_in_a_row_hold_each_entry_once_in_few_layers():
    """A fork of a fork of a fork: lookups stay short, and merged layers keep no copies."""
    state = State("s")
    tape = Tape()
    for n in range(1000):
        tape.user(f"m{n}")
    for event in tape.events:
        state.apply(event)
        state = state.copy()
    layers = (state.entries.top, *state.entries.below)
    assert len(layers) <= MAX_LAYERS + 1
    assert sum(len(layer) for layer in layers) == 1000
    assert state.describe() == tape.state().describe()


@given(tapes(hostile=True), st.integers(1, 8))
def test_what_a_state_says_does_not_depend_on_its_layers(tape, often):
    state = State(tape.session_id)
    for event in tape.events:
        state.apply(event)
        if event.position % often == 0:
            state = state.copy()
    flat = tape.state()
    assert state.describe() == flat.describe()
    for message_id in [*flat.messages, "nowhere"]:
        assert state.changed(message_id) == flat.changed(message_id)
        assert state.fact_call_ids(message_id) == flat.fact_call_ids(message_id)
    assert state.own_messages() == flat.own_messages()
