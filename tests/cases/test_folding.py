"""Cases of the fold: which version of which message shows, where, with which calls.

M is a version of a message, R a retraction of it; @n counts the events after the start.
"""

import random

import pytest

from tapefold.domain.kernel import fold
from tapefold.domain.view import build_view
from tapefold.testing import Tape, given, said


def shown(tape, **options):
    """(message, status, number of the event after the start) of the messages that show."""
    return [(m.message_id, m.status, m.position - 1) for m in tape.view(**options).messages]


def test_two_messages_show_in_their_order_with_their_events():
    """D21"""
    tape = Tape()
    tape.user("u", id="u1", order_seq=1)
    tape.assistant("a", id="a1", order_seq=2)
    assert shown(tape) == [("u1", "sent", 1), ("a1", "sent", 2)]


def test_messages_sort_by_their_order_numbers_and_the_tape_by_its_positions():
    """D22"""
    tape = Tape()
    tape.user("b", id="b", order_seq=2)
    tape.user("a", id="a", order_seq=1)
    assert shown(tape) == [("a", "sent", 2), ("b", "sent", 1)]
    assert [e.head.message_id for e in tape.events[1:]] == ["b", "a"]


def test_equal_order_numbers_sort_by_the_bytes_of_the_id():
    """D23"""
    tape = Tape()
    for message_id in ("a", "Z", "é"):
        tape.user(message_id, id=message_id, order_seq=1)
    assert [m for m, _, _ in shown(tape)] == ["Z", "a", "é"]


def test_sent_and_error_are_of_one_rank_and_the_last_counts():
    """D24"""
    tape = Tape()
    tape.assistant("1", id="m", status="error")
    tape.revise("m", "2")
    tape.revise("m", "3", status="error")
    assert shown(tape) == [("m", "error", 3)]


def test_a_draft_that_comes_after_the_final_version_does_not_push_it_aside():
    """D25"""
    tape = Tape()
    tape.draft("1", id="a")
    tape.finalize("a", "2")
    tape.redraft("a", "3")
    assert shown(tape, include_pending=True) == [("a", "sent", 2)]


def test_a_draft_shows_where_drafts_are_asked_for():
    """D26"""
    tape = Tape()
    tape.draft("1", id="a")
    assert shown(tape) == []
    assert shown(tape, include_pending=True) == [("a", "pending", 1)]


def test_a_retracted_message_is_gone_and_the_other_stays():
    """D27"""
    tape = Tape()
    tape.user("1", id="u1")
    tape.user("2", id="u2")
    tape.retract("u2")
    assert shown(tape) == [("u1", "sent", 1)]


def test_a_retraction_before_the_first_version_strikes_nothing_out():
    """D28"""
    tape = Tape()
    tape.retract("m")
    tape.user("1", id="m")
    assert shown(tape) == [("m", "sent", 2)]


def test_a_draft_that_revives_a_struck_message_shows_as_a_draft():
    """D29"""
    tape = Tape()
    tape.assistant("1", id="m")
    tape.retract("m")
    tape.redraft("m", "3", revives=True)
    assert shown(tape) == []
    assert shown(tape, include_pending=True) == [("m", "pending", 3)]


def test_a_draft_that_revives_nothing_stays_struck():
    """D29"""
    tape = Tape()
    tape.assistant("1", id="m")
    tape.retract("m")
    tape.redraft("m", "3")
    assert shown(tape, include_pending=True) == []


@pytest.mark.parametrize("stop_reason", ["weird", None])
def test_a_record_whose_status_is_odd_or_missing_shows_as_sent(pi, stop_reason):
    """D30"""
    record = pi.assistant("m", None, stopReason=stop_reason)
    if stop_reason is None:
        del record["message"]["stopReason"]
    assert [m.status for m in pi.read(record).view().messages] == ["sent"]


def test_a_malformed_version_does_not_push_a_good_one_aside(pi):
    """D31"""
    tape = Tape()
    tape.user("good", id="m")
    tape.revise("m", "odd", status="weird")
    assert shown(tape) == [("m", "sent", 1)]
    good = pi.user("m", None, "good")
    session = pi.read(good, {**good, "message": {"role": "nobody"}})
    assert session.said() == ["good"]
    assert session.report.foreign == 1


def test_facts_are_ranked_by_their_status():
    """D32"""
    tape = given().assistant("Let me", id="a").tape
    for status in ("success", "error", "pending", None, "loading"):
        tape.call_fact("a", str(status), status=status)

    def ids(**options):
        return [c.call_id for c in tape.view(**options).messages[0].calls]

    assert ids() == ["success", "error"]
    assert ids(include_pending=True) == ["success", "error", "pending"]


def test_a_result_shows_where_its_message_stands_now_and_its_fact_stays_as_it_is():
    """D33"""
    tape = Tape()
    tape.assistant("", id="a", calls=["c"], order_seq=2)
    tape.result_fact("a", "c", "r", order_seq=2)
    tape.revise("a", "", calls=["c"], order_seq=7)
    (message,) = tape.view().messages
    assert (message.order_seq, message.calls[0].status) == (7, "success")
    assert tape.events[2].head.order_seq == 2


def test_a_result_of_a_message_that_is_not_there_shows_nowhere():
    """D34"""
    tape = Tape()
    tape.user("u", id="u")
    tape.result_fact("nobody", "c", "r")
    assert shown(tape) == [("u", "sent", 1)]
    assert said(tape.context()) == ["user: u"]


def test_events_about_requests_merges_and_backfills_stand_on_the_tape_and_change_no_message():
    """D35"""
    tape = Tape()
    tape.user("u", id="u")
    before = said(tape.view()), said(tape.context())
    tape.context_assembled({"policy": "anchored"})
    tape.model_call(status="completed")
    tape.merged("child")
    tape.backfilled(read=3)
    tape.custom("compaction_indicator")
    assert (said(tape.view()), said(tape.context())) == before
    assert len(tape.events) == 7


def test_any_order_of_the_events_gives_the_same(pi):
    """D37"""
    tape = Tape()
    tape.user("u", id="u", order_seq=3)
    tape.assistant("", id="a", calls=["c"], order_seq=1)
    tape.result_fact("a", "c", "r")
    tape.retract("u")
    tape.revise("u", "again", revives=True)
    tape.compact("S", keep="a")
    expected = fold(tape.events).describe()
    events = list(tape.events)
    for seed in range(20):
        random.Random(seed).shuffle(events)
        state = fold(events)
        assert state.describe() == expected
        assert said(build_view(state, tape.tapes)) == said(tape.view())


def test_a_retraction_strikes_out_what_its_targets_name_and_nothing_else():
    """D38"""
    tape = Tape()
    tape.user("1", id="m")
    tape.user("2", id="n")
    tape.retract("n", extra={"messageId": "m"})
    assert shown(tape) == [("m", "sent", 1)]
