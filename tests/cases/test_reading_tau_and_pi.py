"""Cases of reading session files: paths, links, damage, unknown fields."""

import json

import pytest

from tapefold.domain.errors import UnknownEntry
from tapefold.interop.errors import NotASessionFile
from tapefold.interop.pi_eras import original_of


def test_an_empty_file_is_said_to_be_empty_and_stays_empty(tool, tmp_path):
    """T1"""
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    with pytest.raises(NotASessionFile, match="empty"):
        tool.read_text("")
    assert path.read_bytes() == b""


def test_a_file_with_a_header_alone_has_no_rows_and_no_tip(pi):
    """T1"""
    session = pi.read(pi.header())
    assert session.view().messages == ()
    assert session.view().leaf is None


def test_a_chain_of_four_messages_is_read_in_order_and_its_tip_is_the_last(tool):
    """T2"""
    session = tool.read(*tool.h4)
    assert session.said() == session.texts(tool.NAME) == ["A", "B", "C", "D"]
    assert session.view().leaf == "d"


def test_a_tip_in_the_middle_shows_the_way_to_it_alone(tool):
    """T3"""
    session = tool.read(*tool.h4)
    assert session.said("b") == session.texts(tool.NAME, "b") == ["A", "B"]


def test_a_tip_that_does_not_exist_is_an_error(tool):
    """T5"""
    session = tool.read(*tool.h4)
    with pytest.raises(UnknownEntry, match="'zz'"):
        session.said("zz")
    with pytest.raises(UnknownEntry, match="'zz'"):
        session.replay(tool.NAME, "zz")


def test_an_equal_line_again_counts_as_there_already_and_changes_nothing(tool):
    """T6"""
    session = tool.read(*tool.h4, tool.h4[1])
    assert session.said() == ["A", "B", "C", "D"]
    assert session.view().leaf == "d"
    assert (session.report.kept, session.report.already) == (session.report.read - 1, 1)
    assert session.reasons == ["duplicate_line"]


def test_an_id_used_again_with_other_content_gets_an_id_of_its_own(tool):
    """T6"""
    session = tool.read(*tool.h4, tool.user("b", "d", "E"), tool.user("f", "b", "F"))
    assert session.said() == ["A", "B", "F"]  # references mean the first
    assert session.said("b~5" if tool.NAME == "tau" else "b~6")[-1] == "E"
    assert session.reasons == ["duplicate_id"]


def test_a_ring_of_two_is_cut_at_its_first_member_and_reported(tool):
    """T7"""
    session = tool.read(tool.user("a", "b"), tool.user("b", "a"))
    assert session.said() == session.texts(tool.NAME) == ["A", "B"]
    assert session.reasons == ["ring"]


def test_a_parent_that_is_not_there_makes_a_root_of_the_first_entry(tool):
    """T9"""
    session = tool.read(tool.user("a", "nope"), tool.assistant("b", "a"))
    assert session.said() == session.texts(tool.NAME) == ["A", "B"]
    assert session.reasons == ["unknown_parent"]


def test_a_parent_that_is_not_there_hides_no_older_history(tool):
    """T9"""
    session = tool.read(*tool.h4, tool.user("e", "nope"), tool.assistant("f", "e"))
    assert session.said() == ["A", "B", "C", "D", "E", "F"]
    assert session.texts(tool.NAME) == ["E", "F"]  # as the tools have it: the path just begins
    assert session.reasons == ["unknown_parent"]


def test_a_parent_may_stand_after_its_child_and_the_tip_is_the_last_line(tool):
    """T11"""
    session = tool.read(tool.assistant("b", "a"), tool.user("a"))
    assert session.view().leaf == "a"
    assert session.said() == session.texts(tool.NAME) == ["A"]
    assert session.said("b") == session.texts(tool.NAME, "b") == ["A", "B"]


def test_a_torn_last_line_hides_nothing_and_the_rest_is_read_once_it_is_whole(tool):
    """T12"""
    whole = tool.text(*tool.h4)
    last = json.dumps(tool.h4[-1]) + "\n"
    session = tool.read_text(whole[: -len(last) + 40])
    assert session.said() == ["A", "B", "C"]
    assert (session.report.skipped, session.reasons) == (1, ["torn_tail"])
    session.path.write_text(whole)
    assert (session.again().kept, session.said()) == (1, ["A", "B", "C", "D"])


def test_a_field_that_nobody_knows_is_kept(tool):
    """T14"""
    line = {**tool.user("a"), "future": {"x": [1, None]}}
    session = tool.read(line)
    assert session.said() == ["A"]
    (event,) = [e for e in session.sessions.tape(session.id) if e.head.entry_id == "a"]
    assert event.body.extra[tool.NAME]["fields"] == {"future": {"x": [1, None]}}


def test_a_line_separator_inside_a_text_ends_no_line(tool):
    """T15"""
    text = "one\u2028two\u2029three\u0085four"
    raw = tool.text(tool.user("a", text="TEXT"), tool.assistant("b", "a")).replace("TEXT", text)
    session = tool.read_text(raw)
    assert session.said() == [text, "B"]
    assert session.reasons == []


@pytest.mark.parametrize("name", ["x.jsonl", "pi.jsonl", "tau.jsonl", "no-suffix"])
def test_a_file_is_read_as_what_it_holds_whatever_its_name_and_is_never_changed(
    tau, pi, tmp_path, name
):
    """T16"""
    for tool in (tau, pi):
        path = tmp_path / name
        raw = tool.text(*tool.h4).encode()
        path.write_bytes(raw)
        session = tool.read_text(raw.decode())
        assert session.report.format == tool.NAME
        assert session.said() == ["A", "B", "C", "D"]
        assert session.path.read_bytes() == raw
        assert sorted(p.name for p in tmp_path.glob(f"*{session.path.stem}*")) == [
            session.path.name
        ]


def test_a_file_of_something_else_is_refused_and_not_changed(pi, tmp_path):
    """T16"""
    raw = '{"hello": "world"}\n[1, 2]\nplain text\n'
    with pytest.raises(NotASessionFile):
        pi.read_text(raw)
    (path,) = tmp_path.glob("*.jsonl")
    assert path.read_text() == raw


def test_a_leaf_line_of_an_older_file_does_not_move_the_tip(tau):
    """T17"""
    leaf = {**tau.line("l", "b", "leaf"), "entry_id": "b"}
    session = tau.read(*tau.h4, leaf)
    assert session.said() == session.texts("tau") == ["A", "B", "C", "D"]
    assert session.view().leaf == "d"


def test_a_leaf_line_that_names_no_entry_does_not_empty_the_path(tau):
    """T19"""
    session = tau.read(tau.user("a"), tau.line("l", "a", "leaf"))
    assert session.said() == session.texts("tau") == ["A"]


def test_a_file_without_a_last_line_feed_is_read_whole_and_goes_on_growing(tool):
    """T72"""
    whole = tool.text(*tool.h4)
    session = tool.read_text(whole.rstrip("\n"))
    assert (session.said(), session.reasons) == (["A", "B", "C", "D"], [])
    session.path.write_text(whole + json.dumps(tool.user("e", "d")) + "\n")
    assert (session.again().kept, session.said()[-1]) == (1, "E")


def test_a_record_that_was_glued_to_such_a_line_is_read_all_the_same(tool):
    """T72"""
    glued = tool.text(*tool.h4).rstrip("\n") + json.dumps(tool.user("e", "d")) + "\n"
    session = tool.read_text(glued)
    assert session.said() == ["A", "B", "C", "D", "E"]
    assert session.reasons == ["glued_records"]


def test_a_pi_file_without_ids_is_one_line_of_history_with_a_boundary_by_number(pi):
    """T53"""
    header = {**pi.header(), "provider": "p", "modelId": "m", "thinkingLevel": "high"}
    del header["version"]
    k = pi.compaction("k", "d", "S", firstKeptEntryIndex=3)
    bare = [{n: v for n, v in line.items() if n not in ("id", "parentId")} for line in (*pi.h4, k)]
    session = pi.read(header, *bare)
    assert session.sent() == session.texts("pi") == ["S", "C", "D"]
    assert session.said() == ["A", "B", "C", "D"]
    state = session.replay("pi")["state"]
    assert (state["model"], state["thinking_level"]) == ("mm", "off")  # not the header's
    assert session.again().kept == 0  # the same ids again


def test_a_pi_file_of_an_older_version_is_not_rewritten(pi):
    """T53"""
    header = pi.header()
    del header["version"]
    line = {n: v for n, v in pi.user("a").items() if n not in ("id", "parentId")}
    raw = pi.text(header, line)
    session = pi.read_text(raw)
    assert session.path.read_text() == raw
    (started, event) = session.sessions.tape(session.id)
    assert started.body.extra["pi"]["header"] == header
    assert original_of(event.head, event.body) == line


def test_the_older_role_of_a_message_of_an_extension_is_read_as_the_newer(pi):
    """T56"""
    message = {"role": "hookMessage", "customType": "x", "content": "hook", "timestamp": 1}
    raw = pi.text(pi.header(version=2), pi.line("a", None, "message", message=message))
    session = pi.read_text(raw)
    assert session.said() == session.texts("pi") == ["hook"]
    assert session.replay("pi")["messages"] == [{**message, "role": "custom"}]
    assert session.path.read_text() == raw


def test_an_older_file_of_tau_s_is_read_as_its_newest_release_reads_it(tau):
    """T52"""
    oldest = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two", "tool_calls": [], "usage": None},
        {"role": "user", "content": "three"},
    ]
    lines = []
    for n, message in enumerate(oldest, 1):
        parent = None if n == 1 else f"m{n - 1}"
        lines.append(tau.line(f"m{n}", parent, "message", message=message))
        lines.append({**tau.line(f"l{n}", f"m{n}", "leaf"), "entry_id": f"m{n}"})
    label = tau.line("label", "m3", "label", label="my session")
    k = tau.compaction("k", "m3", "S", replaces_entry_ids=["m1", "m2"])
    session = tau.read(*lines, label, k)
    assert session.sent() == session.texts("tau") == ["S", "three"]
    assert session.view().labels == {"m1": "my session"}
    assert session.view().leaf == "k"
