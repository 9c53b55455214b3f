"""The boundary of a compaction: an entry of the context, moved back where it would split."""

import pytest

from tapefold.domain.errors import InvalidBoundary, InvalidValue, UnknownEntry
from tapefold.testing import event, given, said


def talk():
    """u1 - a1 - u2 - a2 - u3."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .user("Glue?", id="u2")
        .assistant("Hide glue.", id="a2")
        .user("Paint?", id="u3")
    )


def compact(boundary, **fields):
    return lambda s: s.compact("So far: oak.", first_kept=boundary, **fields)


def test_the_summary_stands_for_what_lies_before_the_boundary():
    after = talk().when(compact("u2"))
    after.then(
        event(
            "compaction_anchored",
            name="compaction/manual",
            summary="So far: oak.",
            first_kept="u2",
            covered=("u1", "a1"),
            parent_id="u3",
            takes_leaf=True,
        )
    ).then_outcome(warnings=[])
    assert said(after.context()) == [
        "summary: So far: oak.",
        "user: Glue?",
        "assistant: Hide glue.",
        "user: Paint?",
    ]


def test_a_compaction_hides_nothing_in_the_view():
    after = talk().when(compact("u2"))
    assert said(after.view()) == said(talk().tape.view())


def test_nothing_may_be_kept():
    after = talk().when(compact(None))
    assert said(after.context()) == ["summary: So far: oak."]


def test_how_a_compaction_came_about_is_its_name():
    talk().when(compact("u2", how="auto")).then(
        event("compaction_anchored", name="compaction/auto")
    )
    talk().when(compact("u2", how="compaction/resume")).then(
        event("compaction_anchored", name="compaction/resume")
    )


def test_a_compaction_keeps_its_figures():
    talk().when(
        compact("u2", tokens_before=900, tokens_after=80, usage={"input": 9}, model="oak-2")
    ).then(event("compaction_anchored", tokens_before=900, tokens_after=80, model="oak-2"))


@pytest.mark.parametrize("summary", ["", "  \n", None, 7])
def test_a_compaction_without_a_summary_is_refused(summary):
    talk().when(lambda s: s.compact(summary, first_kept="u2")).then_raises(InvalidValue, "summary")


@pytest.mark.parametrize("how", ["a\nb", "x" * 300, 7])
def test_a_name_is_short_text(how):
    talk().when(compact("u2", how=how)).then_raises(InvalidValue, "name")


def test_a_boundary_that_does_not_exist_is_refused():
    talk().when(compact("zz")).then_raises(UnknownEntry, "'zz'")


def test_a_boundary_on_another_branch_is_refused():
    talk().assistant("Beech.", id="side", under="u1").when(compact("side")).then_raises(
        InvalidBoundary, "not on the path"
    )


def test_a_boundary_behind_the_ruling_one_is_refused():
    talk().compact("S", keep="u2").when(compact("a1")).then_raises(
        InvalidBoundary, "no entry of the present context"
    )


def test_an_anchor_is_no_boundary():
    talk().compact("S", id="k", keep="u2").user("More", id="u4").when(compact("k")).then_raises(
        InvalidBoundary
    )


def test_a_mark_is_no_boundary():
    marked = talk().usage({}, entry_id="spent", parent_id="u3", stands_for="u3", takes_leaf=True)
    marked.user("More", under="spent").when(compact("spent")).then_raises(InvalidBoundary)


def test_a_boundary_with_nothing_before_it_is_refused():
    talk().when(compact("u1")).then_raises(InvalidBoundary, "nothing lies before")
    given().when(compact(None)).then_raises(InvalidBoundary, "nothing lies before")


def test_an_entry_that_is_no_message_may_be_the_boundary():
    setting = talk().model("oak-2", id="m").user("More")
    setting.when(compact("m")).then(event("compaction_anchored", first_kept="m"))


def test_what_the_kept_range_of_a_reset_context_holds_may_be_the_boundary():
    whole = talk().compact("S", keep="u2").reset()
    whole.when(compact("a1")).then(event("compaction_anchored", covered=("u1",)))


# -- moved back ------------------------------------------------------------------------------


def calling():
    """u1 - a1 calling c - r - u2."""
    return (
        given()
        .user("Measure", id="u1")
        .assistant("", id="a1", calls=["c"])
        .result("c", "12", "a1", id="r")
        .user("Thanks", id="u2")
    )


def test_a_call_is_not_split_from_its_result():
    after = calling().when(compact("r"))
    after.then(event("compaction_anchored", first_kept="a1", covered=("u1",)))
    after.then_outcome(warnings=["boundary_moved"])
    assert "moved back to a1" in after.outcome.warnings[0].text


def test_a_result_that_stands_before_its_call_is_not_split_from_it_either():
    early = (
        given()
        .user("Measure", id="u1")
        .result("c", "12", id="r")
        .user("So", id="u2")
        .assistant("", id="a1", calls=["c"])
        .user("Thanks")
    )
    early.when(compact("a1")).then(event("compaction_anchored", first_kept="r"))


def test_moving_back_goes_on_until_nothing_is_split():
    """The results of a1 arrive after a2 was written: keeping a2's pair keeps a1's as well."""
    woven = (
        given()
        .user("Measure", id="u0")
        .assistant("", id="a1", calls=["c1"])
        .assistant("", id="a2", calls=["c2"])
        .result("c1", "1", "a1")
        .result("c2", "2", "a2", id="r2")
        .user("Thanks")
    )
    woven.when(compact("r2")).then(event("compaction_anchored", first_kept="a1"))


def test_a_result_fact_stands_with_its_call_and_splits_nothing():
    fact = (
        given()
        .user("Measure", id="u1")
        .assistant("", id="a1", calls=["c"])
        .result_fact("a1", "c", "12")
        .user("Thanks", id="u2")
    )
    fact.when(compact("u2")).then(
        event("compaction_anchored", first_kept="u2", covered=("u1", "a1"))
    ).then_outcome(warnings=[])


def test_an_open_call_stays_behind_the_boundary():
    given().user("Measure", id="u1").assistant("", id="a1", calls=["c"]).when(compact(None)).then(
        event("compaction_anchored", first_kept="a1")
    ).then_outcome(warnings=["boundary_moved"])


def test_an_open_call_that_the_user_has_passed_over_holds_nothing_back():
    passed = (
        given().user("Measure", id="u1").assistant("", id="a1", calls=["c"]).user("Stop", id="u2")
    )
    passed.when(compact(None)).then(
        event("compaction_anchored", first_kept=None, covered=("u1", "a1", "u2"))
    ).then_outcome(warnings=[])


def test_a_struck_user_message_passes_over_nothing():
    struck = (
        given()
        .user("Measure", id="u1")
        .assistant("", id="a1", calls=["c"])
        .user("Stop", id="u2")
        .retract("u2")
    )
    struck.when(compact(None)).then(event("compaction_anchored", first_kept="a1"))


def test_an_unfinished_draft_stays_behind_the_boundary():
    talk().draft("Water", id="d").user("Hm", id="u4").when(compact("u4")).then(
        event("compaction_anchored", first_kept="d")
    )
    talk().draft("Water", id="d").when(compact(None)).then(
        event("compaction_anchored", first_kept="d")
    )


def test_a_struck_draft_holds_nothing_back():
    talk().draft("Water", id="d").retract("d").when(compact(None)).then(
        event("compaction_anchored", first_kept=None)
    )


def test_a_boundary_that_cannot_be_moved_back_far_enough_is_refused():
    """The open call is the first thing of all: nothing is left that a summary could cover."""
    given().assistant("", id="a1", calls=["c"]).when(compact(None)).then_raises(
        InvalidBoundary, "nothing lies before"
    )


def test_a_pair_that_an_older_boundary_split_does_not_move_the_new_one_behind_it():
    split = calling().compact("S", keep="r").user("More", id="u3")
    split.when(compact("u2")).then(event("compaction_anchored", first_kept="u2"))
