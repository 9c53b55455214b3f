"""The path from the root to the leaf, and what takes the leaf."""

import pytest
from hypothesis import given

from tapefold import LEAF, UnknownEntry, UnknownMessage
from tapefold.domain import tree
from tapefold.testing import Tape, as_plain, said
from tapefold.testing.strategies import families


def ancestors(tape, leaf):
    """The ids from a leaf to the root, by the parent links that the events hold."""
    parents = {}
    for part, upto in tape.lineage():
        for event in part.events[:upto]:
            if event.head.entry_id is not None:
                parents.setdefault(event.head.entry_id, event.head.parent_id)
    found = []
    while leaf is not None and leaf not in found:
        found.append(leaf)
        leaf = parents.get(leaf)
    return found


@given(families())
def test_siblings_never_leak_into_a_view(family):
    """A view shows only what stands on the way from the root to its leaf."""
    for tape in family:
        for leaf in [LEAF, None, *(e.head.entry_id for e in tape.events if e.head.entry_id)]:
            view = tape.view(leaf, include_pending=True)
            start = tape.state().leaf if leaf is LEAF else leaf
            path = ancestors(tape, start)
            assert [item.entry_id for item in view.items] == path[::-1]
            assert {message.entry_id for message in view.messages} <= set(path)


@given(families(hostile=True))
def test_a_view_is_deterministic(family):
    for tape in family:
        assert as_plain(tape.view()) == as_plain(tape.view())
        assert tape.view().warnings == tape.view().warnings


@given(families())
def test_the_leaf_is_what_the_events_say(family):
    for tape in family:
        assert tape.state().leaf == tape.leaf


@given(families(hostile=True, max_size=15))
def test_every_view_of_every_node_can_be_built(family):
    for tape in family:
        for node in list(tape.state().entries):
            tape.view(node)
            tape.outline(node)


def test_the_kernel_obeys_takes_leaf_and_has_no_rule_of_its_own():
    tape = Tape()
    a = tape.user("a")
    b = tape.user("b", under=None, takes_leaf=True)
    assert tape.state().leaf == b
    tape.user("c", under=b, takes_leaf=False)
    assert tape.state().leaf == b
    tape.custom(under=a, takes_leaf=True, id="d")
    assert tape.state().leaf == "d"


def test_marks_and_later_versions_never_take_the_leaf():
    tape = Tape()
    a = tape.user("a")
    b = tape.user("b")
    tape.version(a, "a2", takes_leaf=True)
    tape.usage(1, takes_leaf=True, entry_id="mark", parent_id=a, stands_for=a)
    tape.label(a, "x", takes_leaf=True)
    assert tape.state().leaf == b


def test_the_leaf_moves_explicitly_and_stays_moved():
    tape = Tape()
    a = tape.user("a")
    tape.user("b")
    tape.move_leaf(a)
    assert tape.state().leaf == a
    tape.user("c")
    assert said(tape.view()) == ["user: a", "user: c"]
    tape.move_leaf(None)
    assert tape.state().leaf is None
    assert said(tape.view()) == []
    tape.user("new root")
    assert said(tape.view()) == ["user: new root"]


def test_a_leaf_line_that_is_kept_without_effect_moves_nothing():
    """Of an imported file: the leaf is its last line."""
    tape = Tape()
    a = tape.user("a")
    b = tape.user("b")
    tape.move_leaf(a, takes_leaf=False, entry_id="line", parent_id=b, stands_for=b)
    assert tape.state().leaf == b


def test_any_node_can_be_the_leaf_of_a_view_and_none_is_the_empty_path():
    tape = Tape()
    a = tape.user("a")
    mark = tape.new_id()
    tape.usage(1, entry_id=mark, parent_id=a, stands_for=a)
    tape.user("b")
    assert said(tape.view(a)) == ["user: a"]
    assert tape.view(mark).leaf == a
    assert said(tape.view(mark)) == ["user: a"]
    assert tape.view(None).leaf is None
    assert said(tape.view(None)) == []
    with pytest.raises(UnknownEntry, match="'nowhere'"):
        tape.view("nowhere")


def test_a_node_is_walked_through_when_it_is_a_mark():
    tape = Tape()
    a = tape.user("a")
    tape.usage(1, entry_id="mark", parent_id=a, stands_for=a)
    tape.user("b", parent_id="mark")
    assert said(tape.view()) == ["user: a", "user: b"]
    assert [node.depth for node in tape.outline().nodes] == [0, 1]
    assert [node.parent_id for node in tape.outline().nodes] == [None, a]


def test_a_foreign_record_without_an_id_is_a_mark_and_with_one_an_entry():
    tape = Tape()
    tape.user("a")
    tape.foreign_mark("?")
    entry = tape.foreign("!")
    state = tape.state()
    assert state.leaf == entry
    assert [state.entry(e).kind for e in state.entries] == ["message", "foreign"]


def test_an_entry_is_asked_for_by_its_id_and_a_mark_stands_for_one():
    tape = Tape()
    a = tape.user("a", message_id="m")
    tape.usage(1, entry_id="mark", parent_id=a, stands_for=a)
    tape.usage(1, entry_id="of the root", stands_for=None)
    tape.usage(1, entry_id="of itself", stands_for="of itself")
    state = tape.state()
    assert tree.require_entry(state, "mark").entry_id == a
    for lost in ("of the root", "of itself", "nowhere"):
        with pytest.raises(UnknownEntry):
            tree.require_entry(state, lost)
    assert tree.require_message(state, "m").entry_id == a
    assert tree.require_message(state, a).entry_id == a
    with pytest.raises(UnknownMessage):
        tree.require_message(state, "mark")
    assert repr(LEAF) == "LEAF"


def test_marks_that_stand_for_each_other_are_nobodys_entry():
    """A file may say so; looking for the entry must end."""
    tape = Tape()
    tape.usage(1, entry_id="x", stands_for="y")
    tape.usage(1, entry_id="y", stands_for="x")
    with pytest.raises(UnknownEntry):
        tree.require_entry(tape.state(), "x")


def test_a_second_entry_of_the_same_id_does_not_push_the_first_aside():
    tape = Tape()
    tape.user("first", id="x")
    tape.custom(id="x")
    state = tape.state()
    assert state.entry("x").kind == "message"
    assert state.entry("x~3").kind == "custom"
    assert state.leaf == "x~3"
