"""branch, fork, forks: where a session goes on, through the command line."""

import json

import pytest


def said(run_json, session="talk"):
    return [m["entry_id"] for m in run_json("view", session)["messages"]]


# -- branch --------------------------------------------------------------------------------------


def test_the_leaf_is_moved_to_an_entry(run, run_json, talk):
    answer = run("branch", "talk", talk["question"], "--reason", "another way")
    assert answer == f"position 10, entry {talk['question']}\n  left: 4 entries\n"
    assert said(run_json) == [talk["question"]]
    assert run("branch", "talk", talk["question"]).startswith("nothing changed: position 10")
    assert "another way" in run("show", "talk", "10")


def test_the_leaf_is_moved_to_the_root(run, run_json, talk):
    assert run("branch", "talk", "none").splitlines()[0] == "position 10"
    assert said(run_json) == []
    assert run_json("append", "talk", "Anew")["leaf"] is not None


def test_a_question_is_asked_anew(run, run_json, talk):
    moved = run_json("branch", "talk", talk["side"], "--before")
    assert (moved["leaf"], moved["text"]) == (talk["question"], "Another way")
    again = run("branch", "talk", talk["question"], "--before")
    assert "it asked: How long is it?" in again
    assert run_json("view", "talk")["leaf"] is None


def test_before_an_answer_is_the_entry_above_it(run_json, talk):
    moved = run_json("branch", "talk", talk["answer"], "--before")
    assert (moved["leaf"], moved["text"]) == (talk["result"], None)


def test_what_is_left_is_shown_down_from_the_common_ancestor(run, run_json, talk):
    shown = run("branch", "talk", talk["side"], "--show-abandoned")
    assert shown.split("\n\n") == [
        "[assistant #3]\nI measure.\n(calls measure: side=left)",
        "[tool_result measure #4]\n118 cm",
        "[assistant #5]\n118 cm.\n",
    ]
    shape = run_json("branch", "talk", talk["side"], "--show-abandoned")
    assert list(shape) == "session_id position leaf kept_entry_id moved tokens rows text".split()
    assert (shape["kept_entry_id"], shape["leaf"]) == (talk["question"], talk["slip"])
    assert [row["entry_id"] for row in shape["rows"]] == [
        talk[name] for name in ("call", "result", "answer")
    ]
    assert len(run("tape", "talk").splitlines()) == 9


def test_of_a_compacted_branch_the_summary_is_shown(run, talk):
    run("branch", "talk", talk["answer"])
    run("compact", "talk", "--keep", "1", "--summary", "It was measured.")
    shown = run("branch", "talk", talk["question"], "--show-abandoned")
    assert shown == "[summary #11]\nIt was measured.\n\n[assistant #5]\n118 cm.\n"


@pytest.mark.parametrize("how", ["argument", "stdin", "file", "command"])
def test_a_summary_of_what_is_left_is_an_entry_of_the_new_branch(
    run, run_json, talk, tmp_path, how
):
    (tmp_path / "summary.txt").write_text("It is 118 cm.\n")
    given = {
        "argument": ["--summary", "It is 118 cm."],
        "stdin": ["--summary", "-"],
        "file": ["--file", tmp_path / "summary.txt"],
        "command": ["--with", "grep -o '118 cm[.]' | sed 's/^/It is /'"],
    }[how]
    done = run_json("branch", "talk", talk["side"], *given, stdin="It is 118 cm.\n")
    assert done["position"] == 11
    assert done["leaf"] == done["entry_id"]
    row = run_json("context", "talk")["rows"][-1]
    assert (row["kind"], row["content"][0]["text"]) == ("branch_summary", "It is 118 cm.")
    node = run_json("show", "talk", done["entry_id"])
    assert node["parent_id"] == talk["side"]
    assert node["versions"][0]["fields"]["left"] == talk["slip"]


def test_where_nothing_is_left_there_is_nothing_to_summarise(run, talk):
    for summary in (["--summary", "S"], ["--with", "cat"]):
        assert "nothing to summarise" in run("branch", "talk", talk["slip"], *summary, code=1)
    assert run("branch", "talk", talk["slip"], "--show-abandoned") == ""
    # The slip alone is left, and it is struck out: a command would have nothing to read.
    said = run("branch", "talk", talk["answer"], "--with", "cat", code=1)
    assert "nothing that it could read; nothing was written" in said
    assert len(run("tape", "talk").splitlines()) == 9


def test_a_summary_of_what_has_changed_since_is_refused(run, talk):
    run("append", "talk", "One thing more")
    late = run("branch", "talk", talk["side"], "--summary", "S", "--made-at", "9", code=1)
    assert "what is left has changed after position 9; the summary does not tell of it" in late
    run("label", "talk", talk["answer"], "a label changes nothing")
    run("branch", "talk", talk["side"], "--summary", "S", "--made-at", "10")


@pytest.mark.parametrize(
    "arguments",
    [
        ("none", "--before"),
        ("2", "--summary", "S", "--with", "cat"),
        ("2", "--summary", "S", "--file", "-"),
        ("2", "--summary", " "),
        ("2", "--with", " "),
        ("2", "--summary", "S", "--show-abandoned"),
        ("2", "--made-at", "9"),
        ("2", "--made-at", "9", "--with", "cat"),
    ],
)
def test_what_makes_no_sense_is_wrong_use(run, talk, arguments):
    run("branch", "talk", *arguments, code=2)


# -- fork, forks ---------------------------------------------------------------------------------


def test_a_fork_with_a_name_is_made_once(run, run_json, talk):
    first = run("fork", "talk", "--fork-id", "herbs")
    assert first == "talk::fork::herbs\n"
    assert run("fork", "talk", "--fork-id", "herbs") == first
    assert run_json("view", "talk")["position"] == 10
    assert "fork:" in run("fork", "talk", "--fork-id", "herbs", "--at", "2", code=1)


def test_ids_that_cannot_be_are_named_by_their_option(run, talk):
    assert "--id must have 1 to 255 characters" in run("fork", "talk", "--id", "", code=1)
    assert "--fork-id must have" in run("fork", "talk", "--fork-id", "x" * 256, code=1)
    assert "cannot be its own fork" in run("fork", "talk", "--id", "talk", code=1)


def test_an_empty_fork_inherits_nothing(run, run_json, talk):
    run("fork", "talk", "--empty", "--id", "helper")
    assert said(run_json, "helper") == []
    run("fork", "talk", "--empty", "--leaf", "2", code=2)


def test_forks_are_listed_as_a_tree(run, run_json, talk):
    run("fork", "talk", "--at", "4", "--id", "one")
    run("fork", "talk", "--id", "two", "--title", "The second")
    run("fork", "one", "--id", "one-a")
    run("fork", "one", "--id", "one-b", "--empty")
    run("fork", "one-a", "--id", "one-a-x")
    lines = run("forks", "talk").splitlines()
    assert [line.split("  ")[0] for line in lines if "one" not in line] == ["talk", "└─ two"]
    assert [line[: line.index("one")] for line in lines[1:5]] == [
        "├─ ",
        "│  ├─ ",
        "│  │  └─ ",
        "│  └─ ",
    ]
    assert "at 4 · 0 own messages · A talk" in lines[1]
    assert "The second" in lines[5]
    assert "empty" in lines[4]
    shape = run_json("forks", "talk")
    assert [(f["session_id"], f["parent"], f["depth"]) for f in shape["forks"]] == [
        ("one", "talk", 1),
        ("one-a", "one", 2),
        ("one-a-x", "one-a", 3),
        ("one-b", "one", 2),
        ("two", "talk", 1),
    ]
    assert (shape["session_id"], shape["parent"]) == ("talk", None)
    grandchild = run_json("forks", "one-a")
    assert (grandchild["parent"], grandchild["parent_position"]) == ("one", 1)
    assert "forked from one at 1" in run("forks", "one-a")
    assert run("forks", "one-a-x").splitlines()[1:] == ["no forks"]


def test_a_fork_that_is_not_in_the_store_is_said_to_be_missing(run, run_json, sessions, talk):
    child, _ = sessions.get("talk").fork(child_id="gone")
    parent = child.unsaved_parent()
    parent.take_born()
    sessions.save(parent)
    assert "gone  not in this store" in run("forks", "talk")
    assert run_json("forks", "talk")["forks"][0]["missing"] is True


def test_two_hundred_generations_are_listed(run, sessions, talk):
    tip = sessions.get("talk")
    first = tip
    for n in range(200):
        tip, _ = tip.fork(child_id=f"g{n}")
    sessions.save(first)
    shape = json.loads(run("forks", "talk", "--json"))
    assert [fork["depth"] for fork in shape["forks"]] == list(range(1, 201))
