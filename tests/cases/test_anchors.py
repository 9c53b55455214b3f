"""Cases of anchors: which rules, what a hand-off says, when a summary may be replaced."""

import pytest

from tapefold.domain.errors import ConcurrencyConflict, InvalidValue, StaleSummary
from tapefold.domain.session import Session
from tapefold.testing import Tape, event, given, said


def talk():
    """u1 - a1."""
    return given().user("Wood?", id="u1").assistant("Oak.", id="a1")


def test_records_of_extensions_never_rule():
    """D39"""
    tape = talk().compact("S", keep="a1").custom("memory/extract").custom("persona/evolve").tape
    assert said(tape.context()) == ["summary: S", "assistant: Oak."]


def test_a_hand_off_after_a_compaction_rules_and_both_are_listed():
    """D40"""
    tape = talk().compact("S", id="k").hand_off("H", id="h", name="handoff/x").tape
    assert said(tape.context()) == ["handoff: H"]
    assert [(item.entry_id, item.kind) for item in tape.view().anchors] == [
        ("k", "compaction"),
        ("h", "handoff"),
    ]


def test_a_hand_off_has_a_trimmed_summary_a_prefixed_name_and_what_it_covers():
    """D41"""
    talk().when(lambda s: s.hand_off("  done  ", name="noon")).then(
        event(
            "handoff_anchored",
            name="handoff/noon",
            summary="done",
            covered=("u1", "a1"),
            first_kept=None,
        )
    )


@pytest.mark.parametrize("summary", ["", "   ", None])
def test_a_hand_off_without_a_summary_is_an_error_and_leaves_nothing(summary):
    """D42"""
    session = Session.start("s")
    with pytest.raises(InvalidValue, match="summary"):
        session.hand_off(summary)
    assert session.version == 1
    assert session.collect_events() == []


def test_an_anchor_without_a_summary_still_has_its_boundary():
    """D43"""
    tape = talk().hand_off(None, keep="a1").tape
    assert said(tape.context()) == ["assistant: Oak."]


def test_a_reset_leaves_no_summary_and_no_boundary():
    """D44"""
    tape = talk().compact("S").reset().tape
    assert said(tape.context()) == said(tape.view())


def test_a_summary_of_the_present_is_applied_with_its_own_time():
    """D45"""
    talk().when(
        lambda s: s.compact("S", first_kept=None, expected_position=3, timestamp="t9")
    ).then(event("compaction_anchored", summary="S", timestamp="t9"))


def test_a_summary_of_the_past_is_not_applied():
    """D45"""
    talk().revise("a1", "Beech.").when(
        lambda s: s.compact("S", first_kept=None, expected_position=3)
    ).then_raises(StaleSummary)


def test_a_summary_that_does_not_know_the_ruling_anchor_is_refused():
    """D46"""
    talk().compact("S", keep="a1").user("Glue?").when(
        lambda s: s.compact("T", first_kept=None, expected_position=3)
    ).then_raises(StaleSummary)


def test_where_a_new_summary_cannot_be_saved_the_old_one_stands(sessions):
    """D47"""
    session = sessions.start("s")
    session.finalize("user", "Wood?", message_id="u1")
    session.compact("OLD", first_kept=None)
    session.finalize("user", "Glue?", message_id="u2")
    sessions.save(session)
    late = sessions.get("s")
    late.compact("NEW", first_kept=None)
    sessions.execute("s", lambda s: s.finalize("user", "Paint?"))
    with pytest.raises(ConcurrencyConflict):
        sessions.save(late)
    assert said(sessions.context("s")) == ["summary: OLD", "user: Glue?", "user: Paint?"]


def test_anchors_are_listed_the_oldest_first():
    """D48"""
    tape = Tape()
    tape.user("u")
    for entry_id in ("k1", "k2", "k3"):
        tape.compact("S", id=entry_id)
    anchors = [item.entry_id for item in tape.view().anchors]
    assert (anchors[-1:], anchors[-2:]) == (["k3"], ["k2", "k3"])
