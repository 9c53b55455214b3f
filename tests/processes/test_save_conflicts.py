"""`save` of a private instance: who comes second is told so, and nothing of his is written."""

from __future__ import annotations

from typing import ClassVar

import pytest
from eventsourcing.application import Application
from eventsourcing.persistence import IntegrityError

from tapefold import ConcurrencyConflict, SpentInstance, TapefoldError, load_session
from tapefold.persistence.errors import PositionSkipped, PositionTaken


@pytest.fixture
def race(start_process, finish):
    """Let processes run a script up to its `wait()`, then all at once to its end; repeatedly."""

    def run(script: str, rounds: int, *arguments: object) -> list[list[list[str]]]:
        preamble = "def wait():\n    say('ready')\n    assert sys.stdin.readline()\n"
        processes = [start_process(preamble + script, *arguments, who) for who in range(3)]
        answers = []
        for _ in range(rounds):
            for process in processes:
                assert process.stdout.readline() == "ready\n"
            for process in processes:
                process.stdin.write("go\n")
                process.stdin.flush()
            answers.append(sorted(p.stdout.readline().split() for p in processes))
        for process in processes:
            assert finish(process) == []
        return answers

    return run


def test_of_three_processes_that_save_the_same_position_one_wins(store_path, open_sessions, race):
    script = """
with Sessions(sys.argv[1]) as sessions:
    for n in range(20):
        session = sessions.get("s")
        session.finalize("user", f"{sys.argv[2]}:{n} one")
        session.finalize("user", f"{sys.argv[2]}:{n} two")
        wait()
        try:
            sessions.save(session)
            say("saved", session.version)
        except ConcurrencyConflict as conflict:
            say("conflict", conflict.session_id, conflict.expected, conflict.actual)
"""
    sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    for n, answers in enumerate(race(script, 20, store_path)):
        before = 1 + 2 * n
        conflict = ["conflict", "s", f"{before}", f"{before + 2}"]
        assert answers == [conflict, conflict, ["saved", f"{before + 2}"]]
    texts = [e.body.content[0].text for e in sessions.tape("s", gt=1)]
    assert len(texts) == 40
    for one, two in zip(texts[::2], texts[1::2], strict=True):
        assert one.removesuffix("one") == two.removesuffix("two"), "of one writer"


def test_of_three_processes_that_start_the_same_session_one_wins(store_path, open_sessions, race):
    """The first event of a stream conflicts as any other does."""
    script = """
with Sessions(sys.argv[1]) as sessions:
    for n in range(20):
        session = sessions.start(f"s{n}")
        session.finalize("user", sys.argv[2])
        wait()
        try:
            sessions.save(session)
            say("saved", session.version)
        except ConcurrencyConflict as conflict:
            say("conflict", conflict.session_id, conflict.expected, conflict.actual)
"""
    sessions = open_sessions(store_path)
    for n, answers in enumerate(race(script, 20, store_path)):
        conflict = ["conflict", f"s{n}", "0", "2"]
        assert answers == [conflict, conflict, ["saved", "2"]]
        assert [e.position for e in sessions.tape(f"s{n}")] == [1, 2]


def test_of_three_processes_that_begin_the_same_import_one_wins(store_path, open_sessions, race):
    script = """
from tapefold.domain.drafts import Draft
from tapefold.domain.events import SessionStarted
with Sessions(sys.argv[1]) as sessions:
    for n in range(5):
        wait()
        try:
            drafts = [Draft.of(SessionStarted)]
            say("appended", sessions.append(f"s{n}", drafts, expected_position=0))
        except ConcurrencyConflict as conflict:
            say("conflict", conflict.expected, conflict.actual)
"""
    for answers in race(script, 5, store_path):
        assert answers == [["appended", "1"], ["conflict", "0", "1"], ["conflict", "0", "1"]]


@pytest.fixture
def two_copies(store_path, open_sessions):
    sessions = open_sessions(store_path)
    session = sessions.start("s")
    session.finalize("user", "Which tree is that?")
    sessions.save(session)
    return sessions, sessions.get("s"), sessions.get("s")


def test_an_instance_is_spent_after_its_save_failed(two_copies):
    """Its state is ahead of the tape: what it decides next would be about events that are not."""
    sessions, first, second = two_copies
    first.finalize("assistant", "An alder.")
    sessions.save(first)
    second.finalize("assistant", "An elm.")
    with pytest.raises(ConcurrencyConflict) as caught:
        sessions.save(second)
    assert (caught.value.session_id, caught.value.expected, caught.value.actual) == ("s", 2, 3)
    with pytest.raises(SpentInstance):
        second.finalize("user", "Are you sure?")
    with pytest.raises(SpentInstance):
        sessions.save(second)
    again = sessions.get("s")
    again.finalize("user", "Are you sure?")
    sessions.save(again)
    texts = [m.content[0].text for m in sessions.view("s").messages]
    assert texts == ["Which tree is that?", "An alder.", "Are you sure?"]


def test_one_conflict_keeps_back_all_that_is_saved_with_it(two_copies):
    sessions, first, second = two_copies
    first.finalize("assistant", "An alder.")
    sessions.save(first)
    other = sessions.start("other")
    other.finalize("user", "Is anybody there?")
    second.finalize("assistant", "An elm.")
    with pytest.raises(ConcurrencyConflict) as caught:
        sessions.save(other, second)
    assert caught.value.session_id == "s"
    assert [info.session_id for info in sessions.sessions()] == ["s"]
    with pytest.raises(SpentInstance):
        other.finalize("user", "Hello?")


def test_a_conflict_of_save_leaves_execute_unharmed(two_copies):
    sessions, first, second = two_copies
    sessions.execute("s", lambda s: s.finalize("user", "warm now"))
    first.finalize("assistant", "An alder.")
    with pytest.raises(ConcurrencyConflict):
        sessions.save(first)
    assert sessions.execute("s", lambda s: s.finalize("user", "on we go")).position == 4
    assert second.version == 2


class Host(Application):
    """An application of somebody else's, which knows nothing of spent instances."""

    env: ClassVar = {
        "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
        "ORIGINATOR_ID_TYPE": "text",
    }


@pytest.fixture
def lost(two_copies, store_path):
    """A host's instance that has lost an event in a save that failed: (the host, the instance)."""
    sessions, first, _ = two_copies
    host = Host(env={"SQLITE_DBNAME": str(store_path)})
    theirs = load_session(host.repository, "s")
    first.finalize("assistant", "An alder.")
    sessions.save(first)
    theirs.finalize("assistant", "An elm.")
    yield sessions, host, theirs
    host.close()


def test_an_instance_whose_save_failed_in_a_foreign_application_cannot_leave_a_gap(lost):
    """The library takes the events out before it saves them. They are gone when that fails, and
    what the instance decides next would stand behind a hole in the tape."""
    sessions, host, theirs = lost
    theirs.finalize("user", "Or a beech?")
    with pytest.raises(IntegrityError):
        host.save(theirs)
    theirs.tapes = None  # as an instance has none that the host's repository made
    theirs.finalize("user", "Are you sure?")
    with pytest.raises(PositionSkipped, match=r"'s'.*no position 4.*position 5.*load") as caught:
        host.save(theirs)
    assert isinstance(caught.value, IntegrityError)
    assert isinstance(caught.value, TapefoldError)
    theirs.finalize("user", "Really?")
    with pytest.raises(PositionSkipped):
        host.save(theirs)
    assert [e.position for e in sessions.tape("s")] == [1, 2, 3]


def test_an_instance_whose_lost_events_are_as_many_as_others_appended_is_spent(lost):
    """There is no hole then, but what it decides hangs under an entry that was never saved."""
    sessions, host, theirs = lost
    with pytest.raises(IntegrityError):
        host.save(theirs)
    with pytest.raises(SpentInstance):
        theirs.finalize("user", "Are you sure?")
    with pytest.raises(SpentInstance):
        host.save(theirs)
    assert [e.position for e in sessions.tape("s")] == [1, 2, 3]


def test_an_instance_that_a_foreign_application_saves_goes_on(two_copies, store_path):
    sessions, _, _ = two_copies
    host = Host(env={"SQLITE_DBNAME": str(store_path)})
    theirs = load_session(host.repository, "s")
    for n in range(3):
        theirs.finalize("user", f"{n}?")
        host.save(theirs)
    assert [e.position for e in sessions.tape("s")] == [1, 2, 3, 4, 5]
    host.close()


def test_events_of_one_session_in_one_save_follow_each_other(two_copies):
    """Also where the host builds the batch by hand, or the mapper is somebody else's."""
    sessions, first, _ = two_copies
    first.finalize("assistant", "An alder.")
    first.finalize("user", "Are you sure?")
    stored = [sessions.mapper.to_stored_event(event) for event in first.collect_events()]
    with pytest.raises(PositionSkipped):
        sessions.recorder.insert_events(stored[::-1])
    with pytest.raises(PositionSkipped):
        sessions.recorder.insert_events(stored[1:])
    assert sessions.recorder.insert_events(stored)
    with pytest.raises(PositionTaken):
        sessions.recorder.insert_events(stored)
