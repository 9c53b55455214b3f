"""Repair of broken tool history. The letters: U user, A[ids] a caller, R id a result."""

import pytest
from hypothesis import given, settings

from tapefold.domain.content import content_json
from tapefold.domain.errors import InvalidValue
from tapefold.domain.nodes import CONTEXT_EDIT
from tapefold.domain.repair import NAMESPACE
from tapefold.testing import Tape
from tapefold.testing.strategies import families


def rows(session):
    """The messages as they stand: user, a call's ids, `R` and the id, `I` for an interruption."""
    out = []
    for message in session.view().messages:
        if message.role == "tool_result":
            out.append(f"R{message.content[0].text}" if message.content else "R")
        elif message.role == "assistant":
            out.append(f"A[{','.join(call.call_id for call in message.calls)}]")
        else:
            out.append("U")
    return out


def scripted(*lines):
    """A tape of `U`, `A1,2` and `R1` lines; a result's text is its call's id."""
    tape = Tape()
    for line in lines:
        if line == "U":
            tape.user("u")
        elif line.startswith("A"):
            tape.assistant("a", calls=[i for i in line[1:].split(",") if i])
        elif line.startswith("I"):
            tape.result(line[1:], "I", interruption=True, is_error=True)
        else:
            tape.result(line[1:].rstrip("'"), line[1:])
    return tape


@pytest.mark.parametrize(
    ("lines", "mended", "counts"),
    [
        ("U A1,2 R2 R1", ["U", "A[1,2]", "R1", "R2"], (0, 2, 0, 0)),
        ("U A1,2 R2 U", ["U", "A[1,2]", "Rinterrupted", "R2", "U"], (1, 1, 0, 0)),
        ("U R9 A", ["U", "A[]"], (0, 0, 1, 0)),
        ("U A1 R1 R1'", ["U", "A[1]", "R1"], (0, 0, 0, 1)),
        ("R1 U A1", ["U", "A[1]", "R1"], (0, 1, 0, 0)),
        ("U A1,2 R1 U R2", ["U", "A[1,2]", "R1", "R2", "U"], (0, 1, 0, 0)),
        ("U A1 I1 U R1", ["U", "A[1]", "R1", "U"], (0, 1, 0, 1)),
        ("U A1", ["U", "A[1]", "Rinterrupted"], (1, 0, 0, 0)),
    ],
)
def test_each_call_has_one_result_directly_after_it(lines, mended, counts):
    session = scripted(*lines.split()).session()
    done = session.repair()
    assert rows(session) == mended
    assert (done.synthesized, done.reordered, done.orphans, done.duplicates) == counts
    assert not session.repair().changed


@pytest.mark.parametrize("lines", ["", "U", "U A U", "U A1,2 R1 R2 U", "U A1 R1 A1 R1"])
def test_what_is_in_order_is_left_alone(lines):
    session = scripted(*lines.split()).session()
    before = session.version
    assert not session.repair().changed
    assert session.version == before


def test_the_branch_begins_at_the_last_entry_that_stands_right():
    session = scripted("U", "A1", "U", "R1").session()
    done = session.repair()
    assert done.parent_id == "e2"
    moved, marker, result, user = session.pending_events
    assert moved.head.targets == ("e2",)
    assert (marker.body.namespace, marker.head.parent_id) == (NAMESPACE, "e2")
    assert result.head.owner == "e2"
    assert user.head.parent_id == result.head.entry_id
    assert {event.body.source for event in session.pending_events} == {"repair"}
    assert session.state.leaf == user.head.entry_id == done.entry_id


def test_a_summary_keeps_ruling_when_the_damage_lies_in_what_it_keeps():
    """Tau's own repair loses the compaction here, and brings back all that it summarised."""
    tape = Tape()
    tape.user("old", id="o")
    tape.user("kept", id="k")
    tape.assistant("a", calls=["1"], id="a")
    tape.user("u", id="u")
    tape.result("1", "late", id="r")
    tape.compact("short", keep="k", id="c")
    tape.user("new", id="n")
    session = tape.session()
    before = [row.content for row in session.context().rows]
    assert session.repair().changed
    after = session.context()
    assert [row.content for row in after.rows] == before
    assert after.rows[0].kind == "summary"


def test_settings_and_custom_data_behind_the_damage_come_along():
    tape = scripted("U", "A1", "U", "R1")
    tape.model("m-2")
    tape.custom(namespace="ext", data={"k": 1})
    session = tape.session()
    session.repair()
    kinds = [event.head.kind for event in session.pending_events]
    assert kinds[-2:] == ["model_changed", "custom_recorded"]
    assert session.view().settings.model == "m-2"


def test_a_recorded_result_needs_no_repair():
    tape = scripted("U", "A1")
    tape.result_fact("e2", "1", "42")
    assert not tape.session().repair().changed


def test_a_draft_stays_where_it_is_with_a_warning():
    tape = scripted("U", "A1", "U", "R1")
    tape.draft("half")
    done = tape.session().repair()
    assert [warning.code for warning in done.warnings] == ["draft_left"]


def test_a_key_is_refused():
    with pytest.raises(InvalidValue, match="no provenance key"):
        scripted("U", "A1").session().repair(key="k")


def test_an_edit_that_a_later_one_has_won_over_is_not_copied():
    """The last one counts, and only that."""
    tape = scripted("U", "A1", "U")
    first, *_ = tape.session().view().items
    tape.edit(first.entry_id, "first edit")
    tape.edit(first.entry_id, "second edit")
    session = tape.session()
    before = sent(session.context())
    session.repair()
    assert sent(session.context()) == before
    edits = [item for item in session.view().items if item.kind == CONTEXT_EDIT]
    assert [content_json(item.event.body.content)[0]["text"] for item in edits] == ["second edit"]


def sent(context):
    """What is sent; a made-up result reads as the one that a repair writes."""
    return [
        (
            row.role,
            content_json(row.content) or [{"type": "text", "text": "interrupted"}],
            row.call_id,
        )
        for row in context.rows
    ]


@settings(max_examples=25, deadline=None)
@given(families(max_size=25))
def test_a_repair_changes_nothing_that_is_sent_and_is_done_once(family):
    for tape in family:
        session = tape.session()
        before = sent(session.context())
        session.repair()
        assert sent(session.context()) == before
        assert not session.repair().changed
