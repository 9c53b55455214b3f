"""Many events of one session, appended at once."""

from __future__ import annotations

import pytest
from eventsourcing.persistence import IntegrityError

from tapefold.persistence.errors import PositionSkipped, PositionTaken

TOPIC = "tapefold.MessageFinalized"


@pytest.fixture
def run(event):
    def make(first, last, stream="s"):
        return [event(stream, n, b"%d" % n, TOPIC) for n in range(first, last + 1)]

    return make


def test_the_ids_of_a_run_are_those_of_its_rows(recorder, event, run):
    recorder.insert_events([event("other", 1)])
    assert list(recorder.insert_events(run(1, 100))) == list(range(2, 102))
    assert list(recorder.insert_events(run(101, 150))) == list(range(102, 152))
    rows = recorder.log_page(1, 1000)
    assert [(row[0], row[2], row[4]) for row in rows] == [
        (n + 1, n, b"%d" % n) for n in range(1, 151)
    ]


def test_a_run_that_begins_behind_a_gap_is_refused_whole(recorder, run):
    recorder.insert_events(run(1, 40))
    with pytest.raises(PositionSkipped) as caught:
        recorder.insert_events(run(42, 90))
    assert caught.value.originator_version == 42
    assert recorder.stream_version("s") == 40


def test_the_position_in_a_run_that_is_taken_is_named_and_nothing_of_the_run_stays(
    recorder, event, run
):
    recorder.insert_events([event("s", 30, b"of somebody else", "their:Topic")])
    with pytest.raises(PositionTaken) as caught:
        recorder.insert_events(run(1, 60))
    assert (caught.value.originator_id, caught.value.originator_version) == ("s", 30)
    assert [stored.originator_version for stored in recorder.select_events("s")] == [30]


@pytest.mark.parametrize("at", [0, 1, 25])
def test_a_state_that_cannot_be_stored_refuses_the_run(recorder, run, event, at):
    events = run(1, 50)
    events[at] = event("s", at + 1, None, TOPIC)
    with pytest.raises(IntegrityError) as caught:
        recorder.insert_events(events)
    assert not isinstance(caught.value, PositionTaken | PositionSkipped)
    assert recorder.stream_version("s") is None


def test_a_gap_within_many_events_is_found(recorder, run):
    with pytest.raises(PositionSkipped) as caught:
        recorder.insert_events([*run(1, 20), *run(22, 50)])
    assert caught.value.originator_version == 22
    assert recorder.stream_version("s") is None


def test_events_of_several_sessions_are_no_run(recorder, run):
    mixed = [one for pair in zip(run(1, 20, "a"), run(1, 20, "b"), strict=True) for one in pair]
    assert list(recorder.insert_events(mixed)) == list(range(1, 41))
    assert recorder.stream_version("a") == recorder.stream_version("b") == 20
