"""Threads that share one `Sessions`."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from tapefold import ConcurrencyConflict, Sessions, fold
from tapefold.domain.content import plain_text


def in_threads(*actions: Callable[[], None]) -> None:
    """Run actions at the same time; raise what one of them raised."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], None]) -> None:
        try:
            barrier.wait()
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error


def test_eight_threads_with_mixed_work_end_in_what_the_tape_says(store_path, open_sessions):
    """They execute, view, get and save, fork; two sessions, so that the cache is shared too."""
    sessions: Sessions = open_sessions(store_path, cache_entries=500)
    for name in ("s", "t"):
        sessions.start(name, persist=True)
        sessions.execute(name, lambda s: s.finalize("user", "the beginning"))
    children: list[str] = []
    saved: list[int] = []

    def work() -> None:
        mine = random.Random()
        for n in range(40):
            name = mine.choice("st")
            match mine.randrange(5):
                case 0 | 1:
                    sessions.execute(name, lambda s, n=n: s.finalize("user", f"message {n}"))
                case 2:
                    view = sessions.view(name)
                    assert view.position >= len(view.messages)
                case 3:
                    session = sessions.get(name)
                    session.finalize("user", f"saved {n}")
                    try:
                        sessions.save(session)
                        saved.append(1)
                    except ConcurrencyConflict:
                        saved.append(0)
                case 4:
                    child = sessions.fork(name)
                    child.finalize("user", "on a side way")
                    sessions.save(child)
                    children.append(child.id)

    in_threads(*[work] * 8)
    assert len(children) == len(set(children))
    assert sum(saved) > 0
    for name in ("s", "t"):
        tape = list(sessions.tape(name))
        assert [event.position for event in tape] == list(range(1, len(tape) + 1))
        assert sessions.state(name).describe() == fold(tape).describe()
        assert sessions.get(name).state.describe() == fold(tape).describe()
    for child in children:
        tape = list(sessions.tape(child))
        origin = tape[0].head.origin
        basis = sessions.state(origin.session_id, at=origin.position)
        assert sessions.state(child).describe() == fold(tape, basis).describe()


def test_a_private_instance_shares_nothing_with_the_other_ones(store_path, open_sessions):
    sessions: Sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    sessions.execute("s", lambda s: s.finalize("user", "one"))
    mine = sessions.get("s")
    mine.finalize("user", "two")
    assert mine.version == 3
    assert sessions.state("s").position == 2
    assert sessions.get("s").version == 2
    sessions.execute("s", lambda s: s.finalize("user", "another two"))
    assert [plain_text(m.content) for m in mine.view().messages] == ["one", "two"]


def test_a_command_that_raises_leaves_nothing_behind(store_path, open_sessions):
    sessions: Sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    sessions.execute("s", lambda s: s.finalize("user", "one"))

    def half(session) -> None:
        session.finalize("user", "two")
        session.fork()
        raise ZeroDivisionError

    try:
        sessions.execute("s", half)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("the command's own exception has to come out")
    assert sessions.state("s").position == 2
    assert [info.session_id for info in sessions.sessions()] == ["s"]
    assert sessions.execute("s", lambda s: s.finalize("user", "two")).position == 3


def test_a_command_may_look_at_another_session_that_somebody_waits_to_write(
    store_path, open_sessions
):
    """The command holds the store's write lock, the other thread the other session's: neither
    may wait for what the other one has."""
    sessions: Sessions = open_sessions(store_path, env={"SQLITE_LOCK_TIMEOUT": "20"})
    for name in ("s", "t"):
        sessions.start(name, persist=True)
        sessions.execute(name, lambda s: s.finalize("user", "one"))
    inside = threading.Event()
    positions = []

    def look() -> None:
        def command(session) -> None:
            inside.set()
            while not waits.is_set():
                waits.wait(0.01)
            threading.Event().wait(0.05)
            positions.append(sessions.state("t").position)
            positions.append(sessions.get("t").version)
            session.finalize("user", "two")

        sessions.execute("s", command)

    waits = threading.Event()

    def write() -> None:
        inside.wait()
        waits.set()
        sessions.execute("t", lambda s: s.finalize("user", "two"))

    in_threads(look, write)
    assert positions == [2, 2]
    assert sessions.state("s").position == 3
    assert sessions.state("t").position == 3
