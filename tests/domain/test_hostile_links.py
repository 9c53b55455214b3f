"""Walks end on any links: rings, unknown parents, chains of any depth; and never recurse."""

from tapefold import State, build_view
from tapefold.domain import tree
from tapefold.domain.heads import Head
from tapefold.testing import MemoryTapes, Tape, said


def links(*pairs):
    """A tape of user messages with these (id, parent) links, the last one the leaf."""
    tape = Tape()
    for entry_id, parent in pairs:
        tape.user(entry_id, id=entry_id, parent_id=parent, takes_leaf=True)
    return tape


def roots(tape):
    return [node.entry_id for node in tape.outline().nodes if node.depth == 0]


def test_an_entry_that_is_its_own_parent_is_a_root():
    tape = links(("a", "a"), ("b", "a"))
    assert said(tape.view()) == ["user: a", "user: b"]
    assert roots(tape) == ["a"]


def test_of_a_ring_the_first_member_is_a_root_and_every_member_is_drawn_once():
    tape = links(("a", "c"), ("b", "a"), ("c", "b"), ("d", "c"))
    assert roots(tape) == ["a"]
    drawn = [node.entry_id for node in tape.outline().nodes]
    assert drawn == ["a", "b", "c", "d"]


def test_a_walk_along_a_ring_ends_and_shows_each_member_once():
    tape = links(("a", "c"), ("b", "a"), ("c", "b"))
    assert sorted(said(tape.view())) == ["user: a", "user: b", "user: c"]


def test_two_rings_are_both_drawn():
    tape = links(("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("e", "d"))
    assert roots(tape) == ["a", "c"]
    assert len(tape.outline().nodes) == 5


def test_an_unknown_parent_ends_the_walk_and_the_entry_is_a_root():
    tape = links(("a", None), ("b", "nowhere"), ("c", "b"))
    assert said(tape.view()) == ["user: b", "user: c"]
    assert roots(tape) == ["a", "b"]


def test_a_parent_that_comes_later_is_found_once_it_is_there():
    tape = links(("child", "parent"))
    assert said(tape.view()) == ["user: child"]
    tape.user("parent", id="parent", parent_id=None, takes_leaf=False)
    assert said(tape.view()) == ["user: parent", "user: child"]


def test_a_leaf_that_is_not_there_is_an_empty_path():
    tape = links(("a", None))
    tape.move_leaf("nowhere")
    assert said(tape.view()) == []


def test_a_chain_of_a_hundred_thousand_entries_is_walked_without_recursion():
    depth = 100_000
    state = State("s")
    state.apply_head(1, Head("session_started"))
    for n in range(depth):
        parent = f"e{n - 1}" if n else None
        head = Head("custom_recorded", entry_id=f"e{n}", parent_id=parent, takes_leaf=True)
        state.apply_head(n + 2, head)
    assert len(tree.path(state, state.leaf)) == depth
    below = tree.children(state)
    assert below[None] == ["e0"]
    assert tree.is_on_path(state, "e0", state.leaf)
    assert len(build_view(state, MemoryTapes()).items) == depth


def test_a_ring_of_twenty_thousand_entries_is_cut_without_recursion():
    depth = 20_000
    state = State("s")
    state.apply_head(1, Head("session_started"))
    for n in range(depth):
        head = Head("custom_recorded", entry_id=f"e{n}", parent_id=f"e{(n - 1) % depth}")
        state.apply_head(n + 2, head)
    assert tree.children(state)[None] == ["e0"]
    assert len(tree.path(state, "e5")) == depth


def test_twenty_thousand_rings_are_each_cut_once():
    state = State("s")
    state.apply_head(1, Head("session_started"))
    for n in range(20_000):
        head = Head("custom_recorded", entry_id=f"e{n}", parent_id=f"e{n}")
        state.apply_head(n + 2, head)
    assert len(tree.children(state)[None]) == 20_000
