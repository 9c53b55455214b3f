"""Forks by reference: what a child inherits, and that nothing of it ever changes."""

from hypothesis import given
from hypothesis import strategies as st

from tapefold import build_context
from tapefold.domain import tree
from tapefold.testing import Tape, as_plain, said
from tapefold.testing.scribbling import scribble
from tapefold.testing.strategies import families, strokes


@given(families(), st.data())
def test_a_forks_view_is_its_parents_view_at_the_fork_whatever_the_parent_does_later(family, data):
    for child in family[1:]:
        parent, origin = child.parent, child.origin
        then = as_plain(parent.view(origin.leaf, at=origin.position))
        if data.draw(st.booleans()):
            scribble(data.draw(strokes(max_size=8)), on=parent)
        assert as_plain(child.view(at=1)) == then
        assert as_plain(parent.view(origin.leaf, at=origin.position)) == then


@given(families())
def test_a_forks_context_is_its_parents_context_at_the_fork(family):
    for child in family[1:]:
        parent, origin = child.parent, child.origin
        for policy in ("anchored", "full"):
            then = parent.context(policy, leaf=origin.leaf, at=origin.position)
            assert as_plain(child.context(policy, at=1)) == as_plain(then)


@given(families(hostile=True))
def test_what_a_child_does_never_reaches_its_parent(family):
    """The parent folds to the same as a copy of it that never had a child."""
    for tape in family:
        alone = tape.copy()
        for child in family:
            if child.parent is tape:
                child.retract(*[e.head.message_id for e in tape.events if e.head.message_id])
                child.title("mine")
                child.move_leaf(None)
        assert as_plain(tape.view()) == as_plain(alone.view())
        assert tape.state().describe() == alone.state().describe()


def line_of_forks(depth):
    """A fork of a fork of a fork: each with a message, a revision of the one before, a label."""
    tape = Tape("f0")
    last = tape.user("m0")
    for n in range(1, depth + 1):
        tape = tape.fork(f"f{n}")
        tape.version(last, f"m{n - 1}, revised")
        tape.label(last, f"l{n}")
        last = tape.user(f"m{n}")
    return tape


def flat_tape(depth):
    """The same written on one tape."""
    tape = Tape("f0")
    last = tape.user("m0")
    for n in range(1, depth + 1):
        tape.version(last, f"m{n - 1}, revised")
        tape.label(last, f"l{n}")
        last = tape.user(f"m{n}")
    return tape


def test_thirty_forks_deep_a_session_reads_like_one_tape():
    """Beyond eight layers, layers are merged; nothing may be lost or doubled by it."""
    for depth in (1, 7, 8, 9, 30):
        deep, flat = line_of_forks(depth), flat_tape(depth)
        assert said(deep.view()) == said(flat.view())
        assert deep.view().labels == flat.view().labels
        assert said(deep.context()) == said(flat.context())
        assert [n.entry_id for n in deep.outline().nodes] == [
            n.entry_id for n in flat.outline().nodes
        ]


def test_five_hundred_forks_deep_nothing_recurses():
    deep = line_of_forks(500)
    view = deep.view()
    assert len(view.messages) == 501
    assert build_context(view).rows[-1].session_id == "f500"


def test_every_message_says_on_which_tape_its_version_stands():
    deep = line_of_forks(3)
    places = [(m.session_id, m.position) for m in deep.view().messages]
    assert places == [("f1", 2), ("f2", 2), ("f3", 2), ("f3", 4)]


def test_a_fork_at_an_older_position_sees_nothing_of_what_came_after_it():
    parent = Tape("p")
    a = parent.user("a")
    parent.version(a, "a2")
    parent.user("b")
    child = parent.fork("c", at=2)
    assert said(child.view()) == ["user: a"]
    assert child.state().leaf == a


def test_a_fork_may_begin_at_any_leaf_and_at_none():
    parent = Tape("p")
    a = parent.user("a")
    parent.user("b")
    assert said(parent.fork("c", leaf=a).view()) == ["user: a"]
    empty = parent.fork("d", leaf=None)
    assert said(empty.view()) == []
    empty.user("a new root")
    assert said(empty.view()) == ["user: a new root"]
    assert said(empty.view("e2")) == ["user: a", "user: b"]


def test_a_child_that_inherits_nothing_is_empty():
    """A sub-agent's session: it knows its parent and shows none of it."""
    parent = Tape("p", title="parent")
    parent.user("a")
    child = parent.fork("c", inherit=False)
    assert (said(child.view()), child.view().name) == ([], None)
    assert child.state().origin.session_id == "p"
    assert len(child.state().entries) == 0


def test_a_childs_anchor_never_takes_over_the_parents_context():
    parent = Tape("p")
    a = parent.user("a")
    child = parent.fork("c")
    child.compact("the child's summary", keep=a)
    parent.user("b")
    assert said(parent.context()) == ["user: a", "user: b"]
    assert said(child.context()) == ["summary: the child's summary", "user: a"]


def test_marks_of_a_child_may_speak_of_inherited_entries():
    parent = Tape("p")
    q = parent.user("q")
    a = parent.assistant("a", calls=["c1"])
    child = parent.fork("c")
    child.result_fact(a, "c1", "out")
    child.label(q, "here")
    child.edit(q, "edited")
    child.move_leaf(q)
    child.assistant("another answer")
    assert said(child.view(a)) == ["user: q", "assistant: a tool(c1)"]
    assert child.view(a).messages[1].calls[0].status == "success"
    assert parent.view().messages[1].calls[0].status == "pending"
    assert said(child.view()) == ["user: q", "assistant: another answer"]


def test_a_fork_starts_by_default_at_the_leaf_or_above_unfinished_drafts():
    tape = Tape()
    assert tree.fork_leaf(tape.state()) is None
    tape.draft("only a draft")
    assert tree.fork_leaf(tape.state()) is None
    q = tape.user("q", under=None, takes_leaf=True)
    assert tree.fork_leaf(tape.state()) == q
    first = tape.draft("...")
    tape.draft("...")
    assert tree.fork_leaf(tape.state()) == q
    tape.finalize(first, "done")
    assert tree.fork_leaf(tape.state()) == first
    tape.usage(1, entry_id="mark", parent_id=first, stands_for=first)
    tape.move_leaf("mark")
    assert tree.fork_leaf(tape.state()) == first


def test_a_state_counts_the_messages_that_began_on_its_own_tape():
    parent = Tape("p")
    a = parent.user("a")
    parent.user("b")
    child = parent.fork("c")
    child.version(a, "a2")
    child.user("c")
    assert parent.state().own_messages() == 2
    assert child.state().own_messages() == 1
