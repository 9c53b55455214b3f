"""A delivery of `retract_from` is named by the entry, not by what hangs below it by now."""

from __future__ import annotations

from tapefold import Session


def test_it_can_be_retried_after_the_path_has_grown_or_the_leaf_has_moved():
    session = Session.start("s")
    first = session.finalize("user", "one")
    second = session.finalize("user", "two")
    struck = session.retract_from(second.entry_id or "", key="k")
    session.finalize("user", "three")
    for _ in range(2):
        again = session.retract_from(second.entry_id or "", key="k")
        assert (again.position, again.changed) == (struck.position, False)
        session.move_leaf(first.entry_id)


def test_a_revision_told_by_an_older_summary_that_is_still_sent_resets_it():
    """The context's own selection says what a summary stands for, in one place."""
    from tapefold.domain.drafts import Draft
    from tapefold.domain.events import CompactionAnchored

    session = Session.start("s")
    m = [session.finalize("user", f"m{n}").entry_id or "" for n in range(4)]
    session.append_imported(
        [
            Draft.of(
                CompactionAnchored,
                CompactionAnchored.BODY(summary="k1"),
                entry_id="k1",
                parent_id=m[3],
                takes_leaf=True,
                name="compaction/imported",
                first_kept=m[3],
                cumulative=True,
            ),
            Draft.of(
                CompactionAnchored,
                CompactionAnchored.BODY(summary="k2"),
                entry_id="k2",
                parent_id="k1",
                takes_leaf=True,
                name="compaction/imported",
                first_kept=m[1],
                cumulative=True,
            ),
        ]
    )
    assert [row.entry_id for row in session.context().rows] == ["k2", m[3], "k1"]
    outcome = session.retract(m[2])
    assert [w.code for w in outcome.warnings] == ["summary_reset"]


def test_a_pending_result_is_no_answer_for_a_boundary():
    session = Session.start("s")
    session.finalize("user", "dig")
    call = {"type": "tool_call", "call_id": "c", "name": "dig", "arguments": {}}
    asked = session.finalize("assistant", [call])
    session.record_result(asked.message_id or "", "c", "digging", status="pending")
    assert session.coverage(None).boundary == asked.entry_id


def test_a_branch_summary_that_the_summary_does_not_tell_of_makes_it_stale():
    import pytest

    from tapefold import StaleSummary

    session = Session.start("s")
    session.finalize("user", "one")
    session.finalize("user", "two")
    at = session.version
    session.summarize_branch(session.state.leaf or "", "learnt elsewhere")
    with pytest.raises(StaleSummary):
        session.compact("sum", first_kept=None, expected_position=at)
