"""A context edit replaces one entry for the model, or leaves it out; tape and view keep it."""

import pytest

from tapefold.domain.errors import InvalidValue, UnknownEntry
from tapefold.testing import event, given, said


def talk():
    return given().user("Wood?", id="u1").assistant("Oak.", id="a1").user("Glue?", id="u2")


def test_an_edit_is_an_entry_on_the_path_it_is_made_on():
    talk().when(lambda s: s.edit_context("a1", "Some wood.", reason="shorter")).then(
        event(
            "context_edited",
            content="Some wood.",
            targets=("a1",),
            reason="shorter",
            cleared=False,
            parent_id="u2",
            takes_leaf=True,
        )
    )


def test_an_edit_changes_the_context_and_nothing_else():
    after = talk().when(lambda s: s.edit_context("a1", "Some wood."))
    assert said(after.context()) == ["user: Wood?", "assistant: Some wood.", "user: Glue?"]
    assert said(after.view()) == said(talk().tape.view())


def test_without_content_the_entry_is_left_out():
    after = talk().when(lambda s: s.edit_context("a1", None))
    assert after.events[0].head.cleared
    assert said(after.context()) == ["user: Wood?", "user: Glue?"]


def test_an_entry_may_be_named_by_its_message():
    named = given().user("Wood?", id="e", message_id="m")
    named.when(lambda s: s.edit_context("m", None)).then(event("context_edited", targets=("e",)))


def test_a_mark_is_the_entry_that_it_stands_for():
    marked = talk().usage({}, entry_id="x", parent_id="u1", stands_for="u1")
    marked.when(lambda s: s.edit_context("x", None)).then(event("context_edited", targets=("u1",)))


def test_a_summary_may_be_edited():
    after = talk().compact("S", id="k").when(lambda s: s.edit_context("k", "Better"))
    assert said(after.context()) == ["summary: Better"]


def test_an_entry_that_does_not_exist_is_refused():
    talk().when(lambda s: s.edit_context("zz", None)).then_raises(UnknownEntry)


@pytest.mark.parametrize("content", [7, [7], {"type": "text"}, b"x"])
def test_an_edit_s_content_is_content(content):
    talk().when(lambda s: s.edit_context("u1", content)).then_raises(InvalidValue, "content")


def test_a_fork_edits_what_it_inherits_for_itself():
    parent = talk().tape
    after = given(parent.fork("child")).when(lambda s: s.edit_context("a1", None))
    assert said(after.context()) == ["user: Wood?", "user: Glue?"]
    assert said(parent.context()) == said(parent.view())
