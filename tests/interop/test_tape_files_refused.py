"""Tape files that are damaged, cut off, of another tape or of the future: what is taken of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold.interop.errors import ImportRefused, NotASessionFile, SourceChanged, UnsupportedFile
from tapefold.sessions import Sessions

from .tapes import lines_of, rows, take, written


def test_a_tape_that_differs_is_refused_with_its_line_and_nothing_is_written(sessions, talk):
    lines = lines_of(written(sessions, talk))
    sessions.fork(talk, at=4, child_id="child")
    fork = lines_of(written(sessions, "child"))
    changed = fork[3].replace(b"words 1", b"other words")
    assert changed != fork[3]
    with Sessions("memory:") as other:
        take(other, b"".join(lines[:1] + lines[1:4] + [lines[4]]))
        before = [rows(other, stream.originator_id) for stream in other.recorder.streams()]
        data = b"".join([*fork[:3], changed, *fork[4:]])
        with pytest.raises(SourceChanged, match=r"line 4: session 'talk' .* position 3") as caught:
            take(other, data)
        assert caught.value.report.to_json()["problems"][-1]["reason"] == "changed_tape"
        assert before == [rows(other, s.originator_id) for s in other.recorder.streams()]


def test_a_session_that_was_imported_from_another_tool_is_not_mixed_with_a_tape(
    sessions, other, talk, pi
):
    data = written(sessions, talk)
    take(other, pi.file(pi.header(id="talk"), pi.user("a", None, "A")))
    with pytest.raises(SourceChanged, match="line 2"):
        take(other, data)


@pytest.mark.parametrize(
    ("topic", "reason", "says"),
    [
        (b"shop.orders:Order.Placed", "foreign_topic", "none of a session"),
        (b"os:system", "foreign_topic", "none of a session"),
        (b"tapefold.SomethingNew", "newer_event", "a newer one"),
    ],
)
def test_events_that_are_not_ours_or_from_the_future_are_refused_by_name(
    sessions, other, talk, topic, reason, says
):
    data = written(sessions, talk).replace(b'"tapefold.Labelled",', b'"' + topic + b'",')
    with pytest.raises(UnsupportedFile, match=says) as caught:
        take(other, data)
    assert (caught.value.reason, caught.value.line) == (reason, 7)
    assert topic.decode() in str(caught.value)
    assert list(other.sessions()) == []


def test_an_event_of_a_newer_class_version_is_refused(sessions, other, talk):
    lines = lines_of(written(sessions, talk))
    lines[3] = lines[3].replace(b'"class_version":1', b'"class_version":7')
    with pytest.raises(UnsupportedFile, match="class version 7") as caught:
        take(other, b"".join(lines))
    assert caught.value.line == 4
    assert list(other.sessions()) == []


def test_a_file_of_a_newer_version_is_refused(sessions, other, talk):
    data = written(sessions, talk).replace(b'"version":1', b'"version":2', 1)
    with pytest.raises(UnsupportedFile, match="version 2"):
        take(other, data)


@pytest.mark.parametrize(
    "first",
    [
        b'{"format":"tapefold-tape","version":1}\n',
        b'{"format":"tapefold-tape","version":1,"session_id":"x","class_versions":{},'
        b'"tapes":[{"session_id":"talk","position":6}]}\n',
        b'{"format":"tapefold-tape","version":1,"session_id":"talk","class_versions":{},'
        b'"tapes":[{"session_id":"talk","position":6},{"session_id":"talk","position":6}]}\n',
        b'{"format":"tapefold-tape","version":1,"session_id":"talk","class_versions":{},'
        b'"tapes":[{"session_id":"talk","position":true}]}\n',
        b'{"format":"tapefold-tape","vers\n',
        b"",
    ],
)
def test_a_damaged_or_missing_first_line_is_refused(sessions, other, talk, first):
    data = first + b"".join(lines_of(written(sessions, talk))[1:])
    with pytest.raises(NotASessionFile) as caught:
        take(other, data)
    assert (caught.value.reason, caught.value.line) == ("damaged_tape", 1)


# -- damage --------------------------------------------------------------------------------------


DAMAGES = {
    "not json": lambda lines: [*lines[:4], b"{rubbish\n", *lines[5:]],
    "cut in two": lambda lines: [*lines[:4], lines[4][:50] + b"\n", lines[4][50:], *lines[5:]],
    "lost": lambda lines: [*lines[:4], *lines[5:]],
    "doubled": lambda lines: [*lines[:4], lines[3], *lines[4:]],
    "swapped": lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
    "of another tape": lambda lines: [
        *lines[:4],
        lines[4].replace(b'"session_id":"talk"', b'"session_id":"walk"'),
        *lines[5:],
    ],
    "with a part too many": lambda lines: [*lines[:4], b'{"x":1,' + lines[4][1:], *lines[5:]],
    "without a body": lambda lines: [
        *lines[:4],
        lines[4].partition(b',"body"')[0] + b"}\n",
        *lines[5:],
    ],
    "with a wrong body": lambda lines: [
        *lines[:4],
        lines[4].replace(b'"content":[', b'"content":3,"x":['),
        *lines[5:],
    ],
    "of another kind": lambda lines: [
        *lines[:4],
        lines[4].replace(b'"kind":"message_finalized"', b'"kind":"labelled"'),
        *lines[5:],
    ],
    "nul bytes": lambda lines: [*lines[:4], b"\0" * 300 + b"\n", *lines[5:]],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_tape_is_never_imported_past_a_damaged_line(sessions, other, talk, damage):
    """What stands before the damage is a tape, as it was once; what stands after it is not."""
    data = b"".join(DAMAGES[damage](lines_of(written(sessions, talk))))
    report = take(other, data)
    (problem,) = report.problems
    assert (problem.line, problem.reason) == (5, "damaged_tape")
    assert "imported up to position 3 of 'talk'" in problem.detail
    assert report.kept == 3
    assert report.read == report.kept + report.already + report.skipped == len(lines_of(data)) - 1
    assert rows(other, talk) == rows(sessions, talk, 3)
    assert report.bytes_unread > 0
    assert take(other, written(sessions, talk)).kept == 3
    assert rows(other, talk) == rows(sessions, talk)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["cut", "flip", "join"]))
def test_a_file_that_is_cut_or_hit_anywhere_gives_a_beginning_of_the_tape_or_nothing(
    at, byte, damage
):
    with Sessions("memory:") as store, Sessions("memory:") as empty:
        session = store.start("talk")
        for n in range(4):
            session.finalize("user", f"words {n}")
        store.save(session)
        data = written(store, "talk")
        at %= len(data)
        after = {"cut": b"", "flip": bytes([byte]) + data[at + 1 :], "join": data[at + 1 :]}
        try:
            report = take(empty, data[:at] + after[damage])
        except ImportRefused:
            assert list(empty.recorder.streams()) == []
            return
        there = list(empty.recorder.streams())
        assert len(there) == 1
        ids = [row[0] for row in rows(empty, there[0].originator_id)]
        assert ids == list(range(1, report.kept + 1))
        list(empty.view(there[0].originator_id).messages)
        if damage == "cut" and there[0].last_version < 5:
            assert "incomplete_tape" in [problem.reason for problem in report.problems]


def test_a_file_that_was_cut_off_is_completed_by_the_whole_one(sessions, other, talk):
    data = written(sessions, talk)
    report = take(other, data[:-20])
    assert [(p.line, p.reason) for p in report.problems] == [
        (7, "torn_tail"),
        (None, "incomplete_tape"),
    ]
    assert (report.kept, report.skipped, report.bytes_torn > 0) == (5, 1, True)
    assert take(other, data).kept == 1


def test_a_file_that_ends_between_two_lines_is_noticed_too(sessions, other, talk):
    report = take(other, b"".join(lines_of(written(sessions, talk))[:-1]))
    (problem,) = report.problems
    assert (problem.line, problem.reason) == (None, "incomplete_tape")
    assert "5 of the 6 events" in problem.detail


def test_a_file_with_lines_too_many_is_noticed(sessions, other, talk):
    data = written(sessions, talk)
    report = take(other, data + lines_of(data)[-1])
    assert (report.kept, report.skipped) == (6, 1)
    assert report.problems[0].reason == "damaged_tape"


def test_a_fork_is_not_taken_where_its_parent_is_cut(sessions, other, talk):
    sessions.fork(talk, at=4, child_id="child")
    lines = lines_of(written(sessions, "child"))
    report = take(other, b"".join([*lines[:3], b"\0\n", *lines[4:]]))
    assert [info.session_id for info in other.sessions()] == [talk]
    assert (report.kept, report.session_id) == (2, None)


def test_a_fork_of_another_tape_than_the_one_before_it_is_not_taken(sessions, other, talk):
    sessions.fork(talk, at=4, child_id="child")
    lines = lines_of(written(sessions, "child"))
    lines[-1] = lines[-1].replace(
        b'"session_id":"talk","position":4', b'"session_id":"t","position":4'
    )
    report = take(other, b"".join(lines))
    assert [info.session_id for info in other.sessions()] == [talk]
    assert report.problems[0].line == len(lines)
