"""The lock that is handed on in the order of asking."""

from __future__ import annotations

import threading

from tapefold.persistence.turn import Turn


def wait_until_queued(turn: Turn, count: int) -> None:
    while len(turn._waiters) < count:
        threading.Event().wait(0.001)


def test_threads_get_the_turn_in_the_order_in_which_they_asked():
    turn = Turn()
    assert turn.acquire(1.0)
    order: list[int] = []

    def take(number: int) -> None:
        assert turn.acquire(30.0)
        order.append(number)
        turn.release()

    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=take, args=(number,)))
        threads[-1].start()
        wait_until_queued(turn, number + 1)
    turn.release()
    # Asking again at once must not overtake those who wait.
    assert turn.acquire(30.0)
    order.append(99)
    turn.release()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, 5, 99]


def test_who_gives_up_leaves_the_queue():
    turn = Turn()
    assert turn.acquire(1.0)
    outcome: list[bool] = []
    impatient = threading.Thread(target=lambda: outcome.append(turn.acquire(0.01)))
    impatient.start()
    impatient.join()
    assert outcome == [False]
    turn.release()
    assert turn.acquire(0.0), "the turn was handed to a thread that had given up"


def test_a_turn_belongs_to_the_thread_that_took_it():
    turn = Turn()
    assert not turn.is_mine()
    assert turn.acquire(1.0)
    assert turn.is_mine()
    seen: list[bool] = []
    other = threading.Thread(target=lambda: seen.append(turn.is_mine()))
    other.start()
    other.join()
    assert seen == [False]
    turn.release()
    assert not turn.is_mine()
