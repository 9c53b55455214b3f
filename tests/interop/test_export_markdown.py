"""The document: what it tells, and that nothing in a session can break it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold.exporting import export_lines
from tapefold.interop.writing.family import Family
from tapefold.interop.writing.markdown import Document
from tapefold.interop.writing.report import ExportReport
from tapefold.interop.writing.safe_text import code, fenced, inline, prose
from tapefold.testing import Tape
from tapefold.testing.strategies import families


def document(tape, every=True, leaf=None):
    state = tape.state()
    made = Document(
        Family(state, tape.tapes),
        leaf or state.leaf,
        every,
        ExportReport(state.session_id, "markdown"),
    )
    return b"".join(line + b"\n" for line in made.lines()).decode()


def outside_of_fences(text):
    """The lines that are no code, as a reader of Markdown sees them."""
    lines, fence = [], None
    for line in text.split("\n"):
        found = re.match(r"^ {0,3}(`{3,}|~{3,})(.*)$", line)
        if fence is None and found and "`" not in found[2]:
            fence = found[1]
        elif fence is not None:
            if (
                found
                and found[1][0] == fence[0]
                and len(found[1]) >= len(fence)
                and not found[2].strip()
            ):
                fence = None
        else:
            lines.append(line)
    assert fence is None, "a code block that does not end"
    return lines


def test_it_tells_who_said_what_and_when():
    tape = Tape(title="A *talk*")
    tape.user("How long?", id="q", timestamp="2026-03-02T09:00:00Z")
    tape.assistant("I look.", calls={"c1": {"side": "left"}}, id="a", model="m-1")
    tape.result("c1", "118 cm", "a", id="r")
    tape.compact("They measured.", keep="r")
    tape.label("q", "start")
    text = document(tape)
    assert "# A \\*talk\\*" in text
    assert "## User · 2026-03-02 09:00:00 UTC" in text
    assert "*Label: start*" in text
    assert "## Assistant (m-1)" in text
    assert '**Call** `tool` (`c1`)\n\n```json\n{\n  "side": "left"\n}\n```' in text
    assert "*Result of call `c1`*\n\n```\n118 cm\n```" in text
    assert "## Summary" in text


def test_other_branches_follow_where_they_go_off():
    tape = Tape()
    tape.user("A", id="a")
    tape.user("B", id="b")
    tape.user("side", id="s", under="a")
    text = document(tape)
    assert text.index("## Branch 1 after `a`") > text.index("\nB\n")
    assert "## Branch" not in document(tape, every=False)
    assert "\nB\n" not in document(tape, every=False, leaf="s")


def test_what_was_struck_is_not_told(sessions):
    talk = sessions.start("talk")
    talk.finalize("user", "kept")
    talk.retract(talk.finalize("user", "struck").entry_id)
    sessions.save(talk)
    export = export_lines(sessions, "talk", "markdown")
    text = b"".join(export.lines).decode()
    assert "struck" not in text
    assert export.report.reasons == {"document": 1, "struck": 1}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("a < b", "a < b"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("# Heading", "\\# Heading"),
        ("- # Heading", "- \\# Heading"),
        ("---", "\\---"),
        ("===", "\\==="),
        ("[x]: https://example.org", "\\[x]: https://example.org"),
        ("![p](https://example.org/p.png)", "!\\[p](https://example.org/p.png)"),
        ("[x](javascript:alert(1))", "[x]\\(javascript:alert(1))"),
        ("[x](java&#115;cript:alert(1))", "[x]\\(java&amp;#115;cript:alert(1))"),
        ("[x](https://example.org)", "[x](https://example.org)"),
        ("  - ```", "  - \\```"),
        ("red \x1b[31m", "red \\x1b[31m"),
        ("left \u202e right", "left \\u202e right"),
    ],
)
def test_text_stays_what_it_says_and_does_nothing(text, shown):
    assert list(prose(text)) == [shown]


def test_a_code_block_is_closed_and_keeps_its_content():
    assert list(prose("```py\nif a < b:\n    pass")) == ["```py", "if a < b:", "    pass", "```"]
    assert list(prose("~~~\n```\n<b>\n~~~\nafter")) == ["````", "```", "<b>", "````", "after"]


MARKS = st.text(
    alphabet=st.sampled_from(list("`~#<>&[]()!-=* \n\tab1.:\x1b\u202e\ud83d\r")), max_size=40
)


@settings(max_examples=100, deadline=None)
@given(MARKS)
def test_no_text_ends_a_block_or_begins_one(text):
    for lines in (list(prose(text)), list(fenced(text)), [code(text), inline(text)]):
        outside = outside_of_fences("\n".join(lines))
        assert not any(re.match(r"\s*(?:[-*+>]\s*)*#{1,6}(\s|$)", line) for line in outside)
        assert not any(
            re.search(r"<[A-Za-z/!?]", line.replace("\\<", ""))
            for line in outside
            if not line.startswith("`")
        )
        assert not any(c in line for line in lines for c in "\x1b\u202e\ud83d\r")


@settings(max_examples=12, deadline=None)
@given(families(max_size=25, hostile=True))
def test_every_tape_is_a_document_with_every_message_that_shows(family):
    for tape in family:
        text = document(tape)
        outside_of_fences(text)
        for message in tape.view().messages:
            for block in message.content:
                assert getattr(block, "text", "") in text
