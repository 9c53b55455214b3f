"""A fold that is mended while a build is unfinished, and an older program beside a newer one."""

from __future__ import annotations

import importlib
import sys
from textwrap import dedent

import pytest

from tapefold.projections.errors import (
    AlreadyRunning,
    DeclarationMismatch,
    PoisonEvent,
    ProjectionError,
)
from tapefold.projections.registry import BUILDING, KEPT, LIVE
from tapefold.projections.removing import drop
from tapefold.projections.running_lock import RunningLock

from .machinery import Counting, CountingNext

FOLD = """
    from tests.projections.machinery import CountingFold, CountingNext

    class Fold(CountingFold):
        def flush(self, connection):
            self._rows = [(*row[:3], KIND) for row in self._rows]
            super().flush(connection)

    class Written(CountingNext):
        def open(self, log, session_id, position):
            return Fold(position, extra=True)
    """


@pytest.fixture
def write_fold(tmp_path, monkeypatch):
    """Write the module of a projection, whose new column holds a given text; answers it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(kind):
        text = dedent(FOLD).replace("KIND", repr(kind))
        (tmp_path / "written_fold.py").write_text(text)
        sys.modules.pop("written_fold", None)
        importlib.invalidate_caches()
        return importlib.import_module("written_fold").Written()

    yield write
    sys.modules.pop("written_fold", None)


def kinds(shop, projection):
    return {row[3] for row in shop.rows(projection)["c_events"]}


def test_a_build_is_gone_on_with_by_the_program_that_began_it(shop, write_fold):
    shop.run()
    first = shop.rebuild(write_fold("right"), switch=False)
    second = shop.rebuild(write_fold("right"))
    assert (second.build, second.resumed, second.notes) == (first.build, True, [])


def test_a_mended_fold_never_goes_on_with_the_rows_of_the_one_before(shop, write_fold):
    """Only the new build has the column, so no comparison with the live one could tell."""
    shop.run()
    first = shop.rebuild(write_fold("wrong"), switch=False)
    assert first.verification.is_equal
    mended = write_fold("right")
    report = shop.rebuild(mended)
    assert report.switched
    assert not report.resumed
    assert report.verification.against == "live"
    assert kinds(shop, mended) == {"right"}
    assert report.notes == [
        f"build {first.build} was begun by another state of the program; thrown away"
    ]
    assert [info.state for info in shop.registry.builds("counting")] == [KEPT, LIVE]


def test_a_first_build_is_never_gone_on_with_by_another_program(shop, write_fold):
    shop.rebuild(write_fold("wrong"), switch=False)
    mended = write_fold("right")
    shop.run(mended)
    assert kinds(shop, mended) == {"right"}


def test_a_build_is_not_thrown_away_while_its_program_builds_it(shop, write_fold):
    shop.run()
    first = shop.rebuild(write_fold("wrong"), switch=False)
    path = shop.registry.path_of("counting", first.build)
    lock = RunningLock("counting", path)
    assert lock.acquire(wait=False)
    try:
        with pytest.raises(AlreadyRunning):
            shop.rebuild(write_fold("right"))
    finally:
        lock.release()
    assert [info.state for info in shop.registry.builds("counting")] == [LIVE, BUILDING]


def test_an_older_program_does_not_replace_a_newer_ones_build_unasked(shop):
    shop.run(CountingNext())
    with pytest.raises(DeclarationMismatch, match="update tapefold"):
        shop.rebuild(Counting())
    assert shop.registry.live("counting").schema_version == 2
    assert not shop.rebuild(Counting(), switch=False).switched
    assert shop.rebuild(Counting(), accept=True).switched
    assert shop.registry.live("counting").schema_version == 1


# -- what cannot be applied, and what may be dropped ---------------------------------------------


def test_a_rebuild_that_may_park_lets_a_session_stand_still_and_names_it(shop):
    shop.run()
    shop.say("a", "poison")
    shop.say("a", "after it")
    shop.say("b", "goes on")
    shop.run()
    with pytest.raises(PoisonEvent, match="rebuild counting --park"):
        shop.rebuild(CountingNext())
    report = shop.rebuild(CountingNext(), park=True)
    assert report.switched
    assert report.verification.parked == ["a"]
    assert any("session a is parked at 3" in note for note in report.notes)
    assert [row[:2] for row in shop.rows(CountingNext())["c_events"]] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
        ("b", 3),
    ]


def test_a_build_in_which_sessions_stand_still_is_never_gone_on_with_by_a_strict_rebuild(
    shop, mended
):
    shop.run()
    shop.say("a", "poison")
    first = shop.rebuild(park=True, switch=False)
    mended()
    report = shop.rebuild()
    assert report.switched
    assert report.build > first.build
    assert not report.resumed
    assert ("a", 3) in {row[:2] for row in shop.rows()["c_events"]}


def test_a_program_does_not_drop_the_only_builds_that_it_can_read(shop):
    shop.run()
    shop.rebuild(CountingNext())
    with pytest.raises(ProjectionError, match="build 2, which is live, is another program's"):
        drop(shop.registry, "counting", fingerprint=Counting.fingerprint())
    assert [info.state for info in shop.registry.builds("counting")] == [KEPT, LIVE]
    assert drop(shop.registry, "counting", fingerprint=CountingNext.fingerprint()) == [1]


def test_a_program_drops_what_it_has_begun_while_another_ones_build_is_live(shop):
    shop.run()
    shop.rebuild(CountingNext(), switch=False)
    assert drop(shop.registry, "counting", fingerprint=CountingNext.fingerprint()) == [2]
