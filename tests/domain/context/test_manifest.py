"""The manifest says how the rows came about: references, reasons, estimates and hashes, no text."""

import json

import pytest

from tapefold.testing import Tape


@pytest.fixture
def busy(talk):
    """A tape with an anchor, an edit, a missing result and something of every kind left out."""
    talk.compact("SECRET-SUMMARY", id="k", keep="u2")
    talk.assistant("SECRET-CALL", id="a3", calls={"c": {"SECRET": "ARGUMENT"}})
    talk.user("SECRET-EDITED", id="u3")
    talk.edit("u3", "SECRET-EDIT", id="e")
    talk.result("zz", "SECRET-STRAY", id="stray")
    return talk


def test_it_names_the_policy_the_builder_and_the_place(busy):
    manifest = busy.context().manifest
    assert (manifest["policy"], manifest["policy_version"]) == ("anchored", 1)
    assert manifest["builder_version"] == 1
    assert (manifest["session_id"], manifest["position"]) == ("s", busy.position)
    assert manifest["leaf"] == "stray"
    assert busy.context("full", leaf=None).manifest["leaf"] is None


def test_it_refers_to_every_row_with_its_reason(busy):
    included = busy.context().manifest["included"]
    assert [(one["entry_id"], one["kind"], one["reason"]) for one in included] == [
        ("k", "summary", "anchor"),
        ("u2", "message", "on_path"),
        ("a2", "message", "on_path"),
        ("a3", "message", "on_path"),
        (None, "synthetic", "interrupted"),
        ("u3", "message", "edited"),
    ]
    assert [(one["session_id"], one["position"]) for one in included] == [
        ("s", 6),
        ("s", 4),
        ("s", 5),
        ("s", 7),
        (None, None),
        ("s", 8),
    ]


def test_it_refers_to_the_version_that_is_sent(talk):
    talk.revise("a1", "Beech.")
    assert talk.context().manifest["included"][1]["position"] == talk.position


def test_it_refers_to_what_is_inherited_by_the_parent_s_id(talk):
    child = talk.fork("child")
    child.user("Paint?")
    manifest = child.context().manifest
    assert manifest["session_id"] == "child"
    assert [one["session_id"] for one in manifest["included"]] == ["s"] * 4 + ["child"]


def test_it_refers_to_what_was_left_out(busy):
    excluded = busy.context().manifest["excluded"]
    assert {one["entry_id"]: one["reason"] for one in excluded} == {
        "u1": "before_boundary",
        "a1": "before_boundary",
        "stray": "no_call",
    }


def test_it_holds_no_text(busy):
    assert "SECRET" not in json.dumps(busy.context().manifest)
    assert "Glue" not in json.dumps(busy.context("full").manifest)


def test_it_is_plain_json(busy):
    manifest = busy.context().manifest
    assert json.loads(json.dumps(manifest)) == manifest


def test_it_is_the_same_every_time(busy):
    assert busy.context().manifest == busy.context().manifest
    assert busy.copy().context().manifest == busy.context().manifest


def hashes(context):
    return context.manifest["rows_hash"], context.manifest["prompt_hash"]


def test_its_hashes_are_sha256_in_hex(talk):
    for one in hashes(talk.context()):
        assert len(bytes.fromhex(one)) == 32


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.label("u1", "start"),
        lambda t: t.title("Box"),
        lambda t: t.usage({"input": 1}),
        lambda t: t.custom("x", {"n": 1}),
        lambda t: t.thinking("high"),
        lambda t: t.model("oak-2", "forest"),
        lambda t: t.user("Beech?", under="u1"),
        lambda t: t.draft("Not yet"),
        lambda t: t.revise("a1", "Oak.", usage={"output": 3}, reason="counted"),
        lambda t: t.result("zz", "stray"),
        lambda t: t.fork("child"),
    ],
    ids=[
        "label",
        "name",
        "usage",
        "custom",
        "thinking",
        "model",
        "side branch",
        "draft",
        "same words",
        "stray result",
        "fork",
    ],
)
def test_its_hashes_stay_while_the_same_is_sent(talk, change):
    before = hashes(talk.context())
    change(talk)
    assert hashes(talk.context()) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.user("Paint?"),
        lambda t: t.revise("a1", "Oak!"),
        lambda t: t.retract("a1"),
        lambda t: t.edit("a1", "Wood."),
        lambda t: t.edit("a1"),
        lambda t: t.compact("S", keep="u2"),
        lambda t: t.branch_summary("a1", "Pale"),
        lambda t: t.call_fact("a1", "c"),
        lambda t: t.move_leaf("a1"),
    ],
    ids=[
        "message",
        "revision",
        "retraction",
        "edit",
        "left out",
        "anchor",
        "branch",
        "call",
        "leaf",
    ],
)
def test_its_hashes_change_with_what_is_sent(talk, change):
    before = hashes(talk.context())
    change(talk)
    after = hashes(talk.context())
    assert after[0] != before[0]
    assert after[1] != before[1]


def test_only_the_prompt_s_hash_knows_of_results_that_are_made_up():
    answered, open_ = Tape(), Tape()
    for tape in (answered, open_):
        tape.assistant("", id="a", calls=["c"])
    answered.result("c", "interrupted", "a", is_error=True, interruption=True)
    assert hashes(answered.context())[0] != hashes(open_.context())[0]
    assert hashes(answered.context())[1] == hashes(open_.context())[1]
    assert hashes(open_.context())[0] != hashes(open_.context())[1]


def test_where_all_is_on_the_tape_both_hashes_are_of_the_same(talk):
    assert len(set(hashes(talk.context()))) == 1


def test_a_fork_that_is_sent_the_same_has_the_same_hashes(talk):
    assert hashes(talk.fork("child").context()) == hashes(talk.context())


def test_whether_a_result_failed_is_part_of_what_is_sent():
    found = set()
    for is_error in (True, False):
        tape = Tape()
        tape.assistant("", id="a", calls=["c"])
        tape.result("c", "x", "a", is_error=is_error)
        found.add(hashes(tape.context()))
    assert len(found) == 2
