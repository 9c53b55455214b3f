"""The text that digests are made of. It is storage: another text would be another digest."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.jsonvalues import canonical, digest

ANY_TEXT = st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
)


@given(VALUES)
def test_it_is_what_the_standard_library_writes_with_sorted_keys(value):
    expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert canonical(value) == expected.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, b'{"a":[true,null],"b":1}'),
        ("\ud83d lone", rb'"\ud83d lone"'),
        (10**30, b"1" + b"0" * 30),
        ([1e-9, -0.0, math.inf], b"[1e-09,-0.0,Infinity]"),
    ],
)
def test_it_never_changes(value, text):
    assert canonical(value) == text


def test_a_digest_never_changes():
    assert digest({"b": 1, "a": "\u00fc"}) == "9e638ba662cf35927d64a82a7a37816a"
