"""view, tree, tape, replay, context and sessions, as a person reads them."""

import pytest

from tapefold.cli.drawing import layout
from tapefold.testing import Tape

from .conftest import ROOT

SHORT = ROOT / "examples" / "short-talk.pi.jsonl"


def test_a_view_reads_as_a_conversation_with_results_under_their_calls(run, talk):
    shown = run("view", "talk", "--leaf", talk["answer"])
    assert shown.splitlines()[0] == "A talk"
    order = ["How long is it?", "I measure.", "measure(side=left)", "118 cm", "118 cm."]
    places = [shown.index(text) for text in order]
    assert places == sorted(places)
    assert shown.count("118 cm\n") == 1
    assert "[the length]" in shown
    assert "4 messages · model m-1 (p)" in shown


def test_a_struck_message_is_marked_in_its_place_and_its_words_are_not_shown(run, talk):
    shown = run("view", "talk")
    assert f"user {talk['slip']} was struck out" in shown
    assert "Oops" not in shown


def test_an_unfinished_message_shows_with_pending_and_is_marked(run, sessions, talk):
    sessions.execute("talk", lambda s: s.draft("assistant", "Half a th", under=talk["question"]))
    with_leaf = ("view", "talk", "--leaf", sessions.tree("talk").nodes[-1].entry_id)
    drafted = next(n.entry_id for n in sessions.tree("talk").nodes if n.status == "pending")
    with_leaf = ("view", "talk", "--leaf", drafted)
    assert "Half a th" not in run(*with_leaf)
    assert "is unfinished" in run(*with_leaf)
    shown = run(*with_leaf, "--pending")
    assert "Half a th" in shown
    assert "(unfinished)" in shown


def test_a_call_without_a_result_and_one_that_failed_are_told_apart(run, sessions):
    s = sessions.start("s")
    calls = [
        {"type": "tool_call", "call_id": c, "name": f"tool{c}", "arguments": None} for c in "ab"
    ]
    s.finalize("assistant", calls)
    s.finalize("tool_result", "no such file", for_call="a", is_error=True)
    sessions.save(s)
    lines = run("view", "s").splitlines()
    assert "✗ toola()" in lines[3]
    assert lines[4].strip() == "error"
    assert "○ toolb()" in lines[6]
    assert lines[7].strip() == "no result yet"


def test_long_texts_and_results_are_cut_and_say_so(run, sessions):
    s = sessions.start("s")
    s.finalize("user", "w" * 9_000 + "END")
    s.finalize("assistant", [{"type": "tool_call", "call_id": "c", "name": "t"}])
    s.finalize("tool_result", "\n".join(f"line {n}" for n in range(100)), for_call="c")
    sessions.save(s)
    short, full = run("view", "s"), run("view", "s", "--full")
    assert "9,003 characters; --full" in short
    assert "END" not in short
    assert "88 more lines; --full" in short
    assert "line 99" not in short
    assert "END" in full
    assert "line 99" in full
    assert "--full" not in full


def test_a_view_at_a_position_is_the_past(run, talk):
    assert "Oops" in run("view", "talk", "--at", "7")
    past = run("view", "talk", "--at", "3")
    assert "I measure." in past
    assert "118 cm" not in past


def test_warnings_stand_at_the_end_of_a_view(run, sessions, talk):
    late = sessions.execute(
        "talk", lambda s: s.finalize("assistant", "late", under=talk["question"])
    )
    lines = run("view", "talk", "--leaf", talk["answer"]).splitlines()
    assert lines[-2].startswith("! 1 answer(s) became final beside the path")
    assert late.entry_id in lines[-1]


def test_an_anchor_and_a_branch_summary_stand_in_their_place(run):
    run("import", ROOT / "examples" / "kitchen-garden.tau.jsonl")
    shown = run("view", "last")
    assert "── branch summary" in shown
    assert "── compaction/imported" in shown
    assert shown.index("branch summary") < shown.index("fridge door. Big") < shown.index("compact")


# -- tree ----------------------------------------------------------------------------------------


def drawn(tape):
    outline = tape.outline()
    return [prefix + node.entry_id for prefix, node in layout(outline.nodes, "├─", "│ ")]


def test_a_single_chain_is_not_indented():
    tape = Tape()
    for n in range(5):
        tape.user(str(n), id=f"e{n}")
    assert drawn(tape) == ["e0", "e1", "e2", "e3", "e4"]


def test_the_longest_branch_runs_straight_and_the_others_stand_beside_it():
    tape = Tape()
    tape.user(id="root")
    for name in ("long1", "long2", "long3"):
        tape.assistant(id=name)
    tape.user(id="side1", under="root")
    tape.user(id="side2", under="side1")
    tape.user(id="inner", under="side1")
    tape.user(id="last", under="root")
    assert drawn(tape) == [
        "root",
        "├─side1",
        "│ ├─side2",
        "│ inner",
        "├─last",
        "long1",
        "long2",
        "long3",
    ]


def test_every_entry_is_drawn_once_whatever_the_shape(run):
    tape = Tape()
    for n in range(200):
        tape.user(id=f"e{n}", under=f"e{n * 7 % n}" if n % 5 else None)
    lines = drawn(tape)
    names = [line.lstrip("├─│ ") for line in lines]
    assert sorted(names) == sorted(f"e{n}" for n in range(200))


def test_a_chain_far_deeper_than_the_recursion_limit_is_drawn_straight():
    tape = Tape()
    for n in range(5_000):
        tape.user(id=f"e{n}")
        if n % 1000 == 500:
            tape.user(id=f"s{n}", under=f"e{n - 1}", takes_leaf=False)
    lines = drawn(tape)
    assert len(lines) == 5_005
    assert lines.count("├─s500") == 1


def test_nesting_stays_small_where_every_entry_has_two_children():
    tape = Tape()
    tape.user(id="e1")
    for n in range(2, 512):
        tape.user(id=f"e{n}", under=f"e{n // 2}")
    assert max(len(line) - len(line.lstrip("├─│ ")) for line in drawn(tape)) <= 2 * 32


def test_the_tree_marks_path_leaf_labels_and_struck_messages(run, talk):
    lines = {line.split()[1]: line for line in run("tree", "talk").splitlines()[1:]}
    by_name = {name: next(v for v in lines.values() if e in v) for name, e in talk.items()}
    assert by_name["question"].startswith("● ")
    assert "[the length]" in by_name["answer"]
    assert "[measure]" in by_name["call"]
    assert by_name["slip"].startswith("✗ ")
    assert "◀ leaf" in by_name["slip"]
    assert "├─○" in by_name["side"]


def test_ids_are_whole_in_a_pipe(run):
    run("import", ROOT / "examples" / "kitchen-garden.tau.jsonl")
    for command in ("tree", "tape"):
        assert "2443d93d25044eb5b98c48cab17edf08" in run(command, "last")
    assert "tau-2ec746997017425e87c3e62447ce57e9" in run("sessions")


# -- tape, replay --------------------------------------------------------------------------------


def test_the_tape_has_a_line_for_each_event_and_a_range_of_them(run, talk):
    assert len(run("tape", "talk").splitlines()) == 9
    lines = run("tape", "talk", "--from", "8", "--to", "9").splitlines()
    assert [line.split()[0] for line in lines] == ["8", "9"]
    assert "Retracted" in lines[0]
    assert len(run("tape", "talk", "--at", "3").splitlines()) == 3


def test_a_replay_says_what_each_event_did(run, talk):
    lines = run("replay", "talk").splitlines()
    assert "session started" in lines[0]
    assert lines[1].endswith("+ user  How long is it?")
    assert "assistant  I measure.  measure(side=left)" in lines[2]
    assert "✓ tool_result answers measure (c1)  118 cm" in lines[3]
    assert "○ user on another branch  Another way" in lines[5]
    assert "- retraction" in lines[7]
    assert "struck out" in lines[7]
    assert "* label [the length]" in lines[8]
    assert "9 events, 4 messages in the view" in lines[-1]


def test_a_replay_of_a_part_says_what_the_whole_says_of_it(run):
    run("import", ROOT / "examples" / "bird-box.pi.jsonl")
    whole = run("replay", "last", "--json").splitlines()
    for first, last in ((1, 3), (30, 55), (64, 70)):
        part = run("replay", "last", "--from", first, "--to", last, "--json").splitlines()
        assert part == whole[first - 1 : last]
    assert run("replay", "last", "--at", "64", "--json").splitlines() == [whole[63]]


def test_a_replay_names_what_an_anchor_hides_and_what_a_branch_leaves(run):
    run("import", SHORT)
    lines = run("replay", "short-talk", "--at", "9").splitlines()
    assert "* compaction" in lines[0]
    assert "1 message left with their branch" in lines[1]
    assert "4 messages hidden from the context" in lines[2]


def test_a_replay_of_a_fork_begins_with_what_it_inherits(run, talk):
    run("fork", "talk", "--at", "4", "--id", "child")
    run("append", "child", "Mine")
    lines = run("replay", "child").splitlines()
    assert "a fork of talk at 4, inherits 3 messages" in lines[0]
    assert lines[1].endswith("+ user  Mine")
    assert "2 events, 4 messages" in lines[-1]


# -- context, sessions -----------------------------------------------------------------------------


def test_a_context_shows_rows_kinds_reasons_and_an_estimate(run):
    run("import", SHORT)
    shown = run("context", "short-talk")
    assert "1 user  summary  #9  8 tokens" in shown
    assert "left out: 4\n" in shown
    assert "before_boundary  a summary or hand-off stands for it\n    #3 #4 #5 #6\n" in shown
    assert "2 rows · about 13 tokens" in shown


def test_a_context_by_the_full_policy_applies_no_summary(run):
    run("import", SHORT)
    shown = run("context", "short-talk", "--policy", "full")
    assert "summary" not in shown
    assert "left out" not in shown


def test_every_reason_for_leaving_a_message_out_is_explained():
    from tapefold.cli.prompt import WHY_EXCLUDED
    from tapefold.domain.context import REASONS

    assert list(WHY_EXCLUDED) == list(REASONS)


def test_sessions_are_listed_newest_first_with_first_words_for_a_title(run, sessions, talk):
    untitled = sessions.start("untitled")
    untitled.finalize("user", "What is\n  this?")
    sessions.save(untitled)
    run("fork", "talk", "--at", "3", "--id", "child")
    lines = run("sessions").splitlines()
    assert [line.split()[0] for line in lines] == ["SESSION", "child", "talk", "untitled"]
    assert "fork of talk at 3" in lines[1]
    assert "A talk" in lines[2]
    assert "/home/user/talk" in lines[2]
    assert "What is this?" in lines[3]


def test_an_empty_store_says_how_to_fill_it(run, sessions):
    assert "tapefold import FILE" in run("sessions")


@pytest.mark.parametrize("reference", ["A talk", "ta", "alk", "last"])
def test_every_reading_command_takes_every_name_of_a_session(run, talk, reference):
    for command in ("view", "tape", "tree", "replay", "context"):
        assert run(command, reference) == run(command, "talk")


@pytest.fixture
def shell(sessions):
    s = sessions.start("shell")
    s.finalize("user", "Look.")
    s.finalize("bash_execution", "time,load\n0,1", details={"command": "head -2 beam.csv"})
    hidden = {"command": "env |\n grep S\x1b[31m", "exclude_from_context": True}
    s.finalize("bash_execution", "SECRET=1", details=hidden)
    s.finalize("bash_execution", "", details={"command": "true"})
    sessions.save(s)
    return "shell"


def test_a_shell_command_is_shown_before_what_came_out_of_it(run, shell):
    lines = run("view", shell).splitlines()
    at = lines.index("  $ head -2 beam.csv")
    assert lines[at - 1].startswith("bash_execution")
    assert lines[at + 1 : at + 3] == ["  time,load", "  0,1"]
    assert "  $ true" in lines


def test_a_view_marks_a_shell_command_that_no_model_is_sent(run, shell):
    lines = run("view", shell).splitlines()
    marked = [n for n, line in enumerate(lines) if line.endswith("(not in the context)")]
    assert [lines[n + 1] for n in marked] == ["  $ env | grep S\\x1b[31m"]


@pytest.mark.parametrize("command", ["tree", "replay", "tape", "diff"])
def test_every_list_shows_a_shell_command_before_its_output(run, shell, command):
    shown = run(command, shell, *(["2"] if command == "diff" else []))
    words = " ".join(shown.split())
    assert "$ head -2 beam.csv time,load 0,1" in words
    assert "$ env | grep S\\x1b[31m SECRET=1" in words
    assert "$ true" in words


def test_a_very_long_shell_command_is_cut_and_whole_with_full(run, sessions):
    s = sessions.start("s")
    s.finalize("bash_execution", "out", details={"command": "echo " + "w" * 900 + " END"})
    sessions.save(s)
    assert "END" not in run("view", "s")
    assert "END" in "".join(run("view", "s", "--full").split())
