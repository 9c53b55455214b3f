"""Labels, the session's name, model, thinking level, usage, state of extensions."""

import pytest

from tapefold.domain.errors import InvalidValue, UnknownEntry
from tapefold.testing import event, given, said


def talk():
    return given().user("Wood?", id="u1").assistant("Oak.", id="a1", model="oak-1", provider="p")


# -- labels ----------------------------------------------------------------------------------


def test_a_label_is_trimmed_and_the_newest_counts():
    labelled = talk().when(lambda s: s.label("u1", " start "))
    labelled.then(event("labelled", targets=("u1",), label="start"))
    again = labelled.when(lambda s: s.label("u1", "begin"))
    assert again.view().labels == {"u1": "begin"}


def test_a_label_neither_takes_the_leaf_nor_stands_on_the_path():
    after = talk().when(lambda s: s.label("u1", "start"))
    assert after.state.leaf == "a1"
    assert [item.entry_id for item in after.view().items] == ["u1", "a1"]


@pytest.mark.parametrize("text", [None, "", " \t "])
def test_blank_text_takes_the_label_away(text):
    after = talk().label("u1", "start").when(lambda s: s.label("u1", text))
    after.then(event("labelled", targets=("u1",), label=None, cleared=True))
    assert after.view().labels == {}


def test_entries_of_other_branches_and_struck_ones_have_labels():
    after = (
        talk()
        .assistant("Beech.", id="b", under="u1")
        .retract("b")
        .when(lambda s: s.label("b", "x"))
    )
    assert after.view().labels == {"b": "x"}


def test_a_label_may_name_a_message_or_a_mark():
    named = (
        given()
        .user("Wood?", id="e", message_id="m")
        .usage({}, entry_id="x", parent_id="e", stands_for="e")
    )
    for target in ("m", "e", "x"):
        assert named.when(lambda s, t=target: s.label(t, "start")).view().labels == {"e": "start"}


def test_a_label_needs_an_entry_and_text():
    talk().when(lambda s: s.label("zz", "x")).then_raises(UnknownEntry)
    talk().when(lambda s: s.label("u1", 7)).then_raises(InvalidValue, "label")


# -- the name --------------------------------------------------------------------------------


def test_the_name_is_one_line_and_the_newest_counts():
    named = talk().title("Box").when(lambda s: s.set_title("  Bird\n box\t"))
    named.then(event("session_info_changed", title="Bird box"))
    assert named.view().name == "Bird box"


def test_blank_text_takes_the_name_away():
    assert talk().title("Box").when(lambda s: s.set_title(" ")).view().name is None


def test_a_name_is_text():
    talk().when(lambda s: s.set_title(7)).then_raises(InvalidValue, "title")


def test_a_name_does_not_follow_the_path():
    after = talk().title("Box").move_leaf(None).when(lambda s: s.set_title("Nest"))
    assert after.view("a1").name == after.view().name == "Nest"


def test_other_information_leaves_the_name():
    after = talk().title("Box").when(lambda s: s.set_info(directory="/box", data={"n": 1}))
    after.then(event("session_info_changed", directory="/box", data={"n": 1}))
    assert after.view().name == "Box"


# -- settings --------------------------------------------------------------------------------


def settings(view):
    found = view.settings
    return found.model, found.provider, found.thinking_level


def test_a_model_holds_from_its_place_on():
    after = talk().when(lambda s: s.set_model("oak-2", "forest"))
    assert settings(after.view()) == ("oak-2", "forest", None)
    assert settings(after.view("a1")) == ("oak-1", "p", None)


def test_a_model_without_a_provider_leaves_the_one_before():
    after = talk().model("oak-2", "forest").when(lambda s: s.set_model("oak-3"))
    assert settings(after.view()) == ("oak-3", "forest", None)


def test_the_model_of_a_later_answer_counts():
    after = (
        talk()
        .model("oak-2", "forest")
        .when(lambda s: s.finalize("assistant", "Ash.", model="oak-3", provider="q"))
    )
    assert settings(after.view()) == ("oak-3", "q", None)


@pytest.mark.parametrize("model", ["unknown", "", None])
def test_an_answer_whose_model_is_not_known_changes_nothing(model):
    after = talk().when(lambda s: s.finalize("assistant", "Ash.", model=model))
    assert settings(after.view()) == ("oak-1", "p", None)


def test_neither_drafts_nor_struck_answers_nor_side_branches_set_the_model():
    for aside in (
        talk().draft("Ash", model="oak-9"),
        talk().assistant("Ash.", id="x", model="oak-9").retract("x"),
        talk().assistant("Ash.", under="u1", model="oak-9"),
        talk().model("oak-9", under="u1"),
    ):
        assert settings(aside.tape.view(include_pending=True)) == ("oak-1", "p", None)


def test_the_thinking_level_is_the_last_change_and_may_be_unset():
    high = talk().thinking("low").when(lambda s: s.set_thinking_level("high"))
    assert settings(high.view())[2] == "high"
    assert settings(high.when(lambda s: s.set_thinking_level(None)).view())[2] is None


@pytest.mark.parametrize("model", ["", None, 7])
def test_a_model_is_named(model):
    talk().when(lambda s: s.set_model(model)).then_raises(InvalidValue, "model")


def test_a_thinking_level_is_text():
    talk().when(lambda s: s.set_thinking_level(7)).then_raises(InvalidValue, "level")


# -- usage and extensions ---------------------------------------------------------------------


def test_usage_is_counted_beside_the_tree():
    after = talk().when(
        lambda s: s.record_usage({"input": 5}, purpose="title", model="oak-1", note="x")
    )
    after.then(event("usage_recorded", usage={"input": 5}, purpose="title", model="oak-1"))
    assert after.state.leaf == "a1"
    assert said(after.context()) == said(talk().tape.context())


def test_state_of_an_extension_is_an_entry_that_no_model_is_sent():
    after = talk().when(lambda s: s.record_custom("garden", {"beds": 3}))
    after.then(event("custom_recorded", namespace="garden", data={"beds": 3}, takes_leaf=True))
    assert said(after.context()) == said(talk().tape.context())


@pytest.mark.parametrize("namespace", ["", None, 7])
def test_a_namespace_is_named(namespace):
    talk().when(lambda s: s.record_custom(namespace)).then_raises(InvalidValue, "namespace")
