"""diff: two positions, two leaves, two sessions, as a person and as a program read them."""

import pytest


def test_what_came_after_a_position(run, talk):
    shown = run("diff", "talk", "3", "5")
    lines = shown.splitlines()
    assert lines[0].startswith("A  position 3 · leaf ")
    assert lines[1].startswith("B  position 5 · leaf ")
    assert "1 message in common, then:" in lines
    assert f"~ assistant  #3 {talk['call']}  (calls)" in lines
    assert "  + measure(side=left): success" in lines
    assert f"+ assistant  #5 {talk['answer']}" in lines
    assert lines[-1] == "2 only in B, 1 changed, 1 the same"


def test_the_last_line_counts_messages_as_the_head_does_and_other_entries_apart(run, talk):
    run("append", "talk", "More")
    run("compact", "talk", "--keep", "1", "--summary", "Short")
    said = run("diff", "talk", "9").splitlines()
    a, b = (int(line.split(" · ")[-1].split()[0]) for line in said[:2])
    assert b == a + 1
    assert said[-1] == f"1 only in B, {a} the same; other entries: 1 only in B"


def test_two_leaves_differ_from_where_they_part(run, talk):
    lines = run("diff", "talk", talk["answer"], talk["side"]).splitlines()
    assert "1 message in common, then:" in lines
    assert f"- assistant  #5 {talk['answer']}" in lines
    assert f"+ user  #6 {talk['side']}" in lines


def test_a_left_out_b_is_now_and_a_struck_message_is_marked(run, talk):
    lines = run("diff", "talk", "#7").splitlines()
    assert f"x user  #7 {talk['slip']}  (struck out in B)" in lines
    assert "  Oops" in lines
    assert f"label of {talk['answer']}: none → [the length]" in lines


def test_a_revision_shows_the_words_that_changed(run, talk):
    run("revise", "talk", talk["answer"], "117 cm.")
    shown = run("diff", "talk", "5", talk["answer"])
    assert "~ assistant  #5 → #10" in shown
    assert "  [-118-]{+117+} cm." in shown


def test_of_a_long_text_only_what_is_near_a_change_is_shown(run, sessions):
    s = sessions.start("s")
    s.finalize("user", "a word " * 500 + "here " + "and so on " * 500, entry_id="e")
    s.revise("e", "a word " * 500 + "there " + "and so on " * 500)
    sessions.save(s)
    short, full = run("diff", "s", "2"), run("diff", "s", "2", "--full")
    assert "[-here-]{+there+}" in short
    assert len(short) < 1000
    assert len(full) > 8000


def test_a_fork_against_its_parent(run, talk):
    run("fork", "talk", "--at", "5", "--id", "kid")
    run("append", "kid", "And the right one?")
    run("revise", "kid", talk["call"], "I measured.", "--keep-summary")
    lines = run("diff", "talk", "5", "--with", "kid").splitlines()
    assert lines[0].startswith("A  talk · position 5")
    assert lines[1].startswith("B  kid · position 3")
    assert f"~ assistant  #3 {talk['call']}" in lines
    assert any(line.startswith("+ user  #2 ") for line in lines)


def test_nothing_that_differs_is_said_so(run, talk):
    assert "no difference; 3 messages the same" in run("diff", "talk", "4", "4")


def test_the_empty_path_is_a_side(run_json, talk):
    shape = run_json("diff", "talk", "none", "2")
    assert [d["op"] for d in shape["differences"]] == ["only_b"]
    assert shape["a"]["leaf"] is None


def test_the_shape_of_diff(run_json, talk):
    shape = run_json("diff", "talk", "3", "4")
    assert list(shape) == ("a b related common same differences settings labels title".split())
    assert shape["a"] == {"session_id": "talk", "position": 3, "leaf": talk["call"]}
    assert (shape["common"], shape["same"], shape["related"]) == (1, 1, True)
    changed, added = shape["differences"]
    assert list(changed) == "op kind role changes a b text calls in_its_call".split()
    assert (changed["op"], changed["changes"]) == ("changed", ["calls"])
    assert changed["calls"][0]["a"]["status"] == "pending"
    assert changed["calls"][0]["b"]["result"]["content"] == [{"type": "text", "text": "118 cm"}]
    assert (added["op"], added["a"], added["in_its_call"]) == ("only_b", None, True)
    assert added["b"]["entry_id"] == talk["result"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "name A"),
        (["99"], 1, "positions 1 to 9"),
        (["nope"], 1, "nope"),
        (["3", "--with", "nobody"], 1, "nobody"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(run, talk, arguments, code, said):
    shown = run("diff", "talk", *arguments, code=code)
    assert said in shown
    assert len(shown.splitlines()) == 1
