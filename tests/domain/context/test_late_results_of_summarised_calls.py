"""A result that arrives after its call was summarised."""

from __future__ import annotations

from tapefold import Session

CALL = {"type": "tool_call", "call_id": "c1", "name": "dig", "arguments": {}}


def test_it_is_left_out_by_its_reason_and_makes_the_summary_stale():
    session = Session.start("s")
    session.finalize("user", "Dig a hole.")
    asked = session.finalize("assistant", ["On it.", CALL])
    on = session.finalize("user", "Meanwhile, how deep is frost?")
    session.compact("A hole is being dug.", first_kept=on.entry_id)
    assert [w.code for w in session.context().warnings] == []

    late = session.finalize("tool_result", "There is rock.", for_call="c1")
    context = session.context()
    assert [(x.entry_id, x.reason) for x in context.excluded if x.reason != "before_boundary"] == [
        (late.entry_id, "call_summarised")
    ]
    (warning,) = context.warnings
    assert warning.code == "stale_summary"
    assert warning.entry_ids == (asked.entry_id,)
