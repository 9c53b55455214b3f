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


def test_from_wherever_a_ring_is_entered_its_first_member_is_the_root():
    """The view and the tree agree: what stands above the root of a ring is no ancestor."""
    tape = links(("a", "c"), ("b", "a"), ("c", "b"), ("d", "b"))
    assert said(tape.view("c")) == ["user: a", "user: b", "user: c"]
    assert said(tape.view("b")) == ["user: a", "user: b"]
    assert said(tape.view("d")) == ["user: a", "user: b", "user: d"]
    assert [n.entry_id for n in tape.outline("d").nodes if n.on_path] == ["a", "b", "d"]


def test_what_hangs_under_a_ring_is_no_root_even_when_it_came_first():
    tape = links(("d", "c"), ("a", "c"), ("b", "a"), ("c", "b"))
    assert roots(tape) == ["a"]
    assert said(tape.view("d")) == ["user: a", "user: b", "user: c", "user: d"]
    assert [node.entry_id for node in tape.outline().nodes] == ["a", "b", "c", "d"]


def test_roots_stand_in_the_order_of_the_tape_rings_included():
    tape = links(("a", "a"), ("b", None), ("c", "d"), ("d", "c"), ("e", None))
    assert roots(tape) == ["a", "b", "c", "e"]


def test_twenty_thousand_entries_under_a_ring_are_reached_at_once():
    state = State("s")
    state.apply_head(1, Head("session_started"))
    n = 20_000
    for i in range(n):
        state.apply_head(i + 2, Head("custom_recorded", entry_id=f"e{i}", parent_id="ring"))
    state.apply_head(n + 2, Head("custom_recorded", entry_id="ring", parent_id="ring"))
    below = tree.children(state)
    assert below[None] == ["ring"]
    assert len(below["ring"]) == n


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
    assert len(tree.path(state, f"e{depth - 1}")) == depth
    assert [node.entry_id for node in tree.path(state, "e2")] == ["e0", "e1", "e2"]


def test_twenty_thousand_rings_are_each_cut_once():
    state = State("s")
    state.apply_head(1, Head("session_started"))
    for n in range(20_000):
        head = Head("custom_recorded", entry_id=f"e{n}", parent_id=f"e{n}")
        state.apply_head(n + 2, head)
    assert len(tree.children(state)[None]) == 20_000
