"""The laws of the context, over random tapes of any shape and both policies."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.content import ToolCallBlock
from tapefold.domain.context import REASONS
from tapefold.testing import as_plain
from tapefold.testing.strategies import families

POLICIES = st.sampled_from(["anchored", "full"])


def calls_in(row):
    return [block.call_id for block in row.content if isinstance(block, ToolCallBlock)]


@given(families(hostile=True), POLICIES)
def test_calls_and_results_always_stand_in_complete_pairs(family, policy):
    """Each call is followed directly by one result of its id, in call order; no other result."""
    for tape in family:
        rows = list(tape.context(policy).rows)
        while rows:
            row = rows.pop(0)
            assert row.role != "tool_result"
            expected = calls_in(row)
            assert len(set(expected)) == len(expected)
            for call_id in expected:
                result = rows.pop(0)
                assert (result.role, result.call_id) == ("tool_result", call_id)


@given(families(hostile=True), POLICIES)
def test_building_a_context_changes_nothing(family, policy):
    for tape in family:
        session = tape.session()
        before = session.state.describe()
        session.context(policy)
        assert session.state.describe() == before
        assert session.pending_events == ()


@given(families(hostile=True), POLICIES)
def test_a_context_is_deterministic(family, policy):
    for tape in family:
        first, second = tape.context(policy), tape.context(policy)
        assert as_plain(first) == as_plain(second)
        assert first.warnings == second.warnings


@given(families(hostile=True), POLICIES)
def test_every_message_of_the_view_is_a_row_or_left_out_for_one_declared_reason(family, policy):
    for tape in family:
        context, view = tape.context(policy), tape.view()
        rows = Counter(row.message_id for row in context.rows if row.message_id is not None)
        left_out = Counter(left.entry_id for left in context.excluded)
        for message in view.messages:
            assert rows[message.message_id] + left_out[message.entry_id] == 1
        assert {left.reason for left in context.excluded} <= set(REASONS)
        assert set(rows) <= {message.message_id for message in view.messages}


@given(families(hostile=True))
def test_the_full_policy_applies_no_anchor(family):
    for tape in family:
        context = tape.context("full")
        assert not {"summary", "handoff"} & {row.kind for row in context.rows}
        assert "before_boundary" not in {left.reason for left in context.excluded}


@given(families(hostile=True), POLICIES)
def test_the_manifest_lists_every_row_and_every_exclusion_and_no_text(family, policy):
    for tape in family:
        context = tape.context(policy)
        manifest = context.manifest
        assert [entry["entry_id"] for entry in manifest["included"]] == [
            row.entry_id for row in context.rows
        ]
        assert [(e["entry_id"], e["reason"]) for e in manifest["excluded"]] == [
            (left.entry_id, left.reason) for left in context.excluded
        ]
        assert manifest["tokens"] == sum(entry["tokens"] for entry in manifest["included"])
        fields = {name for part in manifest["included"] for name in part}
        assert fields <= {"session_id", "position", "entry_id", "kind", "reason", "tokens"}


@given(families(), POLICIES)
def test_a_context_holds_nothing_but_what_stands_on_the_path(family, policy):
    for tape in family:
        on_path = {item.entry_id for item in tape.view().items}
        rows = tape.context(policy).rows
        assert {row.entry_id for row in rows if row.entry_id is not None} <= on_path
