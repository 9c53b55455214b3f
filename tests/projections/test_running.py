"""A runner builds, follows, is taken over, and notices when something was changed under it."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time

import pytest
from eventsourcing.persistence import StoredEvent

from tapefold.persistence.errors import StoreMissing
from tapefold.projections.database import Build
from tapefold.projections.errors import (
    AlreadyRunning,
    BuildDamaged,
    BuildNotWritable,
    DeclarationMismatch,
    LogChanged,
    ProjectionMissing,
)
from tapefold.projections.running_lock import RunningLock

from .machinery import Counting, CountingNext, Shop

SLOW = pytest.mark.slow


class Background:
    """A runner in a thread; what it raises comes out of `end`."""

    def __init__(self, runner) -> None:
        self.runner = runner
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.runner.run()
        except Exception as error:
            self.error = error

    def end(self) -> None:
        self.runner.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error


@pytest.fixture
def in_background(shop):
    """Starts a runner on a connection of its own; what it says is in `shop.said`."""
    started: list[tuple[Background, Shop]] = []

    def start() -> Background:
        own = Shop(shop.path)
        started.append((Background(own.runner(say=shop.said.append)), own))
        return started[-1][0]

    yield start
    for one, own in started:
        one.runner.stop()
        one.thread.join(20)
        own.close()


def eventually(condition, seconds=20.0):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.01)


def test_the_first_run_builds_and_the_next_goes_on_from_there(shop):
    shop.run()
    assert [row[:2] for row in shop.rows()["c_events"]] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    shop.say("a", "more")
    shop.run()
    assert [row[:2] for row in shop.rows()["c_events"] if row[0] == "a"][-1] == ("a", 3)
    assert shop.live_file().name == "counting.1.db"


@pytest.mark.parametrize("page", [1, pytest.param(2, marks=SLOW), pytest.param(7, marks=SLOW)])
def test_pages_of_any_size_give_the_same_rows(shop, page):
    shop.run(page=page)
    for n in range(9):
        shop.say("ab"[n % 2], f"text {n}")
    shop.run(page=page)
    paged = shop.rows()
    shutil.rmtree(shop.registry.folder)
    shop.run()
    assert shop.rows() == paged


def test_everything_but_the_tape_can_be_deleted_and_comes_back(shop):
    shop.run()
    before = shop.rows()
    shutil.rmtree(shop.registry.folder)
    shop.run()
    assert shop.rows() == before


def test_a_build_whose_file_was_removed_is_made_anew_in_its_place(shop):
    shop.run()
    before, path = shop.rows(), shop.live_file()
    path.unlink()
    shop.run()
    assert shop.live_file() == path
    assert shop.rows() == before


def test_a_registry_that_was_removed_never_gives_a_number_twice(shop):
    """What stands in a file that nobody knows may be a build that was found wrong."""
    shop.run()
    shop.change_rows("UPDATE c_events SET body = 'wrong'")
    shop.registry.path.unlink()
    shop.run()
    assert shop.live_file().name == "counting.2.db"
    assert "wrong" not in {row[2] for row in shop.rows()["c_events"]}


def test_a_runner_whose_files_are_removed_under_it_begins_anew(shop, in_background):
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    shutil.rmtree(shop.registry.folder)
    shop.say("a", "after")
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    running.end()
    assert len(shop.rows()["c_events"]) == 5


def test_a_runner_whose_lock_was_removed_locks_the_one_that_is_there_now(shop, in_background):
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    file = shop.live_file()
    file.with_name(f"{file.name}.lock").unlink()
    eventually(RunningLock("counting", file).is_taken)
    assert model.wait_for(shop.say("a", "goes on"), 20)
    running.end()


def test_a_runner_follows_a_store_that_was_replaced_by_a_copy_of_itself(shop, in_background):
    """An open connection would go on with the old file for ever, and see nothing new."""
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    copy = shop.path.with_name("copy.db")
    with sqlite3.connect(shop.path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    shop.close()
    for suffix in ("-wal", "-shm"):
        shop.path.with_name(shop.path.name + suffix).unlink(missing_ok=True)
    copy.replace(shop.path)
    other = Shop(shop.path)
    last = other.say("a", "into the copy")
    assert other.read_model().wait_for(last, 20)
    running.end()
    other.close()


def test_a_second_runner_waits_and_takes_over_and_one_that_may_not_wait_ends(shop, in_background):
    first = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    with pytest.raises(AlreadyRunning, match=r"another process \(process \d+\) runs or builds it"):
        shop.runner().run(wait=False)
    second = in_background()
    eventually(lambda: any("waiting to take over" in text for text in shop.said))
    first.end()
    assert model.wait_for(shop.say("b", "for the second"), 20)
    second.end()


def test_events_of_other_aggregates_are_passed_over_and_the_position_moves(shop):
    shop.run()
    shop.sessions.recorder.insert_events(
        [StoredEvent("theirs", n, "their.module:Thing", b"\xff") for n in (1, 2, 3)]
    )
    shop.run()
    with shop.read_model().reading() as build:
        assert build.progress().position == shop.log.last_id()
        assert build.progress().events == 4
    shutil.rmtree(shop.registry.folder)
    shop.run()
    assert {row[0] for row in shop.rows()["c_events"]} == {"a", "b"}


@pytest.mark.parametrize("filled_first", [True, pytest.param(False, marks=SLOW)])
def test_a_stream_that_another_aggregate_began_is_not_ours_whatever_follows(shop, filled_first):
    state = shop.sessions.mapper.to_stored_event(next(iter(shop.sessions.tapes.events("a")))).state
    mixed = [
        StoredEvent("theirs", 1, "their.module:Thing", b"1"),
        StoredEvent("theirs", 2, "tapefold.SessionStarted", state),
    ]
    if not filled_first:
        shop.run()
    shop.sessions.recorder.insert_events(mixed)
    shop.run()
    assert {row[0] for row in shop.rows()["c_events"]} == {"a", "b"}
    with shop.read_model().reading() as build:
        assert not shop.read_model().is_parked(build, "theirs")


# -- the declaration ---------------------------------------------------------------------------


def test_a_changed_declaration_is_refused_by_runner_and_reader_with_the_command(shop):
    shop.run()
    for use in (
        lambda: shop.run(CountingNext()),
        lambda: shop.read_model(CountingNext()).has_passed(1),
    ):
        with pytest.raises(DeclarationMismatch, match=r"version 1, the code version 2; build it "):
            use()
    assert shop.registry.live("counting").schema_version == 1


def test_older_code_refuses_a_newer_file_and_says_that_it_is_older(shop):
    shop.run(CountingNext())
    with pytest.raises(DeclarationMismatch, match="update tapefold; or go back"):
        shop.run()


def test_a_change_that_forgot_the_version_is_noticed_all_the_same(shop):
    class Forgotten(Counting):
        TABLES = CountingNext.TABLES

    shop.run()
    with pytest.raises(DeclarationMismatch, match="another declaration of version 1"):
        shop.run(Forgotten())


# -- the log -----------------------------------------------------------------------------------


def restored(shop: Shop, backup) -> Shop:
    """The store after a backup was put in its place."""
    shop.close()
    for suffix in ("-wal", "-shm"):
        shop.path.with_name(shop.path.name + suffix).unlink(missing_ok=True)
    shutil.copy(backup, shop.path)
    return Shop(shop.path)


def back_up(shop: Shop):
    copy = shop.path.with_name("backup.db")
    with sqlite3.connect(shop.path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()
    return copy


@pytest.mark.parametrize(
    "appended", [0, 2, pytest.param(1, marks=SLOW), pytest.param(5, marks=SLOW)]
)
def test_a_restored_log_is_refused_by_runner_reader_and_rebuild(shop, appended):
    """Whether it ends before, at, or after the place that was read last."""
    backup = back_up(shop)
    shop.say("a", "lost 1")
    shop.say("a", "lost 2")
    shop.run()
    shop = restored(shop, backup)
    for n in range(appended):
        shop.say("b", f"new {n}")
    for use in (
        shop.run,
        lambda: shop.read_model().has_passed(1),
        shop.rebuild,
    ):
        with pytest.raises(LogChanged, match="projections rebuild counting --from-scratch"):
            use()
    report = shop.rebuild(from_scratch=True)
    assert report.switched
    assert [row[:2] for row in shop.rows()["c_events"]] == [
        ("a", 1),
        ("a", 2),
        *[("b", n + 1) for n in range(2 + appended)],
    ]
    shop.run()
    shop.close()


def test_another_log_in_the_place_of_the_store_is_refused_while_it_is_filled(shop, monkeypatch):
    """Stopped in the middle of the first fill, the position alone would not tell."""
    monkeypatch.setattr("tapefold.projections.filling.EVENTS", 2)
    runner = shop.runner()
    monkeypatch.setattr(runner, "_heart", lambda build, rows: runner.stop())
    runner.run()
    with shop.live_build().connection as connection:
        assert connection.execute("SELECT phase FROM tapefold_projection").fetchone() == (
            "filling",
        )
    connection.close()
    other = Shop(shop.path.with_name("other.db"))
    other.begin("c", "d")
    other.say("c", "x")
    other.say("d", "x")
    other.close()
    shop.close()
    shutil.copy(other.path, shop.path)
    for suffix in ("-wal", "-shm"):
        shop.path.with_name(shop.path.name + suffix).unlink(missing_ok=True)
    again = Shop(shop.path)
    with pytest.raises(LogChanged, match="another log"):
        again.run()
    again.close()


# -- files that are damaged, missing, or may not be written ------------------------------------


def test_a_damaged_build_is_named_with_the_command_and_built_anew_by_it(shop):
    shop.run()
    rows = shop.rows()
    shop.live_file().write_bytes(b"this is no database" * 1000)
    for use in (shop.run, lambda: shop.read_model().has_passed(1), shop.rebuild):
        with pytest.raises(BuildDamaged, match="projections rebuild counting --from-scratch"):
            use()
    assert shop.rebuild(from_scratch=True).switched
    assert shop.rows() == rows


def test_a_database_of_another_kind_is_not_taken_for_a_build(shop):
    shop.run()
    path = shop.live_file()
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(BuildDamaged, match="it holds other tables"):
        shop.run()
    with pytest.raises(BuildDamaged):
        shop.read_model().has_passed(1)


def test_a_damaged_registry_is_named_with_what_to_do(shop):
    shop.run()
    shop.registry.path.write_bytes(b"no database" * 500)
    for use in (shop.run, lambda: shop.read_model().has_passed(1), shop.rebuild):
        with pytest.raises(BuildDamaged, match=r"remove the folder sessions\.db\.projections"):
            use()


def test_an_empty_registry_is_one_that_somebody_was_killed_in(shop):
    shop.registry.folder.mkdir()
    shop.registry.path.touch()
    with pytest.raises(ProjectionMissing):
        shop.read_model().has_passed(1)
    shop.run()
    assert shop.read_model().has_passed(shop.log.last_id())


def test_a_file_in_the_place_of_the_folder_is_an_error_that_says_so(shop):
    shop.registry.folder.write_text("not a folder")
    runner = shop.runner()
    thread = threading.Thread(target=runner.run)
    thread.start()
    eventually(lambda: shop.said)
    runner.stop()
    thread.join(20)
    assert "sessions.db.projections cannot be used" in shop.said[0]
    with pytest.raises(BuildNotWritable, match=r"sessions\.db\.projections cannot be used"):
        shop.rebuild()


# -- faults that pass --------------------------------------------------------------------------


def test_a_store_that_is_gone_is_waited_for(shop, in_background):
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    away = shop.path.with_name("away.db")
    shop.path.rename(away)
    eventually(lambda: any("the file is gone" in text for text in shop.said))
    with pytest.raises(StoreMissing):
        shop.log.refresh()
    away.rename(shop.path)
    assert model.wait_for(shop.say("a", "it is back"), 20)
    running.end()


def test_a_build_that_somebody_locks_is_tried_again(shop, monkeypatch, in_background):
    monkeypatch.setattr("tapefold.projections.database.BUSY", 0.05)
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    build = shop.live_build()
    with build.writing():
        last = shop.say("a", "meanwhile")
        eventually(lambda: any("trying again in" in text for text in shop.said))
    build.close()
    assert model.wait_for(last, 20)
    running.end()


def test_looking_whether_one_runs_makes_no_file_and_keeps_nobody_out(tmp_path):
    lock = RunningLock("counting", tmp_path / "counting.1.db")
    assert not lock.is_taken()
    assert list(tmp_path.iterdir()) == []
    assert lock.acquire(wait=False)
    other = RunningLock("counting", tmp_path / "counting.1.db")
    assert other.is_taken()
    lock.release()
    assert not other.is_taken()
    assert other.acquire(wait=False)
    other.release()


def test_a_build_knows_when_its_file_was_put_aside(shop):
    shop.run()
    build = Build(shop.live_file(), shop.projection)
    assert build.is_at_its_path()
    build.path.rename(build.path.with_name("aside.db"))
    assert not build.is_at_its_path()
    build.close()


def test_a_runner_that_waits_for_a_lock_is_stopped_all_the_same(shop, in_background):
    running = in_background()
    model = shop.read_model()
    eventually(lambda: shop.registry.find_live("counting") is not None)
    assert model.wait_for(shop.log.last_id(), 20)
    build = shop.live_build()
    with build.writing():
        shop.say("a", "meanwhile")
        running.runner.stop()
        running.thread.join(5)  # it would wait for ten seconds
        assert not running.thread.is_alive()
    build.close()
    assert shop.said == []
