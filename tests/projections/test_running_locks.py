"""The lock of who runs a build keeps others out, whatever becomes of its file."""

from __future__ import annotations

from itertools import count

import pytest

from tapefold.projections.errors import AlreadyRunning
from tapefold.projections.running_lock import RunningLock


def lock_file(path):
    return path.with_name(path.name + ".lock")


def test_who_waited_for_a_file_that_was_removed_does_not_run_beside_the_next(tmp_path):
    # The second got the lock of a file that was there no more, and ran what a third ran.
    path = tmp_path / "counting.1.db"
    first, second, third = (RunningLock("counting", path) for _ in range(3))
    assert first.acquire(wait=False)
    looks = count(1)

    def stopped() -> bool:
        look = next(looks)
        if look == 1:
            lock_file(path).unlink()
            assert third.acquire(wait=False)
            first.release()
        return look >= 5

    assert not second.acquire(wait=True, stopped=stopped)
    third.release()
    assert second.acquire(wait=False)
    with pytest.raises(AlreadyRunning):
        first.acquire(wait=False)
    second.release()


def test_who_waits_gets_the_file_that_is_there_now(tmp_path):
    path = tmp_path / "counting.1.db"
    first, second = RunningLock("counting", path), RunningLock("counting", path)
    assert first.acquire(wait=False)

    def stopped() -> bool:
        lock_file(path).unlink(missing_ok=True)
        return False

    assert second.acquire(wait=True, stopped=stopped) is True
    assert second.is_at_its_path()
    assert not first.is_at_its_path()
    first.release()
    assert RunningLock("counting", path).is_taken()
    second.release()
    assert not second.is_at_its_path()
