"""The newest anchor on the path rules, unless a reset follows it there."""

import pytest

from tapefold.domain.errors import InvalidValue
from tapefold.domain.policies import ANCHORED
from tapefold.testing import said


def test_without_an_anchor_the_whole_path_is_sent(talk):
    assert said(talk.context()) == [
        "user: Wood?",
        "assistant: Oak.",
        "user: Glue?",
        "assistant: Hide glue.",
    ]


def test_an_anchor_puts_its_summary_before_what_it_keeps_and_what_follows(talk):
    talk.compact("So far oak", keep="u2")
    talk.user("Paint?")
    assert said(talk.context()) == [
        "summary: So far oak",
        "user: Glue?",
        "assistant: Hide glue.",
        "user: Paint?",
    ]


def test_a_hand_off_rules_as_a_compaction_does(talk):
    talk.hand_off("Oak and glue", keep="a2")
    assert said(talk.context()) == ["handoff: Oak and glue", "assistant: Hide glue."]


@pytest.mark.parametrize("boundary", [None, "k"], ids=["none", "its own id"])
def test_an_anchor_may_keep_nothing(talk, codes, boundary):
    talk.compact("All of it", id="k", keep=boundary)
    talk.user("Paint?")
    assert said(talk.context()) == ["summary: All of it", "user: Paint?"]
    assert codes(talk.context()) == []


def test_the_newest_anchor_rules_whatever_its_kind(talk):
    talk.compact("ONE", keep="u2")
    talk.hand_off("TWO")
    assert said(talk.context()) == ["handoff: TWO"]
    talk.compact("THREE")
    assert said(talk.context()) == ["summary: THREE"]


def test_an_older_anchor_inside_the_kept_range_contributes_nothing(talk):
    talk.compact("ONE", keep="u2")
    talk.user("Paint?")
    talk.compact("TWO", keep="a1")
    assert said(talk.context()) == [
        "summary: TWO",
        "assistant: Oak.",
        "user: Glue?",
        "assistant: Hide glue.",
        "user: Paint?",
    ]


def test_what_an_older_anchor_dropped_comes_back_where_the_newer_one_keeps_it(talk):
    talk.compact("ONE", keep="a2")
    talk.compact("TWO", keep="u2")
    assert said(talk.context())[1] == "user: Glue?"


def test_a_reset_after_the_anchor_makes_the_context_whole(talk):
    talk.compact("ONE")
    talk.reset()
    assert said(talk.context()) == said(talk.view())


def test_an_anchor_after_the_reset_rules(talk):
    talk.compact("ONE")
    talk.reset()
    talk.compact("TWO", keep="a1")
    assert said(talk.context())[:2] == ["summary: TWO", "assistant: Oak."]


def test_after_and_before_mean_order_on_the_path_not_on_the_tape(talk):
    """The reset is written first, but on the path it stands behind the anchor."""
    talk.reset(id="r", parent_id="k", takes_leaf=False)
    talk.compact("ONE", id="k")
    assert said(talk.context(leaf="k")) == ["summary: ONE"]
    assert said(talk.context(leaf="r")) == said(talk.view())


def test_an_anchor_on_another_branch_rules_nothing_here(talk):
    talk.compact("ONE", under="a1")
    assert said(talk.context()) == said(talk.view())


def test_each_branch_has_its_own_ruling_anchor(talk):
    left = talk.compact("LEFT", under="a1")
    right = talk.compact("RIGHT", keep="u2")
    assert said(talk.context(leaf=left)) == ["summary: LEFT"]
    assert said(talk.context(leaf=right))[0] == "summary: RIGHT"
    assert said(talk.context(leaf="u2")) == said(talk.view("u2"))


def test_an_anchor_that_is_the_leaf_rules_and_one_below_the_leaf_does_not(talk):
    talk.compact("ONE", id="k")
    assert said(talk.context(leaf="k")) == ["summary: ONE"]
    assert said(talk.context(leaf="a2")) == said(talk.view())


def test_the_full_policy_applies_no_anchor(talk):
    talk.compact("ONE")
    talk.hand_off("TWO")
    assert said(talk.context("full")) == said(talk.view())


def test_anchored_is_the_default(talk):
    talk.compact("ONE")
    context = talk.context()
    assert context.policy is ANCHORED
    assert said(context) == said(talk.context("anchored")) == said(talk.context(ANCHORED))


def test_a_policy_that_does_not_exist_is_named_with_those_that_do(talk):
    with pytest.raises(InvalidValue, match=r"'summary'.*anchored, full"):
        talk.context("summary")


def test_a_compaction_hides_nothing_in_the_view(talk):
    before = said(talk.view())
    talk.compact("ONE")
    assert said(talk.view()) == before


def test_a_branch_summary_is_a_row_where_it_stands_and_hides_nothing(talk):
    talk.branch_summary("a2", "Beech is too pale")
    talk.user("Paint?")
    assert said(talk.context())[-3:] == [
        "assistant: Hide glue.",
        "branch_summary: Beech is too pale",
        "user: Paint?",
    ]
    assert len(said(talk.context())) == 6


def test_a_branch_summary_behind_the_boundary_is_summarised_with_the_rest(talk):
    talk.branch_summary("a2", "Beech is too pale")
    talk.compact("ONE")
    assert said(talk.context()) == ["summary: ONE"]


def test_a_branch_summary_may_be_the_boundary(talk):
    bs = talk.branch_summary("a2", "Beech is too pale")
    talk.user("Paint?")
    talk.compact("ONE", keep=bs)
    assert said(talk.context()) == [
        "summary: ONE",
        "branch_summary: Beech is too pale",
        "user: Paint?",
    ]


def test_an_empty_branch_summary_is_no_row(talk):
    talk.branch_summary("a2", " ")
    assert said(talk.context()) == said(talk.view())


def test_summaries_are_sent_as_the_user_s(talk):
    talk.compact("ONE", keep="u2")
    talk.branch_summary("a2", "Pale")
    roles = [row.role for row in talk.context().rows if row.kind != "message"]
    assert roles == ["user", "user"]


def test_a_blank_summary_is_no_row_for_providers_refuse_empty_text(talk):
    talk.compact(" ", keep="u2")
    assert said(talk.context()) == ["user: Glue?", "assistant: Hide glue."]


def test_an_anchor_of_the_parent_rules_in_a_fork(talk):
    talk.compact("ONE", keep="u2")
    child = talk.fork("child")
    child.user("Paint?")
    assert said(child.context())[0] == "summary: ONE"
    child.compact("TWO", keep="a2")
    assert said(child.context()) == ["summary: TWO", "assistant: Hide glue.", "user: Paint?"]
    assert said(talk.context())[0] == "summary: ONE"


def test_a_past_position_has_the_anchor_of_its_time(talk):
    before = talk.position
    talk.compact("ONE")
    assert said(talk.context(at=before)) == said(talk.view())
