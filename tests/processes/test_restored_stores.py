"""A store that was restored in place under a program that goes on: nothing old is said or built on.

In place, as SQLite's own backup does it: the file stays the same one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tapefold import Sessions
from tapefold.domain.errors import SessionNotFound


@pytest.fixture
def living(tmp_path):
    """A program with a store, and what restores it to how it is now."""
    store, backup = tmp_path / "sessions.db", tmp_path / "backup.db"

    def copy(source, target):
        with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
            one.backup(other)

    with Sessions(store) as sessions:
        session = sessions.start("a", title="A")
        session.finalize("user", "hello", entry_id="e1")
        sessions.save(session)
        copy(store, backup)
        yield sessions, lambda: copy(backup, store)


def say(sessions, session_id, text, **how):
    return sessions.execute(session_id, lambda s: s.finalize("user", text, **how))


def said(sessions, session_id="a", **how):
    return [m.body.content[0].text for m in sessions.view(session_id, **how).messages]


def test_a_session_that_was_warm_is_what_the_restored_store_says(living):
    sessions, restore = living
    say(sessions, "a", "old")
    restore()
    assert said(sessions) == ["hello"]
    say(sessions, "a", "new")
    assert said(sessions) == ["hello", "new"]


@pytest.mark.parametrize("more", [1, 2])
def test_a_session_that_has_grown_on_to_the_same_length_is_not_taken_for_the_old_one(living, more):
    # Its view mixed the two, and commands were decided on what is no more.
    sessions, restore = living
    say(sessions, "a", "old", entry_id="e2")
    restore()
    with Sessions(sessions.database) as other:
        for number in range(more):
            say(other, "a", f"new {number}", entry_id=f"n{number}")
    assert sessions.execute("a", lambda s: s.state.entries.get("e2")) is None
    expected = ["hello", *(f"new {number}" for number in range(more))]
    assert said(sessions) == expected
    say(sessions, "a", "and on")
    with Sessions(sessions.database) as fresh:
        assert said(sessions) == said(fresh) == [*expected, "and on"]


def test_a_command_after_a_restore_is_decided_on_what_is_there(living):
    sessions, restore = living
    say(sessions, "a", "old")
    restore()
    assert say(sessions, "a", "new").position == 3
    with Sessions(sessions.database) as fresh:
        assert said(fresh) == ["hello", "new"]


def test_a_session_that_began_after_the_backup_is_not_there(living):
    sessions, restore = living
    sessions.start("lost", persist=True)
    say(sessions, "lost", "old")
    restore()
    with pytest.raises(SessionNotFound):
        sessions.view("lost")
    with pytest.raises(SessionNotFound):
        say(sessions, "lost", "new")


def test_a_fork_inherits_what_the_restored_parent_says(living):
    sessions, restore = living
    say(sessions, "a", "old", entry_id="e2")
    sessions.fork("a", child_id="f")
    assert said(sessions, "f") == ["hello", "old"]
    position = sessions.state("a").position
    restore()
    with Sessions(sessions.database) as other:
        say(other, "a", "new", entry_id="e2")
        other.execute("a", lambda s: s.retract("e1"))
        other.fork("a", child_id="f")
    assert said(sessions, "f") == ["new"]
    assert said(sessions, at=position) == said(sessions)
    assert said(sessions, "f", at=1) == ["new"]
    child = sessions.fork("a", at=position, child_id="g")
    assert child.state.offset == position
    assert said(sessions, "g") == ["new"]


def test_an_attempt_that_changed_nothing_leaves_the_session_warm_and_right(living):
    sessions, restore = living
    say(sessions, "a", "old")
    sessions.execute("a", lambda s: None)
    restore()
    sessions.execute("a", lambda s: None)
    assert said(sessions) == ["hello"]
