"""Cases of appending: positions, keys, retries, all or nothing."""

import pytest

from tapefold.domain.errors import ConcurrencyConflict, ProvenanceConflict, TapefoldError
from tapefold.domain.jsonvalues import sha256_hex
from tapefold.domain.session import Session
from tapefold.testing import given, said


def test_positions_are_counted_in_each_session_by_itself(sessions):
    """D1"""
    for session_id, texts in (("s1", "abc"), ("s2", "a")):
        session = sessions.start(session_id)
        for text in texts:
            session.finalize("user", text)
        sessions.save(session)
    assert [e.position for e in sessions.tape("s1")] == [1, 2, 3, 4]  # its start is the first
    assert [e.position for e in sessions.tape("s2")] == [1, 2]


def test_one_key_twice_leaves_the_first_payload_alone_and_says_so():
    """D2"""
    first = given().when(lambda s: s.finalize("user", "first", key="k"))
    second = first.when(lambda s: s.finalize("user", "second", key="k"))
    second.then_raises(ProvenanceConflict)
    assert said(second.session.view()) == ["user: first"]


def test_without_a_key_the_same_twice_is_two():
    """D3"""
    first = given().when(lambda s: s.finalize("user", "yes"))
    assert said(first.when(lambda s: s.finalize("user", "yes")).view()) == ["user: yes"] * 2


def test_a_tape_has_one_start_with_its_owner_and_an_incarnation_of_its_own(sessions):
    """D6"""
    sessions.start("s", owner="human", persist=True)
    with pytest.raises(TapefoldError):
        sessions.start("s", owner="human", persist=True)
    (start,) = sessions.tape("s")
    assert start.body.owner == "human"
    again = Session.start("s", owner="human").pending_events[0]
    assert start.body.incarnation
    assert again.body.incarnation != start.body.incarnation


def test_the_first_event_of_a_tape_is_its_start_whatever_is_recorded_first():
    """D7"""
    session = Session.start("s")
    session.record_custom("memory/extract", {"ids": [1]})
    session.finalize("user", "Hello")
    kinds = [event.head.kind for event in session.collect_events()]
    assert kinds == ["session_started", "custom_recorded", "message_finalized"]


def test_equal_objects_have_one_hash_whatever_the_order_of_their_keys():
    """D8"""
    expected = "943d56ce0b02b80a8afcd12d849426226b68f2d8cd2840af8f6f93067f14c360"
    assert sha256_hex({"b": 1, "a": {"d": 4, "c": 3}}) == expected
    assert sha256_hex({"a": {"c": 3, "d": 4}, "b": 1}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"messageId": "a1", "orderSeq": 2, "toolCallId": "t1", "response": "r"},
            "58c02aead934e48504071c786039a659867820ef16c4e69ada2b51d564cc4d3c",
        ),
        ("done", "58bf5b5478e5d1fb7441daeff9fd1ed60a4ad5fbfabc64715cd8608f3f59f6da"),
    ],
)
def test_hashes_are_those_of_the_peer(value, expected):
    """D8"""
    assert sha256_hex(value) == expected


def test_an_append_of_several_events_is_all_or_nothing(sessions):
    """T67"""
    session = sessions.start("s")
    session.finalize("user", "Hello")
    sessions.save(session)

    def two_and_a_fault(session):
        session.finalize("user", "One")
        session.finalize("user", "Two")
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="disk"):
        sessions.execute("s", two_and_a_fault)
    assert said(sessions.view("s")) == ["user: Hello"]
    sessions.execute("s", lambda s: s.finalize("user", "Three"))
    assert said(sessions.view("s")) == ["user: Hello", "user: Three"]


def test_a_save_that_is_refused_leaves_the_tape_as_it_was(sessions):
    """T67"""
    session = sessions.start("s")
    session.finalize("user", "Hello")
    sessions.save(session)
    late = sessions.get("s")
    sessions.execute("s", lambda s: s.finalize("user", "First"))
    late.finalize("user", "One")
    late.finalize("user", "Two")
    with pytest.raises(ConcurrencyConflict):
        sessions.save(late)
    assert said(sessions.view("s")) == ["user: Hello", "user: First"]


def test_a_retry_of_what_was_written_already_writes_no_second_line(sessions):
    """T68"""
    session = sessions.start("s")
    session.finalize("user", "Hello", key="delivery-1")
    sessions.save(session)
    again = sessions.execute("s", lambda s: s.finalize("user", "Hello", key="delivery-1"))
    assert (again.changed, again.position) == (False, 2)
    assert said(sessions.view("s")) == ["user: Hello"]


def test_a_first_prompt_that_was_given_up_leaves_nothing(sessions):
    """T68"""
    session = sessions.start("s", title="Bird box")
    session.set_model("oak-2")
    session.draft("assistant", "Let me")
    sessions.save(session)
    assert list(sessions.sessions()) == []
