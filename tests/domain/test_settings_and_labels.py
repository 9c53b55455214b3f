"""Model, thinking level, name and labels: what is read where."""

from hypothesis import given

from tapefold.testing import Tape
from tapefold.testing.strategies import families


def settings_of(tape, leaf=None):
    view = tape.view() if leaf is None else tape.view(leaf)
    return view.settings.model, view.settings.provider, view.settings.thinking_level


def test_the_thinking_level_is_the_last_change_on_the_path():
    tape = Tape()
    a = tape.thinking("low")
    tape.thinking("high")
    assert settings_of(tape) == (None, None, "high")
    assert settings_of(tape, a) == (None, None, "low")
    tape.thinking(None)
    assert settings_of(tape) == (None, None, None)


def test_the_model_is_the_last_of_change_and_shown_final_assistant_message():
    tape = Tape()
    tape.model("m1", "p1")
    tape.assistant("a", model="m2", provider="p2")
    assert settings_of(tape)[:2] == ("m2", "p2")
    tape.model("m3", "p3")
    assert settings_of(tape)[:2] == ("m3", "p3")


def test_newest_means_order_on_the_path_not_on_the_tape():
    tape = Tape()
    q = tape.user("q")
    tape.model("on the path")
    leaf = tape.assistant("a")
    tape.model("aside, and newer", under=q)
    assert settings_of(tape, leaf)[0] == "on the path"


def test_an_absent_provider_leaves_the_one_before():
    tape = Tape()
    tape.model("m1", "p1")
    tape.model("m2")
    assert settings_of(tape)[:2] == ("m2", "p1")
    tape.assistant("a", model="m3")
    assert settings_of(tape)[:2] == ("m3", "p1")


def test_a_message_that_does_not_show_sets_no_model():
    tape = Tape()
    a = tape.assistant("a", model="m1")
    tape.retract(a)
    tape.draft("...", model="m2")
    tape.user("u", model="m3")
    assert settings_of(tape) == (None, None, None)
    assert tape.view(include_pending=True).settings.model is None


def test_a_message_of_an_unknown_model_sets_none():
    tape = Tape()
    tape.model("m1")
    tape.assistant("a", model="unknown")
    tape.assistant("b", model="")
    tape.assistant("c")
    assert settings_of(tape)[0] == "m1"


def test_a_revision_tells_the_model_where_the_message_stands():
    tape = Tape()
    a = tape.assistant("a", model="m1")
    tape.model("m2")
    tape.version(a, "a", model="m3")
    assert settings_of(tape)[0] == "m2"


def test_the_name_is_the_newest_on_the_whole_tape():
    tape = Tape(title="first")
    assert tape.view().name == "first"
    a = tape.user("a")
    tape.title("second")
    tape.move_leaf(None)
    assert (tape.view().name, tape.view(a).name) == ("second", "second")
    tape.title(None)
    assert tape.view().name is None


def test_other_information_leaves_the_name_as_it_is():
    tape = Tape(title="first")
    tape.info(directory="/tmp")
    assert tape.view().name == "first"
    assert tape.state().info.seq == 2


def test_the_directory_is_where_it_was_last_set():
    """The state keeps the event that says it; other information leaves it alone."""
    tape = Tape(directory="/one")
    tape.info(data={"n": 1})
    assert tape.state().info.seq == 1
    tape.info(directory="/two")
    tape.title("t")
    tape.info(data={"n": 2})
    assert tape.state().info.seq == 3


def test_the_name_and_labels_of_the_basis_count_until_the_fork_says_otherwise():
    parent = Tape("p", title="parent")
    a = parent.user("a")
    parent.label(a, "start")
    child = parent.fork("c")
    parent.title("renamed")
    parent.label(a, "changed")
    assert (child.view().name, child.view().labels) == ("parent", {a: "start"})
    child.title("child")
    child.label(a, None)
    assert (child.view().name, child.view().labels) == ("child", {})


def test_the_newest_label_of_an_entry_counts_on_whatever_branch():
    tape = Tape()
    a, b = tape.user("a"), tape.user("b", under=None)
    tape.label(a, "one")
    tape.label(b, "other branch")
    tape.label(a, "two")
    assert tape.view(a).labels == {b: "other branch", a: "two"}
    tape.label(a, None)
    assert tape.view(a).labels == {b: "other branch"}


def test_labels_stay_on_entries_that_were_struck_out():
    tape = Tape()
    a = tape.user("a")
    tape.label(a, "keep")
    tape.retract(a)
    assert tape.view().labels == {a: "keep"}
    tape.label(a, "still")
    assert tape.view().labels == {a: "still"}


@given(families())
def test_labels_are_the_newest_of_each_entry_by_the_words_of_the_rule(family):
    for tape in family:
        newest = {}
        for part, upto in tape.lineage():
            for event in part.events[:upto]:
                if event.head.kind == "labelled":
                    newest[event.head.targets[0]] = event.body.label
        expected = {entry: label for entry, label in newest.items() if label is not None}
        assert tape.view().labels == expected
