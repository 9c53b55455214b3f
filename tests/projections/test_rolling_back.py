"""Going back to the build that was live before, and removing what is not needed any more."""

from __future__ import annotations

import shutil

import pytest

from tapefold.projections.errors import (
    BuildMissing,
    DeclarationMismatch,
    ProjectionError,
)
from tapefold.projections.maintenance import roll_back
from tapefold.projections.removing import drop

from .machinery import CountingNext


def test_a_rollback_brings_the_old_build_up_to_date_and_done_twice_goes_forward(shop):
    shop.run()
    shop.rebuild()
    last = shop.say("a", "since the switch")
    shop.run()
    model = shop.read_model()
    assert model.has_passed(last)
    assert roll_back(shop.projection, shop.log, shop.path).number == 1
    assert model.has_passed(last)
    assert roll_back(shop.projection, shop.log, shop.path).number == 2
    assert model.has_passed(last)


def test_a_rollback_to_another_declaration_is_for_the_program_that_made_it(shop):
    shop.run()
    shop.rebuild(CountingNext())
    info = roll_back(CountingNext(), shop.log, shop.path)
    assert (info.number, info.schema_version) == (1, 1)
    shop.run()
    with pytest.raises(DeclarationMismatch):
        shop.run(CountingNext())


def test_a_rollback_needs_a_build_that_is_kept(shop):
    shop.run()
    with pytest.raises(ProjectionError, match="nothing to go back to"):
        roll_back(shop.projection, shop.log, shop.path)
    shop.rebuild()
    shop.registry.path_of("counting", 1).unlink()
    with pytest.raises(BuildMissing, match=r"counting\.1\.db is gone"):
        roll_back(shop.projection, shop.log, shop.path)
    drop(shop.registry, "counting")
    with pytest.raises(ProjectionError, match="nothing to go back to"):
        roll_back(shop.projection, shop.log, shop.path)


def test_a_rollback_from_a_damaged_build_works(shop):
    shop.run()
    rows = shop.rows()
    shop.rebuild()
    shop.live_file().write_bytes(b"damaged" * 4000)
    assert roll_back(shop.projection, shop.log, shop.path).number == 1
    assert shop.rows() == rows


def test_drop_waits_for_who_still_reads_the_old_build(shop):
    shop.run()
    model = shop.read_model()
    with model.reading() as build:
        shop.rebuild()
        with pytest.raises(ProjectionError, match="build 1 is still open somewhere"):
            drop(shop.registry, "counting", wait=0.1)
        assert build.connection.execute("SELECT COUNT(*) FROM c_events").fetchone() == (4,)
    with model.reading() as build:
        assert build.path.name == "counting.2.db"
    assert drop(shop.registry, "counting", wait=5) == [1]
    assert not list(shop.registry.folder.glob("counting.1.*"))


def test_drop_removes_files_that_no_build_has(shop):
    shop.run()
    shutil.copy(shop.live_file(), shop.registry.path_of("counting", 7))
    assert drop(shop.registry, "counting") == [7]
    assert shop.rebuild().build == 2


def test_the_number_of_a_dropped_build_is_not_given_again(shop):
    shop.run()
    shop.rebuild(switch=False)
    drop(shop.registry, "counting")
    assert shop.rebuild().build == 3
