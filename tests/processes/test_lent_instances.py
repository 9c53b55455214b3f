"""`execute` lends a shared instance to a command. What happens to who keeps it, or nests."""

from __future__ import annotations

import pytest

from tapefold import ConcurrencyConflict, Sessions, SpentInstance, TapefoldError


@pytest.fixture
def sessions(store_path, open_sessions) -> Sessions:
    opened: Sessions = open_sessions(store_path)
    for name in ("s", "t"):
        opened.start(name, persist=True)
        opened.execute(name, lambda s: s.finalize("user", "one"))
    return opened


def test_who_keeps_the_instance_of_a_command_cannot_decide_on_it(sessions):
    """It is the cached one: what he adds would go into the next command of somebody else."""
    kept = sessions.execute("s", lambda s: s)
    with pytest.raises(SpentInstance, match=r"'s'.*command.*load"):
        kept.finalize("user", "two")
    with pytest.raises(SpentInstance):
        sessions.save(kept)
    assert sessions.execute("s", lambda s: s.finalize("user", "two")).position == 3
    with pytest.raises(SpentInstance):
        kept.finalize("user", "three")
    assert [m.content[0].text for m in sessions.view("s").messages] == ["one", "two"]


def test_a_child_that_a_command_forked_is_lent_as_well(sessions):
    child = sessions.execute("s", lambda s: s.fork(fork_id="side")[0])
    with pytest.raises(SpentInstance):
        child.finalize("user", "two")
    assert sessions.execute(child.id, lambda s: s.finalize("user", "two")).position == 2


def test_who_keeps_the_instance_of_a_command_that_failed_cannot_decide_on_it(sessions):
    kept = []

    def fail(session) -> None:
        kept.append(session)
        session.finalize("user", "two")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sessions.execute("s", fail)
    with pytest.raises(SpentInstance):
        kept[0].finalize("user", "three")
    assert sessions.execute("s", lambda s: s.finalize("user", "two")).position == 3


@pytest.mark.parametrize("name", ["s", "t"])
def test_a_command_that_executes_another_one_is_told_so_and_may_go_on(sessions, name):
    """It would wait for itself for ever."""

    def nest(session) -> None:
        with pytest.raises(TapefoldError, match="writing already"):
            sessions.execute(name, lambda s: s.finalize("user", "inner"))
        session.finalize("user", "outer")

    sessions.execute("s", nest)
    assert [m.content[0].text for m in sessions.view("s").messages] == ["one", "outer"]
    assert sessions.execute(name, lambda s: s.finalize("user", "on")).changed


def test_a_command_sees_of_its_own_session_what_the_tape_has(sessions):
    """The instance that it was lent shows more: what it has decided so far."""
    seen = []

    def look(session) -> None:
        seen.append(sessions.state("s").position)
        session.finalize("user", "two")
        seen.append(sessions.state("s").position)
        seen.append(sessions.get("s").version)
        seen.append(session.version)

    sessions.execute("s", look)
    assert seen == [2, 2, 2, 3]
    assert sessions.state("s").position == 3


def test_a_position_that_was_not_expected_changes_nothing(sessions):
    def never(session) -> None:
        raise AssertionError("the command must not run")

    for _ in range(3):
        with pytest.raises(ConcurrencyConflict):
            sessions.execute("s", never, expected_position=7)
    answer = sessions.execute("s", lambda s: s.finalize("assistant", "two"), expected_position=2)
    assert answer.position == 3
