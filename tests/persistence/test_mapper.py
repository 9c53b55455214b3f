"""The mapper: our events to rows and back, beside the host's own aggregates."""

import inspect
import json
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from eventsourcing.application import Application
from eventsourcing.cipher import AESCipher
from eventsourcing.compressor import ZlibCompressor
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import (
    InfrastructureFactory,
    Mapper,
    MapperDeserialisationError,
    StoredEvent,
    Transcoding,
)
from eventsourcing.utils import Environment, TopicError, register_topic
from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.bodies import MessageBody
from tapefold.domain.content import BLOCKS
from tapefold.domain.errors import InvalidValue, TapefoldError
from tapefold.domain.events import (
    EVENTS,
    TOPICS,
    CustomRecorded,
    Event,
    Labelled,
    MessageFinalized,
)
from tapefold.domain.heads import Head
from tapefold.persistence.errors import (
    NewerEvent,
    TextIdNeeded,
    UnknownTopic,
    UnreadableEvent,
    UnstorableEvent,
)
from tapefold.persistence.mapper import TapeMapper
from tapefold.testing.strategies import families

KEY = AESCipher.create_key(16)
OTHER_KEY = AESCipher.create_key(16)


def make_mapper(key: str | None = None, compressed: bool = False) -> Any:
    """A mapper as the library makes it."""
    env = {"MAPPER_TOPIC": "tapefold.persistence.mapper:TapeMapper"}
    if key:
        env["CIPHER_KEY"] = key
    if compressed:
        env["COMPRESSOR_TOPIC"] = "eventsourcing.compressor:ZlibCompressor"
    mapper: Any = InfrastructureFactory.construct(Environment(env=env)).mapper()
    assert isinstance(mapper, TapeMapper)
    return mapper


PLAIN = make_mapper()
MAPPERS: dict[str, Any] = {
    "plain": PLAIN,
    "cipher": make_mapper(KEY),
    "compressor": make_mapper(compressed=True),
    "both": make_mapper(KEY, compressed=True),
}

TEXT = st.text(st.characters() | st.sampled_from('\ud800\udbff\udc00\udfff\u2028\u2029\x00"\\'))
NUMBERS = st.integers() | st.floats() | st.integers(-(10**400), 10**400)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)
BLOCK = st.one_of(
    st.builds(BLOCKS["text"], text=TEXT, extra=OBJECTS),
    st.builds(
        BLOCKS["thinking"], thinking=TEXT, signature=st.none() | TEXT, redacted=st.booleans()
    ),
    st.builds(BLOCKS["image"], data=st.none() | TEXT, url=st.none() | TEXT),
    st.builds(BLOCKS["tool_call"], call_id=TEXT, name=TEXT, arguments=VALUES),
    st.builds(BLOCKS["other"], value=VALUES),
)
BODIES = st.builds(
    MessageBody,
    content=st.lists(BLOCK, max_size=4).map(tuple),
    model=st.none() | TEXT,
    usage=VALUES,
    details=VALUES,
    extra=OBJECTS,
    is_error=st.booleans(),
    display=st.booleans(),
    actor=st.none() | TEXT,
)
MESSAGES = st.builds(
    lambda body, timestamp, ids: MessageFinalized.make(
        "s", 7, body, timestamp=timestamp, call_ids=ids, message_id="m"
    ),
    BODIES,
    st.none() | NUMBERS | TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
)

SAMPLE = MessageFinalized.make(
    "s",
    7,
    MessageBody.build(
        content=[
            "Hello",
            {"type": "tool_call", "call_id": "c", "name": "n", "arguments": {"a": 1}},
        ],
        usage={"input": 10},
        actor="anna",
    ),
    timestamp="2026-03-01T09:30:00.000000Z",
    message_id="m1",
    role="user",
    status="sent",
    call_ids=("c",),
    order_seq=3,
)


def said(one: Event) -> str:
    """All of an event as text: NaN is unequal to itself, and 1 equal to 1.0 and True."""
    return repr((type(one), one.session_id, one.position, one.head, one.body))


# ------------------------------------------------------------------------------ our events


@pytest.mark.parametrize("name", MAPPERS)
@given(MESSAGES)
def test_any_event_comes_back_as_it_was(name, message):
    mapper = MAPPERS[name]
    assert said(mapper.to_domain_event(mapper.to_stored_event(message))) == said(message)


@given(families(max_size=15))
def test_every_event_of_a_random_tape_comes_back_as_it_was(family):
    for tape in family:
        for one in tape.events:
            stored = PLAIN.to_stored_event(one)
            again = PLAIN.to_domain_event(stored)
            assert again == one
            assert PLAIN.to_stored_event(again) == stored
            assert PLAIN.head_of(stored.topic, stored.state) == one.head


def test_a_row_says_topic_stream_and_position():
    stored = PLAIN.to_stored_event(SAMPLE)
    assert (stored.topic, stored.originator_id, stored.originator_version) == (
        "tapefold.MessageFinalized",
        "s",
        7,
    )


@pytest.mark.parametrize("name", MAPPERS)
def test_the_head_can_be_had_without_an_event(name):
    mapper = MAPPERS[name]
    stored = mapper.to_stored_event(SAMPLE)
    assert mapper.head_of(stored.topic, stored.state) == SAMPLE.head


def test_the_state_is_compressed_and_then_encrypted_as_the_library_does_it():
    stored = MAPPERS["both"].to_stored_event(SAMPLE)
    cipher = AESCipher(Environment(env={"CIPHER_KEY": KEY}))
    plain = zlib.decompress(cipher.decrypt(stored.state))
    assert plain == PLAIN.to_stored_event(SAMPLE).state
    assert json.loads(plain)["head"]["message_id"] == "m1"
    assert b"Hello" not in stored.state


def test_the_body_is_decoded_when_it_is_first_asked_for_and_once():
    stored = PLAIN.to_stored_event(SAMPLE)
    damaged = replace(stored, state=stored.state.replace(b'"usage":{', b'"usage":{{'))
    loaded = PLAIN.to_domain_event(damaged)
    assert loaded.head == SAMPLE.head
    with pytest.raises(UnreadableEvent):
        _ = loaded.body
    whole = PLAIN.to_domain_event(stored)
    assert whole.body is whole.body


def test_what_a_newer_head_or_body_says_beyond_ours_is_kept_in_extra():
    body = b'{"label":"a","colour":"red","extra":{"b":1}}'
    head = b'{"kind":"labelled","mood":"good"}'
    state = b'{"n":%d,"head":%s,"body":%s}' % (len(head), head, body)
    loaded = PLAIN.to_domain_event(StoredEvent("s", 1, Labelled.TOPIC, state))
    assert loaded.head == Head("labelled")
    assert loaded.body.label == "a"
    assert loaded.body.extra == {"b": 1, "colour": "red", "head": {"mood": "good"}}
    # Stored again, none of it is lost.
    again = PLAIN.to_domain_event(PLAIN.to_stored_event(loaded))
    assert again == loaded


def test_a_deep_body_is_read_deep_in_a_stack():
    deep: list = []
    for _ in range(199):
        deep = [deep]
    stored = PLAIN.to_stored_event(
        CustomRecorded.make("s", 1, CustomRecorded.BODY.build(namespace="n", data=deep))
    )

    def down(left: int):
        return PLAIN.to_domain_event(stored).body if left == 0 else down(left - 1)

    frame: Any = sys._getframe()
    used = 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    assert down(sys.getrecursionlimit() - used - 60).data == deep


# ------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("originator_id", [UUID(int=5), 5, None])
def test_an_id_that_is_no_text_is_refused_with_what_to_set(originator_id):
    with pytest.raises(TextIdNeeded, match="ORIGINATOR_ID_TYPE=text") as caught:
        PLAIN.to_stored_event(Labelled.make(originator_id, 1))
    assert isinstance(caught.value, InvalidValue)


def test_a_row_that_came_out_with_a_uuid_is_refused_with_what_to_set():
    stored = replace(PLAIN.to_stored_event(SAMPLE), originator_id=uuid4())
    with pytest.raises(TextIdNeeded, match="ORIGINATOR_ID_TYPE=text"):
        PLAIN.to_domain_event(stored)


def test_an_event_that_cannot_be_stored_is_refused_with_its_place():
    body = MessageBody.model_construct(details=b"bytes")
    with pytest.raises(UnstorableEvent, match=r"session 's', position 3.*bytes") as caught:
        PLAIN.to_stored_event(MessageFinalized.make("s", 3, body))
    assert (caught.value.session_id, caught.value.position) == ("s", 3)
    assert isinstance(caught.value, InvalidValue)


def test_an_event_whose_class_is_not_registered_is_refused():
    class Passing(Event):
        __slots__ = ()

    del EVENTS[Passing.KIND], TOPICS[Passing.TOPIC]
    with pytest.raises(UnstorableEvent, match="registered"):
        PLAIN.to_stored_event(Passing.make("s", 1))


def test_an_event_of_a_newer_class_version_is_refused_with_both_versions():
    stored = PLAIN.to_stored_event(SAMPLE)
    newer = replace(stored, state=stored.state.replace(b',"head"', b',"v":4,"head"', 1))
    for read in (PLAIN.to_domain_event, lambda s: PLAIN.head_of(s.topic, s.state, "s", 7)):
        with pytest.raises(NewerEvent) as caught:
            read(newer)
        words = str(caught.value)
        for word in ("'s'", "position 7", "MessageFinalized", "version 4", "to 1", "upgrade"):
            assert word in words
        assert "docs/schema-evolution.md" in words


def test_a_topic_of_ours_that_is_not_known_is_refused_as_newer():
    stored = StoredEvent("s", 7, "tapefold.DreamRecorded", b"{}")
    for read in (PLAIN.to_domain_event, lambda s: PLAIN.head_of(s.topic, s.state, "s", 7)):
        with pytest.raises(
            UnknownTopic, match=r"'s', position 7.*DreamRecorded.*upgrade"
        ) as caught:
            read(stored)
        assert isinstance(caught.value, TopicError)


@pytest.mark.parametrize(
    "state",
    [b"", b"nonsense", '{"n":1', None, b'{"n":26,"head":{"kind":"message_finalized"},"body":{}}'],
)
def test_damaged_bytes_are_refused_with_topic_session_and_position(state):
    stored = StoredEvent("s", 7, SAMPLE.TOPIC, state)
    with pytest.raises(UnreadableEvent, match=r"'s', position 7.*MessageFinalized") as caught:
        PLAIN.to_domain_event(stored)
    assert isinstance(caught.value, MapperDeserialisationError)
    assert (caught.value.topic, caught.value.session_id, caught.value.position) == (
        SAMPLE.TOPIC,
        "s",
        7,
    )
    with pytest.raises(UnreadableEvent, match=r"event 'tapefold\.MessageFinalized'"):
        PLAIN.head_of(SAMPLE.TOPIC, state)


@pytest.mark.parametrize(
    "body", [b"[1]}", b"{}", b"{}}}", b"{}} ", b'{"label":5}}', b'{"label":"\xff"}}', b'{"a":1e}}']
)
def test_a_damaged_body_is_refused_when_it_is_asked_for(body):
    state = b'{"n":19,"head":{"kind":"labelled"},"body":' + body
    read = PLAIN.to_domain_event(StoredEvent("s", 7, Labelled.TOPIC, state))
    assert read.head == Head("labelled")
    for _ in range(2):  # asked again it is still refused
        with pytest.raises(UnreadableEvent, match=r"'s', position 7.*Labelled"):
            _ = read.body


def test_a_row_with_the_topic_of_another_event_is_refused():
    stored = replace(PLAIN.to_stored_event(SAMPLE), topic=Labelled.TOPIC)
    with pytest.raises(UnreadableEvent, match="message_finalized"):
        PLAIN.to_domain_event(stored)


@pytest.mark.parametrize("name", ["cipher", "compressor", "both"])
def test_another_key_or_none_is_refused_with_what_to_check(name):
    stored = MAPPERS[name].to_stored_event(SAMPLE)
    for mapper in (PLAIN, make_mapper(OTHER_KEY, compressed=True)):
        with pytest.raises(UnreadableEvent, match="CIPHER_KEY"):
            mapper.to_domain_event(stored)
        with pytest.raises(UnreadableEvent, match="COMPRESSOR_TOPIC"):
            mapper.head_of(stored.topic, stored.state)


@pytest.mark.parametrize("name", MAPPERS)
@given(st.data())
def test_changed_bytes_give_a_typed_error_or_another_event_that_is_whole(name, data):
    mapper = MAPPERS[name]
    stored = mapper.to_stored_event(data.draw(MESSAGES | st.just(SAMPLE)))
    state = bytearray(stored.state)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(state) - 1))
        byte = data.draw(st.integers(0, 255) | st.sampled_from(b'[]{}",:0\\n'))
        match data.draw(st.sampled_from(["change", "insert", "remove"])):
            case "change":
                state[at] = byte
            case "insert":
                state.insert(at, byte)
            case _ if len(state) > 1:
                del state[at]
    changed = replace(stored, state=bytes(state))
    with suppress(UnreadableEvent):
        read = mapper.to_domain_event(changed)
        assert repr(mapper.head_of(changed.topic, changed.state)) == repr(read.head)
        _ = read.body
        assert said(PLAIN.to_domain_event(PLAIN.to_stored_event(read))) == said(read)


# ------------------------------------------------------------------------- all the others


class Basket(Aggregate):
    """A host's own aggregate: UUID ids, and a value that needs a transcoding of the host's."""

    def __init__(self) -> None:
        self.items: list[set[str]] = []

    @event("ItemsAdded")
    def add(self, items: set[str]) -> None:
        self.items.append(items)


class SetAsList(Transcoding):
    type = set
    name = "set"

    def encode(self, obj: set) -> list:
        return sorted(obj)

    def decode(self, data: list) -> set:
        return set(data)


class Shop(Application[UUID | str]):
    is_snapshotting_enabled = True

    def register_transcodings(self, transcoder) -> None:
        super().register_transcodings(transcoder)
        transcoder.register(SetAsList())


def shop(**env: str) -> Any:
    mapper = "tapefold.persistence.mapper:TapeMapper"
    return Shop(env={"MAPPER_TOPIC": mapper, "ORIGINATOR_ID_TYPE": "text", **env})


@pytest.mark.parametrize("name", MAPPERS)
def test_a_hosts_aggregates_and_snapshots_live_beside_our_events(name):
    env = {}
    if name in ("cipher", "both"):
        env["CIPHER_KEY"] = KEY
    if name in ("compressor", "both"):
        env["COMPRESSOR_TOPIC"] = "eventsourcing.compressor:ZlibCompressor"
    app = shop(**env)
    basket = Basket()
    basket.add({"bulbs", "spade"})
    app.save(basket)
    app.events.put([SAMPLE])
    app.take_snapshot(basket.id)
    basket.add({"rake"})
    app.save(basket)
    assert app.repository.get(basket.id).items == [{"bulbs", "spade"}, {"rake"}]
    (ours,) = app.events.get("s")
    assert said(ours) == said(SAMPLE)
    assert [one.originator_version for one in app.snapshots.get(basket.id)] == [2]


def test_a_foreign_event_is_stored_exactly_as_the_librarys_mapper_stores_it():
    basket = Basket()
    basket.add(set())
    transcoder = shop().mapper.transcoder
    ours: Any = TapeMapper(transcoder, ZlibCompressor())
    theirs: Any = Mapper(transcoder, ZlibCompressor())
    for one in basket.collect_events():
        assert ours.to_stored_event(one) == theirs.to_stored_event(one)
        stored = theirs.to_stored_event(one)
        assert vars(ours.to_domain_event(stored)) == vars(theirs.to_domain_event(stored))


def test_a_damaged_foreign_event_raises_the_librarys_own_error():
    stored = StoredEvent(uuid4(), 1, f"{__name__}:Basket.ItemsAdded", b"nonsense")
    with pytest.raises(MapperDeserialisationError) as caught:
        PLAIN.to_domain_event(stored)
    assert not isinstance(caught.value, TapefoldError)


def test_a_host_may_have_registered_a_topic_that_looks_like_ours():
    basket = Basket()
    basket.add({"rake"})
    mapper = shop().mapper
    added = basket.collect_events()[1]
    register_topic("tapefold.basket-filled", type(added))
    stored = mapper.to_stored_event(added)
    read = mapper.to_domain_event(replace(stored, topic="tapefold.basket-filled"))
    assert (type(read), read.items) == (type(added), {"rake"})


def test_an_import_path_is_never_taken_for_a_topic_of_ours():
    with pytest.raises(TopicError) as caught:
        PLAIN.to_domain_event(StoredEvent("s", 1, "tapefold.no_such_module:Event", b"{}"))
    assert not isinstance(caught.value, TapefoldError)


@pytest.mark.parametrize("name", ["__init__", "to_stored_event", "to_domain_event"])
def test_the_library_still_calls_its_mapper_as_ours_is_called(name):
    theirs = inspect.signature(getattr(Mapper, name)).parameters
    ours = inspect.signature(getattr(TapeMapper, name)).parameters
    added = {"upcasters"}
    assert [p for p in ours if p not in added] == list(theirs)
