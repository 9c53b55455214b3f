"""A full disk, rights, and who waits for them to pass: nobody hangs, and others can see it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread, Timer

import pytest

from tapefold.projections import backing_off, beside
from tapefold.projections.applying import Applier
from tapefold.projections.backing_off import SIZE, FaultNote
from tapefold.projections.errors import BuildNotWritable, ProjectionError
from tapefold.projections.following import catch_up
from tapefold.projections.registry import Registry
from tapefold.projections.removing import drop
from tapefold.projections.running_lock import RunningLock
from tapefold.projections.status import status_of

from .machinery import Shop

resource = pytest.importorskip("resource")


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """What a full disk does to SQLite: its files are there, and cannot grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def eventually(condition, seconds=20.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.01)


@contextmanager
def running(path, said, **how):
    """A runner in a thread of its own; what it raises is in `said`, too."""
    own = Shop(path)
    runner = own.runner(say=said.append)

    def work():
        try:
            runner.run(**how)
        except ProjectionError as error:
            said.append(error)

    thread = Thread(target=work)
    thread.start()
    try:
        yield thread
    finally:
        runner.stop()
        thread.join(20)
        own.close()


def test_a_build_is_dropped_where_no_space_is_left_for_the_index_of_a_log(shop):
    shop.run()
    shop.rebuild()
    shop.rebuild()
    with closing(Registry(shop.path)) as registry, no_file_grows_beyond(24 << 10):
        assert drop(registry, "counting", wait=0.2) == [1, 2]
    assert {path.name.split(".")[1] for path in shop.registry.folder.glob("counting.*")} == {"3"}
    assert len(shop.rows()["c_events"]) == 4


def test_a_runner_that_waits_for_space_is_seen_with_its_reason_and_goes_on(shop):
    shop.run()
    last = shop.say("a", "more")
    said: list[object] = []
    with (
        shop.read_model().reading(),  # so that the files in which SQLite shares memory are there
        no_file_grows_beyond(SIZE),
        running(shop.path, said),
    ):
        eventually(lambda: status_of(shop.projection, shop.log, shop.path).fault)
        status = status_of(shop.projection, shop.log, shop.path)
        assert status.is_running
        assert [one.code for one in status.problems] == ["waiting"]
        assert "cannot be used" in status.problems[0].text
        assert f"process {status.pid} waits, and tries again: " in status.problems[0].text
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        eventually(lambda: shop.read_model().has_passed(last))
        eventually(lambda: status_of(shop.projection, shop.log, shop.path).is_healthy)
    assert "projection counting: projection" not in str(said[-1])


def test_a_run_to_the_end_gives_up_what_does_not_pass(shop, monkeypatch):
    monkeypatch.setattr(backing_off, "PATIENCE", 0.3)
    shop.registry.folder.write_text("in the way")
    runner = shop.runner()
    with pytest.raises(BuildNotWritable, match="cannot be used"):
        runner.run(until_caught_up=True)
    assert isinstance(runner.fault, BuildNotWritable)
    assert len(shop.said) >= 2
    assert all(line.count("projection counting") == 1 for line in shop.said)


def test_a_run_to_the_end_ends_when_the_live_runner_has_passed_it(shop):
    said: list[object] = []
    with running(shop.path, said):
        eventually(lambda: shop.registry.find_live("counting") is not None)
        runner = shop.runner()
        last = shop.say("a", "more")
        in_vain = Timer(20, runner.stop)
        in_vain.start()
        runner.run(until_caught_up=True)
        assert in_vain.is_alive()
        in_vain.cancel()
        assert shop.read_model().has_passed(last)


def test_it_does_not_end_before_that(shop):
    shop.run()
    shop.say("a", "more")
    file = shop.live_file()
    lock = RunningLock("counting", file)
    assert lock.acquire(wait=False)
    said: list[object] = []
    with running(shop.path, said, until_caught_up=True) as thread:
        eventually(lambda: said)
        assert "waiting until it has caught up" in str(said[0])
        assert thread.is_alive()
        with closing(shop.live_build()) as build:
            catch_up(Applier(build, shop.log))
        thread.join(20)
        assert not thread.is_alive()
    lock.release()


def test_it_ends_with_the_reason_where_the_live_runner_cannot_go_on(shop, monkeypatch):
    monkeypatch.setattr(beside, "PATIENCE", 0.1)
    shop.run()
    shop.say("a", "more")
    file = shop.live_file()
    lock = RunningLock("counting", file)
    assert lock.acquire(wait=False)
    FaultNote(file).write("the disk is full")
    with pytest.raises(ProjectionError, match=r"process \d+ runs it, and cannot go on: the disk"):
        shop.run()
    lock.release()


def test_a_note_is_read_whatever_stands_in_it(tmp_path):
    note = FaultNote(tmp_path / "x.db")
    assert note.read() is None
    note.write("\N{GRINNING FACE}" * 5_000)
    assert note.read().reason.startswith("\N{GRINNING FACE}" * 300)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size == SIZE
    note.blank()
    assert note.read() is None
    for broken in (b'{"pid": 1', b"[]", b"\xff", b'{"pid": "x", "reason": 1}', b"null"):
        file.write_bytes(broken)
        assert note.read() is None
    file.unlink()
    with no_file_grows_beyond(0), suppress(OSError):
        note.write("no space for the reason")
    assert note.read() == (None, "the disk is full")


def test_who_waits_beside_a_runner_that_gives_no_sign_of_life_is_told_so(shop, monkeypatch):
    monkeypatch.setattr(beside, "PATIENCE", 0.1)
    shop.run()
    shop.say("a", "never read")
    with closing(shop.live_build()) as build, build.writing():
        build.begin_beating(time.time() - beside.SILENCE - 5)
    lock = RunningLock("counting", shop.live_file())
    assert lock.acquire(wait=False)
    try:
        with pytest.raises(ProjectionError, match="no sign of life for "):
            shop.run()
    finally:
        lock.release()
