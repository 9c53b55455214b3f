"""An anchor may hang under any entry: it covers the path to that entry, not the leaf's."""

from __future__ import annotations

import pytest

from tapefold import InvalidBoundary, Session


def two_branches() -> tuple[Session, list[str], str]:
    session = Session.start("s")
    left = [session.finalize("user", f"left {n}").entry_id or "" for n in range(3)]
    right = session.finalize("user", "right", under=left[0]).entry_id or ""
    session.move_leaf(right)
    return session, left, right


def test_a_compaction_under_an_entry_covers_the_path_to_it_and_leaves_the_leaf_alone():
    session, left, right = two_branches()
    outcome = session.compact("what was left", first_kept=left[2], under=left[2])
    assert session.state.leaf == right
    assert [row.kind for row in session.context(leaf=outcome.entry_id).rows] == [
        "summary",
        "message",
    ]
    assert [row.kind for row in session.context().rows] == ["message", "message"]


def test_its_boundary_has_to_be_on_that_path():
    session, left, right = two_branches()
    with pytest.raises(InvalidBoundary, match="not on the path"):
        session.compact("no", first_kept=right, under=left[2])
    assert session.coverage(left[2], under=left[2]).covered == (left[0], left[1])


def test_a_hand_off_under_an_entry_rules_there_only():
    session, left, right = two_branches()
    outcome = session.hand_off("over to you", under=left[1])
    assert session.state.leaf == right
    assert [row.kind for row in session.context(leaf=outcome.entry_id).rows] == ["handoff"]
    assert len(session.context().rows) == 2
