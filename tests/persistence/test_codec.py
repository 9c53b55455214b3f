"""JSON text and the stored state: nothing is changed, and nothing unreadable is written."""

import json
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapefold.domain.bodies import AnchorBody, CustomBody, LabelBody, MessageBody
from tapefold.domain.content import OtherBlock, TextBlock
from tapefold.domain.events import CustomRecorded, Event, Labelled, MessageFinalized, SessionStarted
from tapefold.domain.heads import Head, Origin
from tapefold.domain.jsonvalues import MAX_DEPTH, MAX_DIGITS
from tapefold.persistence.body_reader import ShapeFault, read_body
from tapefold.persistence.codec import (
    CodecFault,
    decode_head,
    encode_state,
    find_head,
    head_of_json,
    unknown_in_head,
)
from tapefold.persistence.jsontext import (
    MAX_NESTING,
    JsonFault,
    dump,
    load,
    load_flat,
)

# Text with half pairs, unicode line separators and control characters among the rest.
TEXT = st.text(st.characters() | st.sampled_from('\ud800\udbff\udc00\udfff\u2028\u2029\x00\x7f"\\'))
NUMBERS = st.integers() | st.floats() | st.integers(-(10**400), 10**400)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)
IDS = st.none() | TEXT
ORIGINS = st.builds(Origin, TEXT, st.integers(), IDS, st.booleans())
HEADS = st.builds(
    Head,
    kind=st.just("labelled"),
    timestamp=st.none() | NUMBERS | TEXT,
    entry_id=IDS,
    takes_leaf=st.booleans(),
    call_ids=st.lists(TEXT, max_size=3).map(tuple),
    order_seq=st.none() | st.integers(),
    replaces=st.none() | st.lists(TEXT, max_size=3).map(tuple),
    line=st.none() | st.integers(),
    key=IDS,
    origin=st.none() | ORIGINS,
)


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth - 1):
        value = [value]
    return value


def in_deep_stack(action, room: int = 60):
    """Call `action` with only so many frames left; what it returns."""

    def down(left: int):
        return action() if left == 0 else down(left - 1)

    frame: Any = sys._getframe()
    used = 0
    while frame is not None:
        frame, used = frame.f_back, used + 1
    return down(sys.getrecursionlimit() - used - room)


# ------------------------------------------------------------------------------- JSON text


@given(VALUES)
@example("\ud83d\ude00")
@example({"\ud800\udc00": "\ud800"})
@example([float("nan"), float("inf"), -float("inf"), -0.0, 2**64, 1e16])
def test_any_json_value_comes_back_as_it_was(value):
    # repr, for NaN is unequal to itself, and 1 equal to 1.0 and True.
    assert repr(load(dump(value))) == repr(value)


@given(VALUES)
def test_without_half_pairs_the_text_is_utf_8_and_with_them_too_unless_they_make_a_pair(value):
    text = dump(value).decode("utf-8", "surrogatepass")
    halves = [c for c in text if "\ud800" <= c <= "\udfff"]
    assert not halves or any(a + b in text for a in halves for b in halves)


@given(VALUES)
def test_reading_without_recursion_gives_the_same(value):
    text = dump(value).decode("utf-8", "surrogatepass")
    assert repr(load_flat(text)) == repr(json.loads(text))
    spaced = json.dumps(value, indent=2)
    assert repr(load_flat(f" \n{spaced}\t")) == repr(json.loads(spaced))


@given(VALUES, st.data())
def test_reading_without_recursion_refuses_what_is_no_json(value, data):
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 2))
    text = text[:at] + data.draw(st.sampled_from(["", *'[]{},:"0 ex'])) + text[at + cut :]
    try:
        expected = repr(json.loads(text))
    except ValueError:
        with pytest.raises(JsonFault):
            load_flat(text)
    else:
        assert repr(load_flat(text)) == expected


def test_nesting_is_written_and_read_up_to_the_limit():
    assert load(dump(nested(MAX_NESTING))) == nested(MAX_NESTING)


@pytest.mark.parametrize("depth", [MAX_NESTING + 1, 900, 100_000])
def test_deeper_nesting_is_refused_in_writing_and_in_reading(depth):
    with pytest.raises(JsonFault, match="nested deeper"):
        dump(nested(depth))
    with pytest.raises(JsonFault, match="nested deeper"):
        load(b"[" * depth + b"]" * depth)


def test_many_brackets_side_by_side_are_not_deep():
    value = {"rows": [[[]]] * 1000, "text": "[" * 1000}
    assert load(dump(value)) == value


def test_a_circle_is_refused():
    circle: list = []
    circle.append(circle)
    with pytest.raises(JsonFault, match="circle"):
        dump(circle)


def test_what_was_written_is_read_however_deep_the_caller_stands_in_its_own_stack():
    text = dump(nested(MAX_NESTING))
    if sys.version_info < (3, 12):  # from there on the stack of C is counted by itself
        with pytest.raises(RecursionError):
            in_deep_stack(lambda: json.loads(text))
    assert in_deep_stack(lambda: load(text)) == nested(MAX_NESTING)


def test_writing_deep_in_a_stack_never_ends_in_a_recursion_error():
    with suppress(JsonFault):
        assert load(in_deep_stack(lambda: dump(nested(MAX_NESTING)))) == nested(MAX_NESTING)
    assert in_deep_stack(lambda: dump(nested(5))) == b"[[[[[]]]]]"


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), [1j]])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(JsonFault):
        dump({"value": value})


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",)])
def test_a_key_that_is_no_text_is_refused_and_not_turned_into_text(key):
    with pytest.raises(JsonFault, match="key"):
        dump([{"inner": {key: 1}}])


def test_an_integer_is_kept_up_to_the_digits_that_every_python_reads():
    longest = 10**MAX_DIGITS - 1
    assert load(dump([longest, -longest])) == [longest, -longest]
    with pytest.raises(JsonFault, match="limit"):
        dump([longest + 1])


def test_a_host_with_a_wider_limit_of_digits_writes_nothing_that_others_cannot_read():
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(JsonFault, match="digits"):
            dump({"a": [-(10**MAX_DIGITS)]})
        assert load(dump("1" * 5000)) == "1" * 5000
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b'{"a":1}x', b'{"a" 1}', b"\xef\xbb\xbf{}", b"\x00{"]
)
def test_bytes_that_are_no_json_are_refused(data):
    with pytest.raises(JsonFault):
        load(data)


# ----------------------------------------------------------------------------------- state


def test_the_state_begins_with_the_length_of_the_head_then_head_then_body():
    event = Labelled.make("s", 3, LabelBody(label="grün"), targets=("e1",))
    assert encode_state(event).decode() == (
        '{"n":36,"head":{"kind":"labelled","targets":["e1"]},"body":{"label":"grün"}}'
    )


@given(HEADS, VALUES)
def test_the_head_is_sliced_out_as_a_full_parse_would_find_it(head, extra):
    event = Labelled("s", 1, head, LabelBody(extra={"value": extra}))
    state = encode_state(event)
    version, start, end = find_head(state)
    whole = load(state)
    assert repr(whole["head"]) == repr(load(state[start:end]))
    assert version == 1
    assert list(whole) == ["n", "head", "body"]


@given(HEADS)
@example(Head("labelled", timestamp=float("nan")))
@example(Head("labelled", timestamp=1e16, order_seq=2**64))
@example(Head("labelled", key="\ud800\udc00", call_ids=("\ud800", "\udc00"), replaces=()))
def test_any_head_comes_back_as_it_was(head):
    state = encode_state(Labelled("s", 1, head))
    _, start, end = find_head(state)
    assert repr(decode_head(state[start:end])) == repr(head)


@given(HEADS)
def test_the_fast_and_the_careful_way_of_reading_a_head_agree(head):
    text = dump(head.to_json())
    assert repr(head_of_json(load(text))) == repr(decode_head(text)) == repr(head)


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"{}",
        b'{"n":0,"head":{},"body":{}}',
        b'{"n":18,"head":{"kind":"labelled"},"body":{}}',
        b'{"n":20,"head":{"kind":"labelled"},"body":{}}',
        b'{"n":999,"head":{"kind":"labelled"},"body":{}}',
        b'{"n":19,"v":0,"head":{"kind":"labelled"},"body":{}}',
        b'{"n":19,"head":{"kind":"labelled"},"tail":{}}',
        b'{"n":10,"head":{"kind":"a,"body":{}},"body":{}}',
    ],
)
def test_a_state_whose_frame_is_damaged_is_refused(state):
    def head() -> Head:
        _, start, end = find_head(state)
        return decode_head(state[start:end])

    with pytest.raises(CodecFault):
        head()


@pytest.mark.parametrize(
    "fields",
    [
        {"timestamp": True},
        {"timestamp": b"2026"},
        {"takes_leaf": 1},
        {"order_seq": 1.5},
        {"order_seq": True},
        {"call_ids": (1,)},
        {"entry_id": 7},
        {"line": "12"},
        {"order_seq": 10**MAX_DIGITS},
        {"origin": Origin("parent", None)},  # type: ignore[arg-type]
        {"origin": "parent"},
        {"timestamp": datetime(2026, 3, 1, tzinfo=UTC)},
        {"kind": "retracted"},
    ],
)
def test_a_head_that_would_not_come_back_is_not_written(fields):
    head = Head(**{"kind": "labelled", **fields})
    with pytest.raises(CodecFault, match="head"):
        encode_state(Labelled("s", 1, head))


def test_a_list_where_a_head_has_a_tuple_is_written_as_the_tuple():
    head = Head("labelled", targets=["e1"])  # type: ignore[arg-type]
    assert encode_state(Labelled("s", 1, head)) == encode_state(
        Labelled.make("s", 1, targets=("e1",))
    )


@pytest.mark.parametrize(
    "body",
    [
        CustomBody.model_construct(data=1),
        MessageBody.model_construct(content=("no block",)),
        MessageBody.model_construct(content=(TextBlock.model_construct(),)),
        LabelBody.model_construct(label=5),
        LabelBody.model_construct(label=True),
        LabelBody.model_construct(label=None, extra=[]),
        LabelBody.model_construct(label=None, extra={"a": {1: 2}}),
        LabelBody.model_construct(label=None, extra={"a": b"bytes"}),
        LabelBody.model_construct(label=None, extra={"a": nested(900)}),
    ],
)
def test_a_body_that_would_not_come_back_is_not_written(body):
    classes: dict[Any, type[Event]] = {
        CustomBody: CustomRecorded,
        MessageBody: MessageFinalized,
    }
    event_class = classes.get(type(body), Labelled)
    with pytest.raises(CodecFault, match="body"):
        encode_state(event_class.make("s", 1, body))


def test_a_body_of_another_class_is_not_written():
    with pytest.raises(CodecFault, match="its body is a MessageBody, not a LabelBody"):
        encode_state(Labelled.make("s", 1, MessageBody()))


def test_the_deepest_value_that_a_body_takes_can_be_stored():
    deepest = nested(MAX_DEPTH)
    call = {"type": "tool_call", "call_id": "c", "name": "n", "arguments": deepest}
    other = {"type": "other", "value": deepest}
    body = MessageBody.build(content=[call, other], details=deepest)
    assert find_head(encode_state(MessageFinalized.make("s", 1, body)))


# ---------------------------------------------------------------------- what is not known


def test_fields_of_the_head_that_we_do_not_know_are_found():
    assert unknown_in_head(b'{"kind":"labelled","mood":"good"}') == {"mood": "good"}
    assert unknown_in_head(b'{"kind":"labelled","mood":"\\ud800"}') == {"mood": "\ud800"}
    assert unknown_in_head(b'{"kind":"labelled"}') == {}
    assert unknown_in_head(b'{"kind":"labelled","timestamp":NaN}') == {}


def test_fields_of_an_origin_that_we_do_not_know_are_found():
    text = b'{"kind":"session_started","origin":{"session_id":"p","position":3,"epoch":9}}'
    assert decode_head(text).origin == Origin("p", 3)
    assert unknown_in_head(text) == {"origin": {"epoch": 9}}
    assert SessionStarted.KIND == "session_started"


def test_unknown_fields_of_a_body_go_to_its_extra():
    body = read_body(LabelBody, {"label": "a", "colour": "red", "extra": {"b": 1}}, {"mood": 2})
    assert body == LabelBody(label="a", extra={"b": 1, "colour": "red", "head": {"mood": 2}})


def test_an_unknown_field_never_takes_the_place_of_another():
    stored = {"colour": "red", "extra": {"colour": "blue", "head": "mine"}}
    body = read_body(LabelBody, stored, {"mood": 2})
    assert body.extra == {
        "colour": "blue",
        "colour_": "red",
        "head": "mine",
        "head_": {"mood": 2},
    }
    assert stored["extra"] == {"colour": "blue", "head": "mine"}


def test_unknown_fields_and_types_of_blocks_are_kept():
    text = {"type": "text", "text": "a", "colour": "red", "extra": {"b": 1}}
    hologram = {"type": "hologram", "depth": 3}
    body = read_body(MessageBody, {"content": [text, hologram]})
    assert body.content == (
        TextBlock(text="a", extra={"b": 1, "colour": "red"}),
        OtherBlock(value=hologram),
    )


def test_an_absent_field_takes_its_default_and_shares_it_with_nobody():
    one, other = read_body(LabelBody, {}), read_body(LabelBody, {})
    assert one == other == LabelBody()
    one.extra["a"] = 1
    assert other.extra == read_body(LabelBody, {}).extra == {}


def test_lists_of_ids_come_back_as_tuples():
    body = AnchorBody(summary="s", covered=("e1", "e2"))
    assert read_body(AnchorBody, json.loads(json.dumps(body.to_json()))) == body


@pytest.mark.parametrize(
    ("cls", "stored"),
    [
        (LabelBody, {"label": 1}),
        (LabelBody, {"label": []}),
        (LabelBody, {"extra": None}),
        (CustomBody, {}),
        (CustomBody, {"namespace": None}),
        (AnchorBody, {"covered": "e1"}),
        (AnchorBody, {"covered": ["e1", 2]}),
        (AnchorBody, {"tokens_before": 1.5}),
        (AnchorBody, {"tokens_before": True}),
        (MessageBody, {"content": 5}),
        (MessageBody, {"content": ["text"]}),
        (MessageBody, {"content": [None]}),
        (MessageBody, {"content": [{"type": "text"}]}),
        (MessageBody, {"content": [{"type": "text", "text": None}]}),
        (MessageBody, {"content": [{"type": "other"}]}),
        (MessageBody, {"display": 0}),
    ],
)
def test_a_field_that_is_missing_or_of_another_type_is_refused(cls, stored):
    with pytest.raises(ShapeFault):
        read_body(cls, stored)


def test_a_body_that_was_read_is_as_good_as_one_that_was_validated():
    stored = {"namespace": "ext", "data": {"a": 1}}
    read, built = read_body(CustomBody, stored), CustomBody.build(**stored)
    assert (read, repr(read), vars(read)) == (built, repr(built), vars(built))
    assert read.model_copy(update={"data": 2}).data == 2
    event = CustomRecorded.make("s", 1, read)
    assert encode_state(event) == encode_state(CustomRecorded.make("s", 1, built))
