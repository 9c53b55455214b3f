"""`tapefold repair`."""

import pytest


@pytest.fixture
def broken(sessions):
    """A call whose result comes after the next question."""
    talk = sessions.start("talk")
    call = {"type": "tool_call", "call_id": "c1", "name": "read"}
    talk.finalize("user", "Read it", entry_id="q")
    talk.finalize("assistant", [call], entry_id="a")
    talk.finalize("user", "Well?", entry_id="w")
    talk.finalize("tool_result", "text", for_call="c1", entry_id="r")
    sessions.save(talk)
    return talk


def test_a_dry_run_says_what_would_be_appended(run, run_json, broken):
    planned = run_json("repair", "talk", "--dry-run")
    assert planned == {
        "session_id": "talk",
        "position": 5,
        "entry_id": "r",
        "changed": True,
        "dry_run": True,
        "parent_id": "a",
        "appended": 3,
        "synthesized": 0,
        "reordered": 1,
        "orphans": 0,
        "duplicates": 0,
        "dropped": [],
    }
    assert "would append 3 entries" in run("repair", "talk", "--dry-run")
    assert run_json("sessions")["sessions"][0]["position"] == 5


def test_a_repair_is_done_once(run, run_json, broken):
    done = run_json("repair", "talk")
    assert (done["changed"], done["appended"], done["reordered"]) == (True, 3, 1)
    view = run_json("view", "talk")
    assert [m["role"] for m in view["messages"]] == ["user", "assistant", "tool_result", "user"]
    again = run_json("repair", "talk")
    assert (again["changed"], again["position"]) == (False, done["position"])
    assert run("repair", "talk") == "nothing to repair\n"


def test_a_session_that_is_not_there_is_named(run, broken):
    assert "nobody" in run("repair", "nobody", code=1)
