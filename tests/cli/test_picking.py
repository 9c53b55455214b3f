"""tree -i and sessions -i: keys in a terminal, plain prompts where there is none."""

import pytest

from tapefold.cli.picker import Picker

from .conftest import PROGRAM
from .screens import Terminal


@pytest.fixture
def open_terminal(environment, tmp_path, talk):
    """Runs a command in a terminal of the test's store."""

    def start(*arguments, **how):
        return Terminal(list(arguments), environment, tmp_path, **how)

    return start


def chosen(terminal):
    """The row in reverse."""
    screen = terminal._screen
    for n, row in enumerate(terminal.rows):
        if screen.buffer[n][0].reverse:
            return row
    return None


def test_the_tree_opens_at_the_leaf_and_escape_leaves_it_as_it_is(open_terminal, sessions, talk):
    before = sessions.state("talk").position
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("Tree of talk")
        assert talk["slip"][:6] in chosen(terminal)
        assert terminal.quit("escape") == 0
        assert terminal.is_given_back()
    assert sessions.state("talk").position == before


@pytest.mark.slow
def test_arrows_and_paging_move_and_stay_in_the_list(open_terminal, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("Tree of talk  6/6")
        terminal.send("down")
        terminal.send("up")
        terminal.wait_for("  5/6")
        terminal.send("home", "up")
        terminal.wait_for("  1/6")
        assert talk["question"][:6] in chosen(terminal)
        terminal.send("pagedown")
        terminal.wait_for("  6/6")
        assert terminal.quit("ctrl-c") == 130
        assert terminal.is_given_back()


@pytest.mark.slow
def test_letters_search_and_escape_takes_the_search_away_first(open_terminal, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("search:")
        terminal.send("meas")
        terminal.wait_for("  1/1")
        assert talk["call"][:6] in chosen(terminal)
        terminal.send("ure zzz")
        terminal.wait_for("nothing fits")
        terminal.send("escape")
        terminal.wait_for("/6")
        assert terminal.quit("escape") == 0


@pytest.mark.slow
def test_what_is_not_ascii_can_be_searched(open_terminal, sessions):
    sessions.execute("talk", lambda s: s.finalize("user", "Grüße aus Köln"))
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("/7")
        terminal.send("KÖLN")
        terminal.wait_for("  1/1")
        assert terminal.quit("escape", "escape") == 0


@pytest.mark.slow
def test_ctrl_o_goes_through_the_filters_and_stays_on_the_row(open_terminal, talk):
    with open_terminal("tree", "talk", "-i", "--only", "labelled") as terminal:
        terminal.wait_for("[labelled]")
        assert "[the length]" in chosen(terminal)
        terminal.send("\x0f")
        terminal.wait_for("[user]")
        terminal.send("\x0f")
        terminal.wait_for("[no-tools]")
        assert "tool_result" not in terminal.text
        assert terminal.quit("escape") == 0


def pick(terminal, entry, action):
    terminal.wait_for("search:")
    terminal.send(entry)
    terminal.wait_for("  1/1")
    terminal.send("enter")
    terminal.wait_for("back to the tree")
    terminal.send(action)
    terminal.wait_for("  1/1")


@pytest.mark.slow
def test_an_answer_is_branched_at(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["call"], "branch here: what")
        assert terminal.quit("enter") == 0
        assert "position 10" in terminal.text
    assert sessions.state("talk").leaf == talk["call"]


def test_a_user_message_is_asked_anew_with_its_text_to_be_edited(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("search:")
        terminal.send(talk["question"])
        terminal.wait_for("  1/1")
        terminal.send("enter")
        terminal.wait_for("branch before it")
        terminal.send("enter")
        terminal.wait_for("Ask: How long is it?")
        assert terminal.quit(" In cm.", "enter") == 0
    view = sessions.view("talk")
    assert [m.content[0].text for m in view.messages] == ["How long is it? In cm."]
    assert view.items[0].node.parent_id is None
    moved, asked = list(sessions.tape("talk"))[-2:]
    assert moved.body.before == talk["question"]
    assert asked.head.takes_leaf


@pytest.mark.slow
def test_an_emptied_text_only_moves_the_leaf_before_the_message(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["slip"], "before")
        terminal.send("enter")
        terminal.wait_for("Ask: Oops")
        terminal.send("backspace", "backspace", "backspace", "backspace")
        terminal.wait_for(lambda text: text.rstrip().endswith("Ask:"))
        assert terminal.quit("enter") == 0
        assert "it asked: Oops" in terminal.text
    assert sessions.state("talk").leaf == talk["answer"]


@pytest.mark.slow
def test_escape_in_a_question_goes_back_to_the_actions(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["slip"], "before")
        terminal.send("enter")
        terminal.wait_for("Ask: Oops")
        terminal.send("escape")
        terminal.wait_for(lambda text: "Ask:" not in text)
        terminal.send("escape")
        terminal.wait_for("back to the tree")
        terminal.send("escape")
        terminal.wait_for("Tree of talk")
        assert terminal.quit("escape") == 0
    assert sessions.state("talk").position == 9


@pytest.mark.slow
def test_a_branch_takes_a_summary_of_what_is_left(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["question"], "summary")
        terminal.send("enter")
        terminal.wait_for("Summary:")
        assert terminal.quit("It is 118 cm long.", "enter") == 0
    last = list(sessions.tape("talk"))[-1]
    assert (last.body.summary, last.head.parent_id) == ("It is 118 cm long.", talk["question"])
    assert sessions.state("talk").leaf == last.head.entry_id


@pytest.mark.slow
def test_ctrl_l_labels_and_comes_back_to_the_row(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("search:")
        terminal.send("up", "\x0c")
        terminal.wait_for("Label (empty: none):")
        terminal.send("\x15mine", "enter")
        terminal.wait_for("[mine] at position 10")
        assert "[mine]" in chosen(terminal)
        assert terminal.quit("escape") == 0
    assert "mine" in sessions.view("talk").labels.values()


@pytest.mark.slow
def test_a_session_is_replayed_step_by_step_from_an_entry(open_terminal, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["call"], "replay")
        terminal.send("enter")
        terminal.wait_for("3 of 9")
        terminal.send("q")  # back to the tree
        terminal.wait_for("F1 help")
        assert terminal.quit("escape") == 0
        assert terminal.is_given_back()


def test_the_keys_are_told_on_a_screen_of_their_own_and_letters_still_search(open_terminal, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("F1 help, arrows move, letters search, Enter picks, Esc leaves, Ctrl-O f")
        terminal.resize(40, 24)
        terminal.wait_for(lambda screen: "F1 help, Enter picks, Esc leaves" in screen)
        terminal.send("\x07")  # Ctrl-G
        terminal.wait_for("replay up to it")
        assert all(key in terminal.text for key in ("Ctrl-B", "Ctrl-L", "Ctrl-O", "Escape"))
        terminal.send("x")  # any key ends it, and is no search
        terminal.wait_for("search: (type)")
        terminal.send("?")
        terminal.wait_for("search: ?")
        terminal.send("escape")
        terminal.wait_for("search: (type)")
        assert terminal.quit("escape") == 0


@pytest.mark.slow
def test_the_conversation_at_an_entry_is_viewed(open_terminal, talk):
    with open_terminal("tree", "talk", "-i") as terminal:
        pick(terminal, talk["side"], "view")
        assert terminal.quit("enter") == 0
        assert "Another way" in terminal.text


@pytest.mark.slow
def test_a_fork_leads_to_its_own_tree(open_terminal, sessions, talk):
    sessions.fork("talk", child_id="kid", at=3)
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("fork kid")
        terminal.send("fork kid", "enter")
        terminal.wait_for("Tree of kid")
        assert terminal.quit("escape") == 0


@pytest.mark.slow
def test_the_past_can_be_looked_at_and_not_be_written(open_terminal, sessions, talk):
    with open_terminal("tree", "talk", "-i", "--at", "4") as terminal:
        terminal.wait_for("Tree of talk at position 4")
        terminal.send("enter")
        terminal.wait_for("replay the session")
        assert "branch" not in terminal.text
        terminal.send("escape")
        terminal.wait_for("Tree of talk")
        assert terminal.quit("escape") == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [(20, 6), (20, 1), (200, 3)])
def test_any_size_of_terminal_will_do(open_terminal, talk, size):
    columns, lines = size
    with open_terminal("tree", "talk", "-i", columns=columns, lines=lines) as terminal:
        terminal.wait_for("#7")
        terminal.send("up")
        terminal.wait_for("#5")
        terminal.resize(80, 24)
        terminal.wait_for("arrows move")
        assert terminal.quit("escape") == 0


@pytest.mark.slow
def test_hostile_labels_do_not_reach_the_screen_as_they_are(open_terminal, sessions, talk):
    sessions.execute("talk", lambda s: s.label(talk["slip"], "\x1b]0;TITLE\x07\x1b[2J"))
    with open_terminal("tree", "talk", "-i") as terminal:
        terminal.wait_for("\\x1b]0;TITLE")
        terminal.quit("escape")
        assert b"\x1b]0;TITLE" not in terminal.output


# -- sessions ------------------------------------------------------------------------------------


def test_a_picked_session_is_printed_on_standard_output_alone(
    environment, tmp_path, sessions, talk
):
    """As in `tapefold view $(tapefold sessions -i)`: standard output is a pipe."""
    other = sessions.start("other", title="The other")
    other.finalize("user", "hi")
    sessions.save(other)
    script = f'x=$("{PROGRAM}" sessions -i); echo "picked=$x"'
    with Terminal(["-c", script], environment, tmp_path, program="/bin/sh") as terminal:
        terminal.wait_for("The other")
        terminal.send("a talk")
        terminal.wait_for("  1/1")
        assert terminal.quit("enter") == 0
        assert "picked=talk" in terminal.text


@pytest.mark.slow
def test_no_picked_session_is_no_success(open_terminal):
    with open_terminal("sessions", "-i") as terminal:
        terminal.wait_for("A talk")
        assert terminal.quit("escape") == 1


# -- without a terminal --------------------------------------------------------------------------


def test_without_a_terminal_a_session_is_picked_by_its_number(program, talk):
    result = program("sessions", "-i", stdin=b"1\n")
    assert (result.returncode, result.stdout) == (0, b"talk\n")
    assert b"1  2026-03-02 09:00" in result.stderr


def test_rows_are_not_padded_to_a_width_that_nobody_has(program, talk):
    printed = program("sessions", "-i", stdin=b"\n").stderr.decode()
    row = next(line for line in printed.splitlines() if "A talk" in line)
    assert len(row) < 140
    assert row.index(" messages") < 100


def test_a_text_searches_where_there_is_no_terminal(run, sessions, talk):
    for n in range(30):
        s = sessions.start(f"s{n:02}", title=f"Number {n:02}")
        s.finalize("user", "hi", timestamp=n)
        sessions.save(s)
    assert run("sessions", "-i", stdin="+\nnumber 17\n2\n1\n") == "s17\n"


@pytest.mark.parametrize("stdin", ["", "\n", "zzz\n", "99999999999\n"])
def test_an_end_of_the_input_picks_nothing(run, talk, stdin):
    asked = run("sessions", "-i", stdin=stdin, code=1)
    assert "number, text to search" in asked
    assert "unexpected" not in asked


def test_input_that_is_no_utf_8_is_no_reason_to_fail(program, talk):
    result = program("tree", "talk", "-i", stdin=b"\xff\xfe\n\n")
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"nothing fits" in result.stdout


def test_an_entry_is_labelled_with_plain_prompts(run, sessions, talk):
    shown = run("tree", "talk", "-i", stdin="measure\n1\n3\nthe call\n\n")
    assert sessions.view("talk").labels[talk["call"]] == "the call"
    assert "[the call] at position 10" in shown


def test_a_user_message_is_asked_anew_with_plain_prompts(run, sessions, talk):
    shown = run("tree", "talk", "-i", stdin=f"{talk['question']}\n1\n1\nHow wide is it?\n")
    assert "Ask: [How long is it?]" in shown
    assert [m.content[0].text for m in sessions.view("talk").messages] == ["How wide is it?"]


def test_an_answer_is_branched_at_with_plain_prompts(run, sessions, talk):
    run("tree", "talk", "-i", stdin=f"{talk['call']}\n1\n1\n")
    assert sessions.state("talk").leaf == talk["call"]


def test_a_branch_takes_a_summary_with_plain_prompts(run, sessions, talk):
    run("tree", "talk", "-i", stdin=f"{talk['call']}\n1\n2\nIt is long.\n")
    last = list(sessions.tape("talk"))[-1]
    assert (last.body.summary, last.head.parent_id) == ("It is long.", talk["call"])


@pytest.mark.parametrize("summary", ["", "-"])
def test_a_summary_without_words_changes_nothing(run, sessions, talk, summary):
    stdin = f"{talk['call']}\n1\n2\n{summary}\n"
    assert "needs words" in run("tree", "talk", "-i", stdin=stdin, code=2)
    assert sessions.state("talk").position == 9


def test_a_text_of_several_lines_is_not_asked_in_one(run, sessions, talk):
    s = sessions.get("talk")
    s.finalize("user", "one\ntwo", entry_id="tall-one")
    sessions.save(s)
    shown = run("tree", "talk", "-i", stdin="tall-one\n1\n1\n")
    assert "it asked: one" in shown
    assert sessions.state("talk").leaf == talk["slip"]


def test_replay_and_view_are_those_of_the_commands(run, talk):
    replayed = run("tree", "talk", "-i", stdin=f"{talk['call']}\n1\n4\n")
    assert replayed.endswith(run("replay", "talk", "--to", "3"))
    viewed = run("tree", "talk", "-i", stdin=f"{talk['call']}\n1\n5\n")
    assert viewed.endswith(run("view", "talk", "--leaf", talk["call"]))


def test_what_a_fork_inherits_is_replayed_where_it_was_said(run, sessions, talk):
    sessions.fork("talk", child_id="kid", at=5)
    replayed = run("tree", "kid", "-i", stdin=f"{talk['call']}\n1\n4\n")
    assert replayed.endswith(run("replay", "talk", "--to", "3"))


def test_the_past_offers_nothing_that_writes(run, sessions, talk):
    shown = run("tree", "talk", "-i", "--at", "4", stdin=f"{talk['call']}\n1\n3\n\n")
    assert "branch" not in shown
    assert "label" not in shown
    assert sessions.state("talk").position == 9


def test_a_fork_that_is_not_in_the_store_is_said_so(run, sessions, talk):
    sessions.fork("talk", child_id="kid", at=4)
    with sessions.recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute("DELETE FROM tapefold_events WHERE originator_id = 'kid'")
    assert "kid is not in this store" in run("tree", "talk", "-i", stdin="fork kid\n1\n\n")


def test_a_program_is_not_asked(run, talk):
    assert "give one of them" in run("tree", "talk", "-i", "--json", code=2)
    assert "give one of them" in run("sessions", "-i", "--json", code=2)


# -- long lists ----------------------------------------------------------------------------------


class Many:
    """A hundred thousand rows that count how often they are drawn."""

    def __init__(self):
        self.drawn = 0

    def __len__(self):
        return 100_000

    def key(self, n):
        return str(n)

    def parts(self, n, width, *, alone):
        self.drawn += 1
        return (f"row {n}",)

    def text(self, n):
        return f"row {n}"


def drawn(picker, height=24):
    return ["".join(span.text for span in line).rstrip() for line in picker._draw(40, height)]


def test_of_a_huge_list_only_what_is_seen_is_drawn():
    rows = Many()
    picker = Picker({"all": lambda: rows}, title="Many", start="99999")
    assert "row 99999" in drawn(picker)
    assert rows.drawn <= 24
    picker._type("row 4242")
    lines = drawn(picker)
    assert "row 4242" in lines
    assert "row 42420" in lines
    assert rows.drawn <= 48
    assert "1/20" in lines[0]


def test_the_last_page_is_full_and_every_height_holds_the_chosen_row():
    picker = Picker({"all": Many}, title="Many", start="99999")
    for height in range(1, 30):
        lines = drawn(picker, height)
        assert "row 99999" in lines
        assert len(lines) <= height
    assert len([line for line in drawn(picker) if line.startswith("row")]) == 21
