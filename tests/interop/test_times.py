"""Time tokens: which can be read, and what they are in milliseconds."""

import pytest

from tapefold.interop.pi import PI
from tapefold.interop.rows import js_time
from tapefold.interop.tau import TAU
from tapefold.interop.times import seconds_to_milliseconds, token_milliseconds


@pytest.mark.parametrize(
    ("token", "milliseconds"),
    [
        ("2026-10-01T10:00:01.500Z", 1790848801500),
        ("2026-10-01T12:00:01.500+02:00", 1790848801500),
        ("2026-10-01T10:00:02.123987Z", 1790848802123),
        ("2026-10-01T10:00:03.5Z", 1790848803500),
        ("2026-10-02", 1790899200000),
        ("1969-12-31T23:59:59.250Z", -750),
        (1790848801500.9, 1790848801500),
        (None, 0),
        (True, 1),
        ("half past nine", None),
        ("2026-03-02T25:00:00.000Z", None),
        (float("nan"), None),
        ([], None),
    ],
)
def test_pi_reads_iso_text_and_numbers_and_cuts_to_milliseconds(token, milliseconds):
    assert js_time({"timestamp": token}) == milliseconds


def test_no_time_at_all_is_none():
    assert js_time({}) is None


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [
        (1.0005, 1000),
        (1.0015, 2 + 1000),
        (1.0025, 1002),
        (-1.0005, -1000),
        (1790000000, 1790000000000),
    ],
)
def test_tau_rounds_the_float_product_half_to_even(seconds, milliseconds):
    assert seconds_to_milliseconds(seconds) == milliseconds


@pytest.mark.parametrize("seconds", [1e300, float("inf"), float("nan"), 10**400])
def test_what_is_no_time_in_milliseconds_gives_none_or_a_number(seconds):
    found = seconds_to_milliseconds(seconds)
    assert found is None or isinstance(found, int)


@pytest.mark.parametrize(
    ("token", "by_pi", "by_tau"),
    [
        ("2026-10-01T10:00:01Z", True, False),
        ("1790000000.5", False, True),
        (1790000000, True, True),
        (None, False, False),
        (True, False, False),
        (float("inf"), False, False),
        ("x", False, False),
        ("nan", False, False),
        (10**400, False, False),
        (8.64e15, True, False),
        (8.65e15, False, False),
        ("8.65e12", False, False),
    ],
)
def test_each_tool_has_its_own_readable_times(token, by_pi, by_tau):
    assert (PI.is_time(token), TAU.is_time(token)) == (by_pi, by_tau)


@pytest.mark.parametrize(
    ("token", "seconds", "milliseconds"),
    [
        (1.5, True, 1500),
        (1.5, False, 1),
        ("1.5", True, 1500),
        ("1.5", False, None),
        ("2026-10-02", True, 1790899200000),
        ("x", True, None),
        (False, True, None),
    ],
)
def test_a_bare_number_counts_what_its_writer_counts(token, seconds, milliseconds):
    assert token_milliseconds(token, seconds) == milliseconds
