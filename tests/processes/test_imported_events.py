"""`Sessions.append`: an importer's events go to the tape as they are."""

from __future__ import annotations

import pytest

from tapefold import ConcurrencyConflict, SessionNotFound
from tapefold.domain.bodies import MessageBody
from tapefold.domain.content import TextBlock, plain_text
from tapefold.domain.drafts import Draft
from tapefold.domain.events import MessageFinalized, SessionStarted


def said(number, parent):
    return Draft.of(
        MessageFinalized,
        MessageBody(content=(TextBlock(text=f"Bird {number}"),)),
        entry_id=f"m{number}",
        parent_id=parent,
        takes_leaf=True,
        message_id=f"m{number}",
        role="user",
        status="sent",
    )


def chain(first, last):
    return [said(n, None if n == 1 else f"m{n - 1}") for n in range(first, last + 1)]


@pytest.fixture
def sessions(store_path, open_sessions):
    return open_sessions(store_path)


def test_events_are_appended_at_the_positions_that_follow(sessions):
    first = [Draft.of(SessionStarted), *chain(1, 30)]
    assert sessions.append("s", first, expected_position=0) == 31
    assert sessions.append("s", iter(chain(31, 33)), expected_position=31) == 34
    assert sessions.append("s", [], expected_position=34) == 34
    view = sessions.view("s")
    assert [plain_text(row.content) for row in view.messages] == [f"Bird {n}" for n in range(1, 34)]


def test_a_warm_session_goes_on_behind_what_was_appended(sessions):
    sessions.append("s", [Draft.of(SessionStarted), *chain(1, 2)], expected_position=0)
    sessions.execute("s", lambda s: s.finalize("user", "Which one?"))
    sessions.append("s", [said(3, "m2")], expected_position=4)
    outcome = sessions.execute("s", lambda s: s.finalize("user", "And now?"))
    assert outcome.position == 6
    assert plain_text(sessions.view("s").messages[-2].content) == "Bird 3"


@pytest.mark.parametrize("expected", [0, 1, 4, 9])
def test_another_position_than_the_last_is_a_conflict_and_nothing_is_written(sessions, expected):
    sessions.append("s", [Draft.of(SessionStarted), *chain(1, 2)], expected_position=0)
    with pytest.raises(ConcurrencyConflict) as caught:
        sessions.append("s", chain(3, 30), expected_position=expected)
    assert (caught.value.expected, caught.value.actual) == (expected, 3)
    assert [event.position for event in sessions.tape("s")] == [1, 2, 3]


def test_a_tape_that_is_not_there_cannot_be_gone_on_with(sessions):
    with pytest.raises(SessionNotFound):
        sessions.append("s", chain(1, 2), expected_position=1)
    assert list(sessions.sessions()) == []
