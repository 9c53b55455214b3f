"""A session that was imported, gone on with here, and exported over its own file."""

import json
from collections import Counter

import pytest

from tapefold import export_session, import_file
from tapefold.domain.content import TextBlock, ToolCallBlock


def ids(session):
    return [e.head.entry_id for e in session.events if e.head.entry_id is not None]


def exported_and_again(session):
    """Exported over the file that it came from, and imported from there."""
    tool = session.report.format
    export_session(session.sessions, session.id, tool, session.path, overwrite=True)
    again = session.again()
    assert max(Counter(ids(again)).values()) == 1
    return again


def grow(session, tool, *records):
    with session.path.open("ab") as file:
        file.write(tool.file(*records))
    return session.again()


@pytest.fixture
def session(load, tool):
    return load(
        tool.session(
            tool.user("a", None, "How long?"),
            tool.assistant("b", "a", "I measure.", "c1"),
            tool.result("r", "b", "c1", "118 cm"),
        )
    )


def go_on(session, *commands):
    for command in commands:
        session.sessions.execute(session.id, command)


def test_exported_over_its_file_nothing_comes_in_twice(session):
    go_on(
        session,
        lambda s: s.finalize("user", "And the other one?", under="r"),
        lambda s: s.finalize("assistant", "As long.", under=s.state.leaf),
        lambda s: s.set_model("demo-2", "demo"),
        lambda s: s.set_thinking_level("high"),
        lambda s: s.label("a", "start"),
        lambda s: s.compact("Two planks.", first_kept=s.state.leaf),
        lambda s: s.finalize("user", "Thanks."),
    )
    before = session.sessions.info(session.id).position
    again = exported_and_again(session)
    assert (again.report.kept, again.report.already) == (0, again.report.read)
    assert session.sessions.info(session.id).position == before
    assert exported_and_again(session).report.kept == 0


def test_an_answer_with_calls_usage_and_a_result_that_is_a_fact_is_there_already(session):
    call = ToolCallBlock(call_id="c2", name="measure", arguments=None)
    said = [TextBlock(text="Once more."), call]
    usage = {"input": 3, "output": 4}
    made = session.sessions.execute(
        session.id, lambda s: s.finalize("assistant", said, under="r", usage=usage, model="m")
    )
    go_on(session, lambda s: s.record_result(made.message_id, "c2", "119 cm"))
    go_on(session, lambda s: s.finalize("user", "Good.", under=made.entry_id))
    assert exported_and_again(session).report.kept == 0


def test_a_message_that_was_revised_here_is_there_already(session):
    go_on(session, lambda s: s.revise("a", "How long is it?"))
    again = exported_and_again(session)
    assert again.report.kept == 0
    assert again.said()[0] == "How long is it?"


def test_another_record_with_the_id_of_an_entry_made_here_is_a_duplicate(session, tool):
    go_on(session, lambda s: s.finalize("user", "made here", under="r", entry_id="zz"))
    grown = grow(session, tool, tool.user("zz", "r", "read"), tool.user("y", "zz", "child"))
    assert [reason for _, reason in grown.reasons] == ["duplicate_id"]
    assert max(Counter(ids(grown)).values()) == 1
    assert grown.said(leaf="y") == ["How long?", "I measure.", "118 cm", "made here", "child"]
    assert grown.again().report.kept == 0


def test_the_same_content_elsewhere_in_the_tree_is_another_record(session, tool):
    go_on(session, lambda s: s.finalize("user", "here", under="r", entry_id="zz"))
    grown = grow(session, tool, tool.user("zz", "a", "here"))
    assert [reason for _, reason in grown.reasons] == ["duplicate_id"]
    assert grown.again().report.kept == 0


def test_what_the_tool_goes_on_with_hangs_under_what_was_made_here(session, tool):
    """The tool hangs its next record under the last line, which the export may have added."""
    go_on(
        session,
        lambda s: s.finalize("user", "made here", under="r", entry_id="zz"),
        lambda s: s.label("a", "start"),
    )
    exported_and_again(session)
    last = json.loads(session.path.read_bytes().splitlines()[-1])
    assert last["id"] != "zz"
    grown = grow(session, tool, tool.user("y", last["id"], "next"), tool.user("b2", "q", "early"))
    assert grown.report.kept == 2
    assert grown.parent("y") == "zz"


def test_a_derived_id_keeps_clear_of_ids_on_the_tape(load, tool):
    session = load(tool.session(tool.user("a", None, "A")))
    line = len(session.path.read_bytes().splitlines()) + 1
    go_on(session, lambda s: s.finalize("user", "here", entry_id=f"a~{line}"))
    grown = grow(session, tool, tool.user("a", None, "other"))
    assert max(Counter(ids(grown)).values()) == 1


def test_a_file_that_is_followed_brings_nothing_twice_either(session, tool):
    from tapefold.following import follow_file

    go_on(session, lambda s: s.finalize("user", "made here", under="r"))
    export_session(session.sessions, session.id, tool.NAME, session.path, overwrite=True)
    report = follow_file(session.sessions, str(session.path), stop=lambda: True)
    assert (report.kept, report.already) == (0, report.read)


# -- ids that records have, and ids that they were given ---------------------------------------


def test_a_reference_means_the_record_that_has_the_id_itself(load, tool):
    first = 1 if tool.NAME == "tau" else 2
    given = f"a~{first + 1}"
    session = load(
        tool.session(
            tool.user("a", None, "first"),
            tool.user("a", None, "other"),
            tool.user("early", given, "child"),
            tool.user(given, None, "own"),
            tool.user("late", given, "child"),
        )
    )
    assert session.said(leaf="early") == ["own", "child"]
    assert session.said(leaf="late") == ["own", "child"]
    assert session.again().report.kept == 0


def test_an_equal_line_of_a_second_duplicate_is_there_already(load, tool):
    other = tool.user("a", None, "other")
    session = load(tool.session(tool.user("a", None, "first"), other, other))
    assert [reason for _, reason in session.reasons] == ["duplicate_id", "duplicate_line"]
    assert import_file(session.sessions, session.path).kept == 0
