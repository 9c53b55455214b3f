"""Upcasters: rows of old class versions are read as today's, by a chain that is checked."""

from typing import Any

import pytest
from eventsourcing.persistence import JSONTranscoder, StoredEvent
from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.bodies import BodyBase
from tapefold.domain.events import EVENTS, TOPICS, Event, Labelled
from tapefold.domain.heads import Head
from tapefold.domain.jsonvalues import Text
from tapefold.persistence.errors import NewerEvent, UnreadableEvent
from tapefold.persistence.jsontext import dump
from tapefold.persistence.mapper import TapeMapper
from tapefold.persistence.upcasting import UpcasterFault, Upcasters, check_upcasters

KIND = "plant_watered"


class WateringBody(BodyBase):
    """At version 1: `what` and litres as text. At version 2: a number. At 3: the name `plant`."""

    plant: Text
    litres: float = 0.0


@pytest.fixture
def event_class():
    """An event that is at version 3; no event of tapefold's own has moved on yet."""

    class PlantWatered(Event):
        __slots__ = ()
        BODY = WateringBody
        class_version = 3

    yield PlantWatered
    del EVENTS[PlantWatered.KIND], TOPICS[PlantWatered.TOPIC]


def to_version_2(head, body):
    """Litres were text, and the plant's bed stood in the body; it is the event's target now."""
    body = {**body, "litres": float(body.get("litres", "0"))}
    bed = body.pop("bed", None)
    return ({**head, "targets": [bed]} if bed else head), body


def to_version_3(head, body):
    body = dict(body)
    return head, {"plant": body.pop("what"), **body}


def make_upcasters() -> Upcasters:
    upcasters = Upcasters()
    upcasters.step(KIND, 1)(to_version_2)
    upcasters.step(KIND, 2)(to_version_3)
    return upcasters


def make_mapper(upcasters: Upcasters | None = None) -> Any:
    return TapeMapper(JSONTranscoder(), upcasters=upcasters or make_upcasters())


def row(body: dict, version: int = 1, **head: object) -> StoredEvent:
    """A row as an older tapefold wrote it."""
    head_text = dump({"kind": KIND, **head})
    said = b"" if version == 1 else b'"v":%d,' % version
    state = b'{"n":%d,%s"head":%s,"body":%s}' % (len(head_text), said, head_text, dump(body))
    return StoredEvent("s", 4, "tapefold.PlantWatered", state)


def test_a_row_of_version_1_is_read_as_one_of_version_3(event_class):
    old = row({"what": "fern", "litres": "1.5", "bed": "b2"}, timestamp="t")
    read = make_mapper().to_domain_event(old)
    assert type(read) is event_class
    assert read.head == Head(KIND, timestamp="t", targets=("b2",))
    assert read.body == WateringBody(plant="fern", litres=1.5)


def test_a_row_of_version_2_takes_only_the_step_that_is_left(event_class):
    read = make_mapper().to_domain_event(row({"what": "fern", "litres": 2.5}, 2))
    assert read.body == WateringBody(plant="fern", litres=2.5)


def test_the_fold_sees_the_upcast_head(event_class):
    old = row({"what": "fern", "bed": "b2"})
    assert make_mapper().head_of(old.topic, old.state) == Head(KIND, targets=("b2",))


@given(st.text(), st.floats(0, 100), st.none() | st.text(min_size=1))
def test_an_upcast_row_is_what_todays_code_would_have_written(plant, litres, bed):
    class PlantWatered(Event):
        __slots__ = ()
        BODY = WateringBody
        class_version = 3

    try:
        mapper = make_mapper()
        old = {"what": plant, "litres": str(litres), **({"bed": bed} if bed else {})}
        targets = (bed,) if bed else ()
        today = PlantWatered.make("s", 4, WateringBody(plant=plant, litres=litres), targets=targets)
        upcast = mapper.to_domain_event(row(old))
        assert upcast == today
        assert mapper.to_stored_event(upcast) == mapper.to_stored_event(today)
    finally:
        del EVENTS[KIND], TOPICS[PlantWatered.TOPIC]


def test_the_version_stands_directly_after_the_length_of_the_head(event_class):
    event = event_class.make("s", 4, WateringBody(plant="fern"))
    stored = make_mapper().to_stored_event(event)
    assert stored.state == b'{"n":24,"v":3,"head":{"kind":"plant_watered"},"body":{"plant":"fern"}}'
    assert make_mapper().to_domain_event(stored) == event


def test_what_an_old_row_says_beyond_what_is_known_is_kept(event_class):
    old = row({"what": "fern", "mood": "dry"}, 2, weather="sun", key="\ud800")
    read = make_mapper().to_domain_event(old)
    assert read.head.key == "\ud800"
    assert read.body.extra == {"mood": "dry", "head": {"weather": "sun"}}


def test_a_version_beyond_the_code_is_refused_and_not_read_as_an_old_one(event_class):
    newer = row({"plant": "fern"}, 4)
    with pytest.raises(NewerEvent, match="version 4, and this tapefold knows versions up to 3"):
        make_mapper().to_domain_event(newer)
    with pytest.raises(NewerEvent):
        make_mapper().head_of(newer.topic, newer.state)


@pytest.mark.parametrize(
    "body",
    [{}, {"what": "fern", "litres": "much"}, {"what": 7}],
    ids=["absent", "no number", "no text"],
)
def test_an_old_row_that_an_upcaster_cannot_take_is_refused_with_its_place(event_class, body):
    with pytest.raises(UnreadableEvent, match=r"'s', position 4.*PlantWatered"):
        _ = make_mapper().to_domain_event(row(body)).body


def test_the_error_names_the_step_that_failed(event_class):
    with pytest.raises(UnreadableEvent, match=r"plant_watered from version 2.*what"):
        make_mapper().to_domain_event(row({}))


def test_an_upcaster_that_gives_nothing_back_is_named(event_class):
    upcasters = Upcasters()
    upcasters.step(KIND, 1)(lambda head, body: (head, None))  # type: ignore[arg-type,return-value]
    upcasters.step(KIND, 2)(to_version_3)
    with pytest.raises(UnreadableEvent, match="from version 1 gave no two objects back"):
        make_mapper(upcasters).to_domain_event(row({"what": "fern"}))


# ------------------------------------------------------------------ the chain is checked


def test_the_chain_of_tapefolds_own_events_is_whole():
    check_upcasters()


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([], "no step from version 1; .* no step from version 2"),
        ([1], "no step from version 2"),
        ([2], "no step from version 1"),
        ([1, 2, 2], "2 steps from version 2"),
        ([1, 2, 3], "a step from version 3, but is at version 3"),
        ([0, 1, 2], "a step from version 0, but is at version 3"),
    ],
)
def test_a_step_that_is_missing_doubled_or_beyond_stops_the_start(event_class, steps, fault):
    upcasters = Upcasters()
    for start in steps:
        upcasters.step(KIND, start)(to_version_2)
    with pytest.raises(UpcasterFault, match=fault):
        make_mapper(upcasters)


def test_a_step_of_a_kind_that_does_not_exist_stops_the_start():
    upcasters = Upcasters()
    upcasters.step("dream_recorded", 1)(to_version_2)
    with pytest.raises(UpcasterFault, match="dream_recorded is no kind of event"):
        make_mapper(upcasters)


def test_a_step_of_an_event_that_is_still_at_version_1_stops_the_start():
    upcasters = Upcasters()
    upcasters.step(Labelled.KIND, 1)(to_version_2)
    with pytest.raises(UpcasterFault, match="labelled has a step from version 1"):
        make_mapper(upcasters)


def test_a_class_version_that_was_raised_without_an_upcaster_stops_every_application(event_class):
    with pytest.raises(UpcasterFault, match=r"docs/schema-evolution\.md"):
        TapeMapper(JSONTranscoder())
