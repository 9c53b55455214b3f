"""tree: filters, forks, positions, narrow terminals, great depth."""

from dataclasses import replace

import pytest

from tapefold import Sessions
from tapefold.domain.outline import OutlineFork, narrow_outline
from tapefold.finding import find_entry
from tapefold.testing import Tape

from .screens import Terminal


def lines_of(text):
    return [line.rstrip() for line in text.splitlines()]


def test_an_entry_is_shown_with_its_position_and_every_command_takes_that(run, run_json, talk):
    drawn = run("tree", "talk")
    assert f"#5 {talk['answer']} assistant" in drawn
    assert run_json("show", "talk", "#5")["entry_id"] == talk["answer"]
    assert run("view", "talk", "--leaf", "#5") == run("view", "talk", "--leaf", talk["answer"])
    assert run("view", "talk", "--at", "#5") == run("view", "talk", "--at", "5")


@pytest.mark.parametrize("digits_are_ids", [True, False])
def test_a_number_sign_means_a_position_unless_a_leaf_is_called_so(sessions, digits_are_ids):
    s = sessions.start("s")
    s.finalize("user", "a", entry_id="#3")
    s.finalize("user", "b", entry_id="b")
    sessions.save(s)
    found = find_entry(sessions, sessions.state("s"), "#3", digits_are_ids=digits_are_ids)
    assert found == ("#3" if digits_are_ids else "b")
    assert find_entry(sessions, sessions.state("s"), "@#3") == "#3"
    assert find_entry(sessions, sessions.state("s"), "#2", digits_are_ids=True) == "#3"


def test_only_labelled_entries_hang_under_each_other(run, run_json, talk):
    (node,) = run_json("tree", "talk", "--only", "labelled")["nodes"]
    assert (node["entry_id"], node["parent_id"], node["depth"]) == (talk["answer"], None, 0)
    assert "1 of 6 entries" in run("tree", "talk", "--only", "labelled").splitlines()[0]


def test_only_user_messages_keep_their_branches(run_json, talk):
    nodes = run_json("tree", "talk", "--only", "user")["nodes"]
    assert {(n["entry_id"], n["parent_id"], n["depth"]) for n in nodes} == {
        (talk["question"], None, 0),
        (talk["side"], talk["question"], 1),
        (talk["slip"], talk["question"], 1),
    }


def test_without_tools_results_and_bare_calls_are_left_out(sessions, run_json):
    s = sessions.start("s")
    call = {"type": "tool_call", "call_id": "c", "name": "t"}
    s.finalize("user", "hi", entry_id="u")
    s.finalize("assistant", [call], entry_id="bare")
    s.finalize("tool_result", "done", for_call="c", entry_id="r")
    s.finalize(
        "assistant", [{"type": "text", "text": "I do"}, {**call, "call_id": "d"}], entry_id="a"
    )
    sessions.save(s)
    nodes = run_json("tree", "s", "--only", "no-tools")["nodes"]
    assert [(n["entry_id"], n["parent_id"]) for n in nodes] == [("u", None), ("a", "u")]


def test_where_the_leaf_is_filtered_out_its_nearest_ancestor_says_so(run, talk):
    run("append", "talk", "Fine", "--role", "assistant", "--under", talk["answer"])
    drawn = run("tree", "talk", "--leaf", talk["call"], "--only", "user")
    assert "◀ leaf below" in next(line for line in drawn.splitlines() if talk["question"] in line)


def test_a_filter_that_is_none_is_wrong_use(run, talk):
    assert "labelled" in run("tree", "talk", "--only", "nonsense", code=2)


def test_forks_stand_below_the_entry_from_which_they_go_on(run, run_json, talk):
    run("fork", "talk", "--at", "4", "--id", "kid")
    run("fork", "talk", "--at", "7", "--id", "kid-2")
    lines = lines_of(run("tree", "talk"))
    at = next(n for n, line in enumerate(lines) if talk["result"] in line)
    assert lines[at + 1] == "├─→ fork kid · at #4"
    assert "└─→ fork kid-2 · at #7" in lines
    forks = run_json("tree", "talk")["forks"]
    assert [(f["session_id"], f["entry_id"], f["position"]) for f in forks] == [
        ("kid", talk["result"], 4),
        ("kid-2", talk["slip"], 7),
    ]
    assert run_json("tree", "talk", "--at", "9")["forks"] == []


def test_a_fork_marks_what_it_inherits_and_where_from(run, talk):
    run("fork", "talk", "--at", "3", "--id", "kid")
    run("append", "kid", "Mine")
    lines = lines_of(run("tree", "kid"))
    assert lines[1].startswith("a fork of talk at #3")
    assert f"#2^ {talk['question']}" in lines[2]
    assert "#2 " in lines[-1]
    assert "Mine" in lines[-1]


def test_a_fork_of_an_empty_path_stands_above_all_entries(run, talk):
    run("fork", "talk", "--leaf", "none", "--id", "kid")
    assert lines_of(run("tree", "talk"))[1].startswith("→ fork kid")


def test_filtered_forks_hang_under_what_is_left():
    tape = Tape()
    tape.user(id="u")
    tape.assistant("a", id="a")
    fork = OutlineFork("kid", None, "a", 3, True, 4)
    narrowed = narrow_outline(replace(tape.outline(), forks=(fork,)), "user")
    assert narrowed.forks[0].entry_id == "u"


def test_a_narrow_terminal_shows_positions_and_first_words(environment, tmp_path, talk):
    with Terminal(["tree", "talk"], environment, tmp_path, columns=20) as terminal:
        assert terminal.quit() == 0
        rows = [row for row in terminal.rows if row]
    assert rows[1] == "● #2 user  How long…"
    assert all(len(row) <= 20 for row in rows)
    assert not any(talk["question"][:6] in row for row in rows)


def test_a_wide_terminal_shows_more_words(environment, tmp_path, sessions):
    s = sessions.start("s")
    s.finalize("user", " ".join(f"word{n}" for n in range(100)))
    sessions.save(s)
    for columns in (80, 200):
        with Terminal(["tree", "s"], environment, tmp_path, columns=columns) as terminal:
            assert terminal.quit() == 0
            row = next(row for row in terminal.rows if "word0" in row)
        assert len(row) == columns
        assert row.endswith("…")


def test_labels_come_in_few_requests_however_many_there_are(sessions, monkeypatch):
    s = sessions.start("s")
    for n in range(60):
        s.label(s.finalize("user", str(n)).entry_id, f"label {n}")
    sessions.save(s)
    asked = []
    real = type(sessions.tapes).events_at

    def events_at(tapes, session_id, positions):
        asked.append(positions)
        return real(tapes, session_id, positions)

    monkeypatch.setattr(type(sessions.tapes), "events_at", events_at)
    assert sum(node.label is not None for node in sessions.tree("s").nodes) == 60
    assert len(asked) < 5


@pytest.mark.slow
def test_a_hundred_thousand_entries_deep_and_ten_thousand_wide(store, program):
    with Sessions(store) as sessions:
        s = sessions.start("deep")
        for n in range(100_000):
            s.finalize("user", f"word {n}", entry_id=f"e{n}")
        sessions.save(s)
        w = sessions.start("wide")
        w.finalize("user", "root", entry_id="root")
        for n in range(10_000):
            w.finalize("user", f"word {n}", under="root")
        sessions.save(w)
    for name, number in (("deep", 100_000), ("wide", 10_001)):
        result = program("tree", name, timeout=300)
        assert result.returncode == 0, result.stderr
        assert len(result.stdout.splitlines()) == number + 1
