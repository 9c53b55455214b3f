"""Following a log by asking for news: in order, nothing lost, nothing twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from eventsourcing.persistence import ApplicationRecorder, Notification, Subscription

from tapefold.persistence.commit_signal import CommitSignal

# Seconds between two looks for what other processes wrote. Commits of this process wake at once.
POLL_INTERVAL = 0.05
BATCH = 500


class HasCommits(Protocol):
    """What owns the signal; after a fork it has another one."""

    commits: CommitSignal


class PollingSubscription(Subscription[ApplicationRecorder]):
    """Yields notifications after an id, in order of ids, and waits at the end for more.

    It has no thread and no connection of its own: the thread that iterates does the reading, so a
    subscription that nobody stops keeps no process alive, and one that stood still for days goes
    on. `stop()` may come from any thread and ends the iteration at once.

    It relies on ids that rise in the order of commits, and on commits that cannot be undone.
    """

    def __init__(
        self,
        recorder: ApplicationRecorder,
        gt: int | None = None,
        topics: Sequence[str] = (),
        *,
        pool: HasCommits,
    ) -> None:
        super().__init__(recorder=recorder, gt=gt, topics=tuple(topics))
        self._pool = pool
        self._position = gt or 0
        self._ready: deque[Notification] = deque()

    def stop(self) -> None:
        """End the iteration, also one that is waiting; what was read ahead is dropped."""
        super().stop()
        self._pool.commits.wake()

    def __next__(self) -> Notification:
        """Return the next notification; wait until there is one. Raises typed store errors."""
        while not self._has_been_stopped:
            if self._ready:
                found = self._ready.popleft()
                self._last_notification_id = found.id
                return found
            signal = self._pool.commits
            seen = signal.count  # before looking, so that a commit meanwhile ends the wait
            if not self._read() and not self._has_been_stopped:
                signal.wait(seen, POLL_INTERVAL)
        raise StopIteration

    def _read(self) -> bool:
        """Fetch the next batch; tell whether there was anything new, wanted or not."""
        newest = self._recorder.max_notification_id()
        if newest is None or newest <= self._position:
            return False
        found = self._recorder.select_notifications(
            start=self._position,
            limit=BATCH,
            stop=newest,
            topics=self._topics,
            inclusive_of_start=False,
        )
        # With topics, most of a log may be of no interest: it is passed over once, not each time.
        self._position = found[-1].id if len(found) == BATCH else newest
        self._ready.extend(found)
        return True
