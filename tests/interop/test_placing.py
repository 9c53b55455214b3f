"""Where imported records go: ids, parents, times, owners of results, the leaf. For both tools."""

import pytest


def test_a_record_without_an_id_gets_one_from_session_and_line(load, tool):
    record = tool.user("x", None, "A")
    del record["id"]
    session = load(tool.session(tool.user("first", None, "F"), record))
    (entry_id,) = set(session.by_id) - {"first"}
    assert len(entry_id) == 8
    assert int(entry_id, 16) >= 0
    assert [reason for _, reason in session.reasons] == ["id_missing"]
    assert "id" not in session.records()[1]


@pytest.mark.parametrize("own_id", [5, "", "bell\x07", "x" * 300, ["a"], None, "\ud800"])
def test_a_record_with_an_unusable_id_gets_one_and_keeps_its_own(load, tool, own_id):
    record = {**tool.user("x", None, "A"), "id": own_id}
    session = load(tool.session(tool.user("first", None, "F"), record))
    (entry_id,) = set(session.by_id) - {"first"}
    assert session.records()[1]["id"] == own_id
    assert len(entry_id) == 8


def test_references_find_a_record_whose_id_was_replaced(load, tool):
    parent = {**tool.user("x", None, "A"), "id": 5}
    child = tool.user("b", 5, "B")
    session = load(tool.session(tool.user("first", None, "F"), parent, child))
    assert session.said() == ["A", "B"]


def test_an_id_used_twice_means_the_first_and_the_second_is_renamed(load, tool):
    session = load(
        tool.session(tool.user("a", None, "A"), tool.user("a", "a", "A2"), tool.user("b", "a", "B"))
    )
    line = session.events[1].head.line
    second = f"a~{line}"
    assert set(session.by_id) == {"a", second, "b"}
    assert (session.parent(second), session.parent("b")) == ("a", "a")
    assert session.records()[1]["id"] == "a"
    assert session.reasons == [(line, "duplicate_id")]


def test_an_equal_line_is_not_stored_again(load, tool):
    session = load(tool.session(tool.user("a", None, "A"), tool.user("a", None, "A")))
    assert len(session.events) == 1
    assert session.report.already == 1
    assert [reason for _, reason in session.reasons] == ["duplicate_line"]


def test_a_self_parent_and_the_first_of_a_ring_become_roots(load, tool):
    session = load(
        tool.session(tool.user("s", "s", "S"), tool.user("x", "y", "X"), tool.user("y", "x", "Y"))
    )
    assert [session.parent(i) for i in ("s", "x", "y")] == [None, None, "x"]
    assert [reason for _, reason in session.reasons] == ["self_parent", "ring"]
    assert session.report.repaired == 2


def test_a_parent_may_come_after_its_child(load, tool):
    session = load(tool.session(tool.user("b", "a", "B"), tool.user("a", None, "A")))
    assert session.parent("b") == "a"
    assert session.said(leaf="b") == ["A", "B"]
    assert session.reasons == []


def test_an_unknown_parent_is_replaced_by_the_entry_before_and_the_record_keeps_it(load, tool):
    session = load(
        tool.session(tool.user("a", None, "A"), tool.mark("m", "a"), tool.user("b", "gone", "B"))
    )
    assert session.parent("b") == "a"
    assert [reason for _, reason in session.reasons] == ["unknown_parent"]
    assert "gone" in session.records()[2].values()
    assert session.said() == ["A", "B"]


def test_the_tools_themselves_take_an_unknown_parent_for_a_root(load, tool):
    session = load(tool.session(tool.user("a", None, "A"), tool.user("b", "gone", "B")))
    rows = session.replay(tool.NAME)["messages"]
    assert [row["content"] for row in rows] == ["B"]


def test_a_missing_or_unreadable_time_is_that_of_the_record_before(load, tool):
    first, second, third = (tool.user(i, None, i) for i in "abc")
    del second["timestamp"]
    third["timestamp"] = "half past nine"
    session = load(tool.session(first, second, third))
    assert {session.by_id[i].timestamp for i in "abc"} == {first["timestamp"]}
    assert [reason for _, reason in session.reasons] == ["time_missing", "time_unreadable"]
    assert session.records()[2]["timestamp"] == "half past nine"


# -- results -----------------------------------------------------------------------------------


def owners(session, *results):
    return [session.by_id[i].head.owner for i in results]


def test_a_result_right_after_its_calls_message_names_it(load, tool):
    session = load(
        tool.session(
            tool.assistant("a", None, "", "c1", "c2"),
            tool.result("r2", "a", "c2", "two"),
            tool.mark("m", "r2"),
            tool.result("r1", "m", "c1", "one"),
        )
    )
    assert owners(session, "r2", "r1") == ["a", "a"]


def test_a_result_behind_something_else_names_nobody(load, tool):
    session = load(
        tool.session(
            tool.assistant("a", None, "", "c1"),
            tool.user("u", "a", "Wait."),
            tool.result("late", "u", "c1", "one"),
            tool.result("orphan", "a", "c9", "nobody asked"),
            tool.result("after", "orphan", "c1", "one"),
        )
    )
    assert owners(session, "late", "orphan", "after") == [None, None, None]


def test_two_rounds_with_one_call_id_keep_their_own_results(load, tool):
    session = load(
        tool.session(
            tool.assistant("a", None, "", "c"),
            tool.result("r1", "a", "c", "first"),
            tool.assistant("b", "r1", "", "c"),
            tool.result("r2", "b", "c", "second"),
        )
    )
    assert owners(session, "r1", "r2") == ["a", "b"]
    assert session.sent() == ["", "first", "", "second"]


# -- the leaf ----------------------------------------------------------------------------------


def test_the_leaf_is_the_last_record_that_makes_a_row(load, tool):
    """A rename that hangs under an older message does not move it."""
    session = load(
        tool.session(
            tool.user("a", None, "A"),
            tool.user("b", "a", "B"),
            tool.user("c", "b", "C"),
            tool.mark("m", "b"),
        )
    )
    assert session.leaf == "c"


def test_a_setting_takes_the_leaf_only_under_it(load, tool):
    session = load(
        tool.session(
            tool.setting("s0", None),
            tool.user("a", "s0", "A"),
            tool.user("b", "a", "B"),
            tool.setting("aside", "a"),
            tool.mark("m", "b"),
            tool.setting("s1", "m"),
        )
    )
    taken = [event.head.entry_id for event in session.events if event.head.takes_leaf]
    assert taken == ["s0", "a", "b", "s1"]
    assert session.leaf == "s1"


def test_a_record_on_another_branch_takes_the_leaf_there(load, tool):
    session = load(
        tool.session(tool.user("a", None, "A"), tool.user("b", "a", "B"), tool.user("c", "a", "C"))
    )
    assert session.said() == ["A", "C"]
