"""System messages of Pi's whose text stands in sections: what the model was told is shown."""

import json

import pytest

from tapefold.domain.context import REASONS
from tapefold.exporting import export_lines

SECTIONS = {"preamble": "You help.", "gone": None, "cwd": "/home/user/demo", "empty": ""}
TOLD = "You help.\n\n/home/user/demo"


def system(pi, entry_id="s", parent=None, content="", sections=SECTIONS):
    return pi.message(entry_id, parent, "system", content, sections=sections, toolsAdded=[])


def carried(content="", **fields):
    return {"role": "system", "content": content, "timestamp": 2, **fields}


def lines(session, form):
    return [json.loads(line) for line in export_lines(session.sessions, session.id, form).lines]


def excluded(session, **options):
    context = session.sessions.context(session.id, **options)
    return {left.entry_id: left.reason for left in context.excluded}


@pytest.mark.parametrize("policy", ["anchored", "full"])
def test_the_view_and_the_context_say_what_stands_in_the_sections(load, pi, policy):
    session = load(pi.session(system(pi), pi.user("a", "s", "A")))
    assert session.said() == [TOLD, "A"]
    assert session.sent(policy=policy) == [TOLD, "A"]
    assert session.sessions.context(session.id, policy=policy).rows[0].role == "system"
    assert excluded(session, policy=policy) == {}
    (outlined, _) = session.sessions.tree(session.id).nodes
    assert outlined.preview == "You help. /home/user/demo"


def test_a_document_says_it_too(load, pi):
    session = load(pi.session(system(pi), pi.user("a", "s", "A")))
    export = export_lines(session.sessions, session.id, "markdown")
    text = b"".join(export.lines).decode()
    assert "## System" in text
    assert TOLD in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Base.", ["Base.", TOLD]),
        ([{"type": "text", "text": "Base."}], ["Base.", TOLD]),
        ([], [TOLD]),
        (None, [TOLD]),
    ],
)
def test_the_content_comes_first_and_the_record_is_given_back(load, pi, content, said):
    records = [system(pi, content=content), pi.user("a", "s", "A")]
    session = load(pi.session(*records))
    message, _ = session.sessions.view(session.id).messages
    assert [block.text for block in message.content] == said
    assert session.newest() == records
    assert "record" not in session.by_id["s"].body.extra["pi"], "taken apart, not kept whole"
    assert lines(session, "pi")[1:] == records
    assert session.again().counts == (3, 0, 3, 0, 0, 0)
    replayed = session.replay("pi")["messages"][0]
    assert replayed == {**records[0]["message"], "content": "" if content is None else content}


@pytest.mark.parametrize(
    "sections",
    [{}, {"gone": None}, {"blank": " "}, {"n": 1}, [], "text", None, {"deep": {"a": "b"}}],
)
def test_sections_that_say_nothing_leave_the_message_empty_and_exact(load, pi, sections):
    records = [system(pi, sections=sections), pi.user("a", "s", "A")]
    session = load(pi.session(*records))
    assert session.sent() == ["A"]
    assert excluded(session) == {"s": "empty"}
    assert session.newest() == records


def test_sections_of_another_role_are_no_content(load, pi):
    session = load(pi.session(pi.message("a", None, "user", "A", sections=SECTIONS)))
    assert session.said() == ["A"]


def test_a_version_of_ours_is_written_as_what_it_says(load, pi):
    session = load(pi.session(system(pi), pi.user("a", "s", "A")))
    session.sessions.execute(session.id, lambda s: s.revise("s", "Be brief."))
    assert session.sent() == ["Be brief.", "A"]
    assert session.replay("pi")["messages"][0]["content"] == [{"type": "text", "text": "Be brief."}]
    assert lines(session, "pi")[1]["message"]["content"] == "Be brief."


def test_a_message_that_was_struck_and_restored_says_it_again(load, pi):
    session = load(pi.session(system(pi), pi.user("a", "s", "A")))
    session.sessions.execute(session.id, lambda s: s.retract("s"))
    session.sessions.execute(session.id, lambda s: s.restore("s"))
    assert session.sent() == [TOLD, "A"]


# -- compactions -------------------------------------------------------------------------------


def compacted(pi, **fields):
    return [
        system(pi),
        pi.user("a", "s", "A"),
        system(pi, "t", "a", sections={"preamble": "You help more."}),
        pi.user("b", "t", "B"),
        {**pi.compaction("k", "b", "S", "a"), **fields},
        pi.user("c", "k", "C"),
    ]


def test_what_a_compaction_carries_is_told_before_its_summary_and_once(load, pi):
    records = compacted(pi, systemMessage=carried(sections={"preamble": "You help more."}))
    session = load(pi.session(*records))
    assert session.sent() == ["You help more.", "S", "A", "B", "C"]
    assert [row.role for row in session.sessions.context(session.id).rows][:2] == ["system", "user"]
    assert excluded(session) == {"s": "before_boundary", "t": "superseded"}
    assert session.sent(policy="full") == [TOLD, "A", "You help more.", "B", "C"]
    assert session.newest() == records
    assert lines(session, "pi")[1:] == records
    assert session.again().counts == (7, 0, 7, 0, 0, 0)
    by_pi = [row["role"] for row in session.replay("pi")["messages"]]
    assert by_pi == ["system", "compactionSummary", "user", "user", "user"]
    by_tau = [row["role"] for row in session.replay("tau")["messages"]]
    assert by_tau == ["user", "user", "user", "user"], "system messages have no place there"


def test_a_later_system_message_stands_where_it_was_said(load, pi):
    records = compacted(pi, systemMessage=carried("State."))
    session = load(pi.session(*records, system(pi, "u", "c", "Now.", {})))
    assert session.sent() == ["State.", "S", "A", "B", "C", "Now."]


@pytest.mark.parametrize(
    "value", [None, False, 0, "", "text", [], {}, {"role": "user", "content": "x"}, carried()]
)
def test_a_compaction_that_carries_nothing_to_say_leaves_the_kept_messages(load, pi, value):
    records = compacted(pi, systemMessage=value)
    session = load(pi.session(*records))
    assert session.sent() == ["S", "A", "You help more.", "B", "C"]
    assert session.by_id["k"].body.kept is None
    assert session.newest() == records


def test_an_edit_that_leaves_the_compaction_out_leaves_out_what_it_carries(load, pi):
    records = compacted(pi, systemMessage=carried("State."))
    edit = pi.record("context_edit", "e", "c", targetId="k", replacement=None)
    session = load(pi.session(*records, edit))
    assert session.sent() == ["A", "B", "C"]
    assert excluded(session)["k"] == "edited_out"
    assert set(excluded(session).values()) <= set(REASONS)
