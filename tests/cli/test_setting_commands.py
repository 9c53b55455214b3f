"""new, title, label, model, thinking: small facts, through the command line."""

import os
import subprocess
from pathlib import Path

import pytest

from tapefold import Sessions

from .conftest import PROGRAM


def test_new_begins_a_session_and_prints_its_id(run, run_json, store):
    made = run("new", "--title", "Beans", "--dir", "/srv/beans").strip()
    assert store.exists()
    info = run_json("sessions")["sessions"][0]
    assert (info["session_id"], info["title"], info["directory"]) == (made, "Beans", "/srv/beans")
    assert (info["position"], info["messages"]) == (1, 0)
    run("append", made, "hello")
    assert run_json("view", made)["messages"][0]["position"] == 2


def test_new_takes_an_id_and_the_current_directory(run_json):
    made = run_json("new", "--id", "beans")
    assert made == {
        "session_id": "beans",
        "position": 1,
        "leaf": None,
        "title": None,
        "directory": str(Path.cwd()),
    }
    assert run_json("new", "--dir", "some/where")["directory"] == os.path.abspath("some/where")
    assert run_json("new", "--dir", "")["directory"] is None


def test_an_id_that_exists_is_not_begun_again(run, talk):
    assert "session 'talk' already exists (it is at position 9)" in run(
        "new", "--id", "talk", code=1
    )
    assert "--id must have 1 to 255 characters" in run("new", "--id", "", code=1)
    assert "--id 'a\\nb' has control characters" in run("new", "--id", "a\nb", code=1)


def test_new_makes_the_store_for_its_owner_alone(run, tmp_path):
    store = tmp_path / "deep" / "sessions.db"
    run("--db", store, "new")
    assert store.stat().st_mode & 0o777 == 0o600


def test_where_the_current_directory_is_gone_there_is_none(environment, tmp_path, store):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'rmdir "$PWD"; exec {PROGRAM} new --id s'
    done = subprocess.run(
        ["sh", "-c", script],
        env=environment,
        cwd=gone,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"s\n"), done.stderr
    with Sessions(store) as sessions:
        assert sessions.info("s").directory is None


def test_a_title_is_set_replaced_and_taken_away(run, run_json, talk):
    assert run("title", "talk", "Another  talk\n") == "position 10\n  Another talk\n"
    assert run("title", "talk", "Another talk").startswith("nothing changed: position 10")
    assert run_json("view", "Another talk")["session_id"] == "talk"
    assert "taken away" in run("title", "talk", "--clear")
    assert run_json("view", "talk")["name"] is None
    assert "does not exist" in run("view", "Another talk", code=1)


def test_a_label_is_set_replaced_and_taken_away(run, run_json, talk):
    side = talk["side"]
    assert run("label", "talk", side, "aside") == f"position 10, entry {side}\n  [aside]\n"
    run("label", "talk", "6", "--file", "-", stdin="beside\n")
    assert run_json("view", "talk")["labels"][side] == "beside"
    assert run("label", "talk", side, "--clear") == (
        f"position 12, entry {side}\n  its label is taken away\n"
    )
    assert side not in run_json("view", "talk")["labels"]
    assert run("label", "talk", side, "--clear").startswith("nothing changed")


def test_model_and_thinking_level_hold_from_the_leaf_on(run, run_json, talk):
    assert "model m-9 (q)" in run("model", "talk", "m-9", "--provider", "q")
    run("thinking", "talk", "high")
    settings = {"model": "m-9", "provider": "q", "thinking_level": "high"}
    assert run_json("view", "talk")["settings"] == settings
    assert run_json("view", "talk", "--leaf", talk["answer"])["settings"]["model"] == "m-1"
    run("thinking", "talk", "--clear")
    assert run_json("view", "talk")["settings"]["thinking_level"] is None


def test_a_setting_with_a_key_is_recorded_once(run_json, talk):
    for command in (("model", "talk", "m-9"), ("thinking", "talk", "low")):
        first = run_json(*command, "--key", command[0])
        again = run_json(*command, "--key", command[0])
        assert (again["position"], again["changed"]) == (first["position"], False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("title", "talk", "x", "--clear"),
        ("label", "talk", "5", "x", "--clear"),
        ("label", "talk", "5", " "),
        ("model", "talk"),
        ("thinking", "talk"),
        ("thinking", "talk", "low", "--clear"),
        ("thinking", "talk", " "),
    ],
)
def test_a_setting_is_given_or_cleared(run, talk, arguments):
    run(*arguments, code=2)


@pytest.mark.parametrize("wrong", [("model", "talk", ""), ("label", "talk", "none", "x")])
def test_a_setting_that_cannot_be_is_refused(run, talk, wrong):
    run(*wrong, code=1)
