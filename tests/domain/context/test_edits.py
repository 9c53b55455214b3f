"""Context edits: replacing ones hold for the versions before them, leaving out stays."""

from tapefold.testing import said


def test_a_replacing_edit_shows_in_the_context_only(talk):
    talk.edit("a1", "Some wood.")
    assert said(talk.context())[1] == "assistant: Some wood."
    assert said(talk.view())[1] == "assistant: Oak."
    assert talk.context().rows[1].reason == "edited"


def test_a_later_version_wins_and_the_edit_is_reported_superseded(talk, why, codes):
    edit = talk.edit("a1", "Some wood.")
    talk.revise("a1", "Beech.")
    context = talk.context()
    assert said(context)[1] == "assistant: Beech."
    assert why(context) == {edit: "superseded"}
    assert codes(context) == ["superseded"]
    assert context.warnings[0].entry_ids == (edit, "a1")


def test_an_edit_after_the_later_version_holds(talk):
    talk.revise("a1", "Beech.")
    talk.edit("a1", "Some wood.")
    assert said(talk.context())[1] == "assistant: Some wood."


def test_a_message_that_was_brought_back_after_the_edit_is_a_later_version(talk):
    talk.edit("a1", "Some wood.")
    talk.retract("a1")
    assert len(said(talk.context())) == 3
    talk.revise("a1", "Oak.", revives=True)
    assert said(talk.context())[1] == "assistant: Oak."


def test_an_edit_that_leaves_out_stays_whatever_version_comes(talk, why):
    talk.edit("a1")
    talk.revise("a1", "Beech.")
    assert said(talk.context()) == ["user: Wood?", "user: Glue?", "assistant: Hide glue."]
    assert why(talk.context()) == {"a1": "edited_out"}


def test_the_last_edit_of_a_target_on_the_path_counts(talk):
    talk.edit("a1", "One.")
    talk.edit("a1", "Two.")
    assert said(talk.context())[1] == "assistant: Two."
    talk.edit("a1")
    assert len(said(talk.context())) == 3
    talk.edit("a1", "Four.")
    assert said(talk.context())[1] == "assistant: Four."


def test_last_means_on_the_path_not_on_the_tape(talk):
    """The edit that is written last hangs above the one that is written first."""
    talk.edit("a1", "below", id="below", parent_id="above", takes_leaf=True)
    talk.edit("a1", "above", id="above", parent_id="a2", takes_leaf=False)
    assert said(talk.context())[1] == "assistant: below"


def test_edits_on_other_branches_do_nothing_here(talk):
    side = talk.edit("a1", "Some wood.", under="u2")
    assert said(talk.context())[1] == "assistant: Oak."
    assert said(talk.context(leaf=side))[1] == "assistant: Some wood."


def test_an_edit_below_the_leaf_does_nothing_yet(talk):
    talk.edit("a1", "Some wood.")
    assert said(talk.context(leaf="a2"))[1] == "assistant: Oak."


def test_an_edit_of_what_the_summary_covers_does_nothing(talk, codes):
    talk.edit("a1", "Some wood.")
    talk.compact("S", keep="u2")
    assert said(talk.context()) == ["summary: S", "user: Glue?", "assistant: Hide glue."]
    assert codes(talk.context()) == []


def test_an_edit_behind_the_boundary_of_what_is_kept_holds(talk):
    talk.user("Paint?", id="u3")
    talk.edit("u3", "Which paint?")
    talk.compact("S", keep="u3")
    assert said(talk.context()) == ["summary: S", "user: Which paint?"]


def test_edits_hold_under_the_full_policy_too(talk):
    talk.edit("a1", "Some wood.")
    assert said(talk.context("full"))[1] == "assistant: Some wood."


def test_a_summary_and_a_branch_summary_are_edited_as_messages_are(talk):
    bs = talk.branch_summary("a2", "Pale")
    talk.edit(bs, "Too pale")
    assert said(talk.context())[-1] == "branch_summary: Too pale"
    talk.edit(bs)
    assert len(said(talk.context())) == 4
    k = talk.compact("S", keep="u2")
    talk.edit(k, "T")
    assert said(talk.context())[0] == "summary: T"
    talk.edit(k)
    assert said(talk.context())[0] == "user: Glue?"


def test_an_edit_to_nothing_but_space_leaves_the_message_out(talk, why):
    talk.edit("a1", "  ")
    assert why(talk.context()) == {"a1": "empty"}


def test_an_edit_of_what_is_no_row_does_nothing(talk):
    model = talk.model("oak-2")
    talk.edit(model, "x")
    talk.edit("nowhere", "x")
    assert said(talk.context()) == said(talk.view())


def test_an_edit_of_a_result_keeps_it_paired(talk):
    talk.assistant("", id="a3", calls=["c"])
    talk.result("c", "a very long result", "a3", id="r")
    talk.edit("r", "short")
    result = talk.context().rows[-1]
    assert (said(talk.context())[-1], result.call_id) == ("tool_result: short", "c")
    assert result.reason == "edited"


def test_a_result_that_is_left_out_is_replaced_by_an_interruption(talk, why):
    talk.assistant("", id="a3", calls=["c"])
    talk.result("c", "secret", "a3", id="r")
    talk.edit("r")
    assert said(talk.context())[-1] == "synthetic: interrupted"
    assert why(talk.context()) == {"r": "edited_out"}


def test_leaving_out_a_message_leaves_out_the_results_of_its_calls(talk, why):
    talk.assistant("", id="a3", calls=["c"])
    talk.result("c", "ok", "a3", id="r")
    talk.edit("a3")
    assert len(said(talk.context())) == 4
    assert why(talk.context()) == {"a3": "edited_out", "r": "call_left_out"}


def test_an_edit_that_drops_a_call_leaves_out_its_result(talk, why):
    talk.assistant("Let me", id="a3", calls=["c", "d"])
    talk.result("c", "one", "a3", id="r1")
    talk.result("d", "two", "a3", id="r2")
    talk.edit("a3", [{"type": "tool_call", "call_id": "d", "name": "tool"}])
    assert said(talk.context())[-2:] == ["assistant: tool(d)", "tool_result: two"]
    assert why(talk.context()) == {"r1": "call_left_out"}


def test_an_edit_that_adds_a_call_gets_an_interruption_for_it(talk):
    """Nobody made the call, so nothing came back; a call without a result is refused."""
    talk.edit("a2", ["Let me", {"type": "tool_call", "call_id": "new", "name": "saw"}])
    assert said(talk.context())[-2:] == ["assistant: Let me saw(new)", "synthetic: interrupted"]
