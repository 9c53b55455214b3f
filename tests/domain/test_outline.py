"""The tree as a flat list: depth, order, previews, and what is on the path."""

from hypothesis import given

from tapefold.domain.outline import PREVIEW, cut
from tapefold.testing import Tape
from tapefold.testing.strategies import families


def drawn(tape, leaf=None):
    outline = tape.outline() if leaf is None else tape.outline(leaf)
    return [(node.depth, node.entry_id) for node in outline.nodes]


@given(families(hostile=True))
def test_every_entry_is_drawn_once_each_below_its_parent(family):
    for tape in family:
        state, outline = tape.state(), tape.outline()
        entries = {key for key, node in state.entries.items() if node.kind != "mark"}
        assert sorted(node.entry_id for node in outline.nodes) == sorted(entries)
        depths: dict[str | None, int] = {None: -1}
        for node in outline.nodes:
            assert node.depth == depths[node.parent_id] + 1
            depths[node.entry_id] = node.depth


@given(families())
def test_what_is_on_the_path_of_the_tree_is_what_the_view_walks(family):
    for tape in family:
        on_path = {node.entry_id for node in tape.outline().nodes if node.on_path}
        walked = {item.entry_id for item in tape.view().items if item.kind != "mark"}
        assert on_path == walked


def test_siblings_stand_in_the_order_of_the_tape():
    tape = Tape()
    q = tape.user("q")
    tape.assistant("one")
    tape.assistant("two", under=q)
    tape.user("under one", under="e2")
    assert drawn(tape) == [(0, "e1"), (1, "e2"), (2, "e4"), (1, "e3")]


def test_an_entry_is_previewed_by_what_it_says_now():
    tape = Tape()
    m = tape.user("first")
    tape.version(m, "second")
    tape.compact("a summary")
    tape.model("gpt")
    tape.custom("my.extension")
    tape.reset(reason="a reset")
    tape.foreign("{broken", problem="no JSON")
    tape.thinking(None)
    assert [node.preview for node in tape.outline().nodes] == [
        "second",
        "a summary",
        "gpt",
        "my.extension",
        "a reset",
        "no JSON",
        "",
    ]


def test_a_shell_command_is_previewed_by_the_command_then_its_output():
    tape = Tape()
    ran = {"command": "head -2 \\\n beam.csv"}
    tape.message("bash_execution", "time,load\n0,1", details=ran)
    tape.message("bash_execution", "", details={"command": "true", "exclude_from_context": True})
    tape.message("bash_execution", "out", details={"command": None})
    tape.message("bash_execution", "out")
    tape.message("user", "hi", details=ran)
    assert [node.preview for node in tape.outline().nodes] == [
        "$ head -2 \\ beam.csv time,load 0,1",
        "$ true",
        "out",
        "out",
        "hi",
    ]


def test_content_without_text_is_previewed_by_its_calls_or_its_blocks():
    tape = Tape()
    tape.assistant(calls=["c1", "c2"])
    tape.assistant([{"type": "thinking", "thinking": "hmm"}])
    tape.user([{"type": "image", "url": "x"}, {"type": "hologram"}])
    outline = tape.outline().nodes
    assert [node.preview for node in outline] == ["[tool] [tool]", "hmm", "[image] [other]"]
    assert outline[0].calls == ("tool", "tool")


def test_a_preview_is_one_line_and_cut_to_its_width():
    assert cut("a\n\n  b\tc") == "a b c"
    assert cut("x" * 200) == "x" * (PREVIEW - 1) + "…"
    assert len(cut("x" * PREVIEW)) == PREVIEW


def test_struck_messages_and_drafts_stay_in_the_tree_and_say_so():
    tape = Tape()
    q = tape.user("q")
    tape.retract(q)
    tape.draft("...")
    struck, draft = tape.outline().nodes
    assert (struck.struck, struck.preview) == (True, "q")
    assert (draft.struck, draft.status) == (False, "pending")


def test_labels_and_the_leaf_are_drawn_where_they_are():
    tape = Tape()
    a = tape.user("a")
    tape.user("b")
    tape.label(a, "here")
    tape.move_leaf(a)
    one, two = tape.outline().nodes
    assert (one.label, one.is_leaf, one.on_path) == ("here", True, True)
    assert (two.label, two.is_leaf, two.on_path) == (None, False, False)


def test_an_inherited_entry_says_on_which_tape_it_stands():
    parent = Tape("p")
    parent.user("a")
    child = parent.fork("c")
    child.user("b")
    assert [(n.session_id, n.position) for n in child.outline().nodes] == [("p", 2), ("c", 2)]
