"""What JSON can hold is kept as it came; what it cannot is refused with its path."""

import json
from datetime import datetime
from decimal import Decimal
from math import isnan

import pytest

from tapefold.domain.content import content_json
from tapefold.domain.errors import InvalidValue
from tapefold.domain.jsonvalues import MAX_DEPTH, canonical, check_json, digest
from tapefold.testing import given


def nested(depth):
    value: object = "core"
    for _ in range(depth):
        value = [value]
    return value


def back(**fields):
    """A message's body after it was finalized with these fields."""
    return given().when(lambda s: s.finalize("user", "x", **fields)).view().messages[0].body


@pytest.mark.parametrize(
    "text",
    ["\ud83d", "\udc80 after", "a\x00b", "\u2028\u2029\u0085", "\x1b[2J", "é e\u0301", "🪵"],
)
def test_any_text_is_kept(text):
    body = given().when(lambda s: s.finalize("user", text)).view().messages[0].body
    assert content_json(body.content) == [{"type": "text", "text": text}]
    assert back(details={text: [text]}).details == {text: [text]}
    assert back(model=text).model == text


@pytest.mark.parametrize("number", [2**53 + 1, 2**64, -(2**200), 10**300, 0.1, 1e-320, -0.0])
def test_any_number_is_kept(number):
    kept = back(usage={"n": number}).usage["n"]
    assert (kept, type(kept)) == (number, type(number))
    assert str(kept) == str(number)


def test_nan_and_the_infinities_are_kept():
    kept = back(details=[float("nan"), float("inf"), float("-inf")]).details
    assert isnan(kept[0])
    assert kept[1:] == [float("inf"), float("-inf")]


def test_a_version_that_holds_nan_is_equal_to_itself():
    first = given().when(lambda s: s.finalize("user", "x", message_id="m", usage=float("nan")))
    first.when(lambda s: s.finalize("user", "x", message_id="m", usage=float("nan"))).then_nothing()


def test_nulls_inside_free_data_are_kept():
    assert back(details={"a": None, "b": [None]}).details == {"a": None, "b": [None]}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b"raw", "details"),
        ({"a": [1, b"raw"]}, r"details\.a\[1\]|value\.a\[1\]"),
        ({"a": {"b": {1, 2}}}, r"\.a\.b is a set"),
        ([datetime(2026, 1, 1)], r"\[0\] is a datetime"),  # noqa: DTZ001 - any will do
        ({"x": Decimal("1.5")}, r"\.x is a Decimal"),
        ({1: "x"}, r"the key 1"),
        ({"a": [{b"k": 1}]}, r"\.a\[0\] has the key b'k'"),
        (object(), "object"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_path(value, path):
    given().when(lambda s: s.finalize("user", "x", details=value)).then_raises(InvalidValue, path)


@pytest.mark.parametrize(
    "content",
    [
        b"raw",
        [b"raw"],
        7,
        None,
        [None],
        [["nested"]],
        {"type": "text"},
        {"type": "text", "text": b"raw"},
        {"type": "text", "text": "x", "colour": "red"},
        {"type": "tool_call", "call_id": "c"},
        {"type": "tool_call", "call_id": 7, "name": "x"},
        {"type": "tool_call", "call_id": "c", "name": "x", "arguments": {"a": b"raw"}},
        {"type": "thinking", "thinking": None},
        {7: "text"},
    ],
)
def test_content_that_is_none_is_refused_and_nothing_is_written(content):
    given().when(lambda s: s.finalize("assistant", content)).then_raises(InvalidValue)


def test_a_refusal_names_the_block_and_the_field():
    given().when(lambda s: s.finalize("user", [{"type": "image", "data": 7}])).then_raises(
        InvalidValue, "image block: data"
    )


def test_nesting_is_kept_up_to_200_levels_and_refused_beyond():
    assert back(details=nested(MAX_DEPTH)).details == nested(MAX_DEPTH)
    given().when(lambda s: s.finalize("user", "x", details=nested(MAX_DEPTH + 1))).then_raises(
        InvalidValue, "deeper than 200 levels"
    )


def test_a_hundred_thousand_levels_are_an_error_of_ours_and_not_of_the_interpreter():
    given().when(lambda s: s.finalize("user", "x", details=nested(100_000))).then_raises(
        InvalidValue, "200 levels"
    )


def test_a_value_that_holds_itself_is_refused():
    ring: list = []
    ring.extend([ring, ring])
    given().when(lambda s: s.finalize("user", "x", details=ring)).then_raises(InvalidValue)


def test_a_number_too_long_to_be_written_is_refused_with_its_path():
    """Python writes no integer of more than 4,300 digits as text, and so no JSON of it."""
    given().when(lambda s: s.finalize("user", "x", usage={"n": 10**5000})).then_raises(
        InvalidValue, r"usage.*\.n"
    )


def test_what_the_caller_changes_afterwards_does_not_reach_the_tape():
    details = {"a": [1]}
    after = given().when(lambda s: s.finalize("user", "x", details=details))
    details["a"].append(2)
    assert after.view().messages[0].body.details == {"a": [1]}


def test_tuples_and_mappings_become_lists_and_objects():
    assert back(details=({"a": (1, 2)},)).details == [{"a": [1, 2]}]


def test_the_canonical_text_sorts_keys_and_escapes_all_that_is_not_ascii():
    assert canonical({"b": "é", "a": [1.0, None, True]}) == b'{"a":[1.0,null,true],"b":"\\u00e9"}'
    assert json.loads(canonical({"\ud83d": "\udc80"})) == {"\ud83d": "\udc80"}


def test_equal_values_have_equal_digests_whatever_their_order():
    assert digest({"b": 1, "a": {"d": 4, "c": 3}}) == digest({"a": {"c": 3, "d": 4}, "b": 1})
    assert digest({"a": 1}) != digest({"a": 1.0})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest("\ud83d") != digest("\ufffd")


def test_scalars_pass_as_they_are():
    for value in ("x", 1, 1.5, True, None):
        assert check_json(value) is value
