"""Cases of compactions and branch summaries in files, by each tool's rules and by ours."""

import pytest


def test_a_compaction_without_a_boundary_keeps_its_summary_alone(tool):
    """T21"""
    session = tool.read(*tool.h4, tool.compaction("k", "d", "S"))
    assert session.sent() == session.texts(tool.NAME) == ["S"]


def twice(tool, boundary):
    return tool.read(
        *tool.h4,
        tool.compaction("k", "d", "S1", "c"),
        tool.user("e", "k"),
        tool.assistant("f", "e"),
        tool.compaction("k2", "f", "S2", boundary),
    )


def test_an_older_summary_within_the_kept_range_stays_in_the_middle_with_tau(tau):
    """T22"""
    session = twice(tau, "c")
    assert session.sent() == session.texts("tau") == ["S2", "C", "D", "S1", "E", "F"]


def test_an_older_summary_within_the_kept_range_contributes_nothing_with_pi(pi):
    """T22"""
    session = twice(pi, "c")
    assert session.sent() == session.texts("pi") == ["S2", "C", "D", "E", "F"]


def test_an_older_summary_behind_the_boundary_is_gone(tool):
    """T25"""
    session = twice(tool, "e")
    assert session.sent() == session.texts(tool.NAME) == ["S2", "E", "F"]


def test_a_boundary_on_another_branch_keeps_the_summary_alone(tool):
    """T26"""
    session = tool.read(*tool.h4, tool.user("s", "b"), tool.compaction("k", "s", "S", "d"))
    assert session.sent() == session.texts(tool.NAME) == ["S"]
    assert [w.code for w in session.context().warnings] == ["boundary_missing"]


@pytest.mark.parametrize(
    ("boundary", "reasons", "warnings"),
    [("k", [], []), ("nowhere", ["boundary_unknown"], ["boundary_missing"])],
)
def test_a_boundary_that_is_itself_or_nowhere_keeps_the_summary_alone(
    tool, boundary, reasons, warnings
):
    """T27"""
    session = tool.read(*tool.h4, tool.compaction("k", "d", "S", boundary))
    assert session.sent() == session.texts(tool.NAME) == ["S"]
    assert session.reasons == reasons
    assert [w.code for w in session.context().warnings] == warnings


@pytest.mark.parametrize(
    ("replaced", "rows"),
    [
        (["b", "c"], ["A", "S", "D"]),
        (["zz"], ["A", "B", "C", "D", "S"]),
        ([], ["A", "B", "C", "D", "S"]),
    ],
)
def test_a_list_of_replaced_entries_is_applied_one_by_one(tau, replaced, rows):
    """T29"""
    session = tau.read(*tau.h4, tau.compaction("k", "d", "S", replaces_entry_ids=replaced))
    assert session.sent() == session.texts("tau") == rows


def summarised(tool, summary):
    return [*tool.h4, tool.branch_summary("bs", "b", summary), tool.user("e", "bs")]


@pytest.mark.parametrize(("name", "role"), [("tau", "user"), ("pi", "branchSummary")])
def test_a_branch_summary_is_a_row_on_its_path_and_hides_nothing(request, name, role):
    """T32"""
    tool = request.getfixturevalue(name)
    session = tool.read(*summarised(tool, "SB"))
    assert session.sent() == session.texts(name) == ["A", "B", "SB", "E"]
    assert session.replay(name)["messages"][2]["role"] == role
    assert session.context().rows[2].kind == "branch_summary"


@pytest.mark.parametrize(("name", "rows"), [("tau", ["A", "B", "", "E"]), ("pi", ["A", "B", "E"])])
def test_an_empty_branch_summary_is_a_row_with_tau_alone_and_never_sent_by_us(request, name, rows):
    """T32"""
    tool = request.getfixturevalue(name)
    session = tool.read(*summarised(tool, ""))
    assert session.texts(name) == rows
    assert session.sent() == ["A", "B", "E"]


def test_a_branch_summary_may_be_the_boundary(tool):
    """T33"""
    session = tool.read(*summarised(tool, "SB"), tool.compaction("k", "e", "S", "bs"))
    assert session.sent() == session.texts(tool.NAME) == ["S", "SB", "E"]


def test_a_compaction_that_names_itself_keeps_nothing_but_what_follows(tool):
    """T58"""
    session = tool.read(*tool.h4, tool.compaction("k", "d", "S", "k"), tool.user("u", "k", "next"))
    assert session.sent() == session.texts(tool.NAME) == ["S", "next"]


def test_the_system_state_that_a_compaction_carries_stands_before_its_summary(pi):
    """T58"""
    system = {"role": "system", "content": "state", "timestamp": 1}
    session = pi.read(
        *pi.h4,
        pi.compaction("k", "d", "S", "k", systemMessage=system),
        pi.user("u", "k", "next"),
    )
    assert session.sent() == session.texts("pi") == ["state", "S", "next"]
