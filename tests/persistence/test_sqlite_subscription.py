"""Following the log (E1): in order, nothing lost, nothing twice, and it stops when told."""

from __future__ import annotations

import queue
import threading

from tapefold.persistence.errors import StoreClosed
from tapefold.persistence.sqlite_recorder import TapeRecorder


def collect(subscription, count: int) -> list[int]:
    ids = []
    stop = threading.Timer(30, subscription.stop)  # a lost event must not hang the test
    stop.start()
    for notification in subscription:
        ids.append(notification.id)
        if len(ids) == count:
            break
    stop.cancel()
    return ids


def test_what_was_recorded_comes_first_then_what_is_recorded_later(recorder, event):
    recorder.insert_events([event("s", n) for n in range(1, 4)])
    with recorder.subscribe() as subscription:
        assert collect(subscription, 3) == [1, 2, 3]
        recorder.insert_events([event("s", 4)])
        assert collect(subscription, 1) == [4]


def test_it_begins_after_the_given_id(recorder, event):
    recorder.insert_events([event("s", n) for n in range(1, 6)])
    with recorder.subscribe(gt=3) as subscription:
        assert collect(subscription, 2) == [4, 5]


def test_a_long_log_is_read_in_batches_that_meet_without_gap(recorder, event):
    recorder.insert_events([event("s", n) for n in range(1, 1601)])
    with recorder.subscribe() as subscription:
        assert collect(subscription, 1600) == list(range(1, 1601))


def test_threads_that_append_at_once_are_followed_in_order(recorder, event):
    def append(stream: str) -> None:
        for n in range(1, 101):
            recorder.insert_events([event(stream, n)])

    writers = [threading.Thread(target=append, args=(f"s{i}",)) for i in range(4)]
    with recorder.subscribe() as subscription:
        for writer in writers:
            writer.start()
        assert collect(subscription, 400) == list(range(1, 401))
        for writer in writers:
            writer.join()


def test_another_process_is_followed(open_store, store_path, run_python, finish):
    store = open_store(store_path)
    with store.subscribe() as subscription:
        writer = run_python(
            """
            store = open_store(sys.argv[1])
            for n in range(1, 51):
                store.insert_events([event("s", n)])
            """,
            store_path,
        )
        assert collect(subscription, 50) == list(range(1, 51))
        finish(writer)


def test_what_was_rolled_back_is_never_seen(recorder, event):
    with recorder.subscribe() as subscription:
        try:
            with recorder.writing() as transaction:
                transaction.insert_events([event("s", 1, b"undone")])
                raise RuntimeError
        except RuntimeError:
            pass
        recorder.insert_events([event("s", 1, b"kept")])
        assert next(subscription).state == b"kept"


def test_only_wanted_topics_come(recorder, event):
    topics = ["other"] * 1200
    topics[399] = topics[799] = topics[1199] = "wanted"
    recorder.insert_events([event("s", n, topic=topic) for n, topic in enumerate(topics, 1)])
    with recorder.subscribe(topics=["wanted", "also"]) as subscription:
        assert collect(subscription, 3) == [400, 800, 1200]
        recorder.insert_events([event("s", 1201), event("s", 1202, topic="also")])
        assert collect(subscription, 1) == [1202]


class WatchedRecorder(TapeRecorder):
    """Notes from where notifications are asked for."""

    def __init__(self, datastore):
        super().__init__(datastore)
        self.asked: queue.Queue[int] = queue.Queue()

    def select_notifications(self, start, *args, **kwargs):
        found = super().select_notifications(start, *args, **kwargs)
        self.asked.put(start)
        return found


def test_unwanted_events_are_passed_over_once(recorder, event):
    """E6. With a filter the position must move on, or each look reads all of them again."""
    watched = WatchedRecorder(recorder.datastore)
    found: list[int] = []
    watched.insert_events([event("s", n) for n in range(1, 21)])
    with watched.subscribe(topics=["wanted"]) as subscription:
        thread = threading.Thread(target=lambda: found.append(next(subscription).id))
        thread.start()
        assert watched.asked.get(timeout=30) == 0
        watched.insert_events([event("s", 21)])
        assert watched.asked.get(timeout=30) == 20
        watched.insert_events([event("s", 22, topic="wanted")])
        assert watched.asked.get(timeout=30) == 21
        thread.join(30)
    assert found == [22]


def test_stop_ends_an_iteration_that_waits(recorder):
    subscription = recorder.subscribe()
    ended = threading.Event()

    def follow() -> None:
        assert list(subscription) == []
        ended.set()

    thread = threading.Thread(target=follow)
    thread.start()
    subscription.stop()
    assert ended.wait(30)
    thread.join()


def test_stop_drops_what_was_read_ahead(recorder, event):
    recorder.insert_events([event("s", n) for n in range(1, 11)])
    with recorder.subscribe() as subscription:
        assert next(subscription).id == 1
        subscription.stop()
        assert list(subscription) == []


def test_a_store_that_is_closed_ends_the_iteration_with_an_error(recorder):
    subscription = recorder.subscribe()
    errors: list[BaseException] = []

    def follow() -> None:
        try:
            next(subscription)
        except StoreClosed as error:
            errors.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    recorder.datastore.close()
    thread.join(30)
    assert len(errors) == 1


def test_a_subscription_that_nobody_stops_keeps_no_process_alive(store_path, run_python, finish):
    """E10. The library's subscription has a thread that is no daemon."""
    script = """
        store = open_store(sys.argv[1])
        store.insert_events([event("s", 1)])
        subscription = store.subscribe()
        print(next(subscription).id)
        """
    assert finish(run_python(script, store_path)) == "1\n"
