"""Random tapes through the projections, however they come, give what the kernel says."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tapefold import Sessions
from tapefold.projections.catalogue import projection_named, projection_names
from tapefold.projections.log import Log
from tapefold.projections.rebuilding import Rebuild
from tapefold.projections.registry import Registry
from tapefold.projections.runner import Runner
from tapefold.projections.verifying import verify_live
from tapefold.testing.strategies import families

from .machinery import dump


class Feed:
    """Appends the tapes of a family in random pieces, a parent before its fork."""

    def __init__(self, sessions, family, chance) -> None:
        self._sessions = sessions
        self._left = {tape.session_id: list(tape.events) for tape in family}
        self._done = dict.fromkeys(self._left, 0)
        self._chance = chance

    def _may_come(self, session_id) -> bool:
        events = self._left[session_id]
        if not events:
            return False
        origin = events[0].head.origin if not self._done[session_id] else None
        return origin is None or self._done.get(origin.session_id, 0) >= origin.position

    def some(self) -> bool:
        """Append a few; answers whether there were any."""
        appended = 0
        for _ in range(self._chance.randint(1, 12)):
            ready = [sid for sid in self._left if self._may_come(sid)]
            if not ready:
                break
            sid = self._chance.choice(ready)
            taken = self._left[sid][: self._chance.randint(1, 3)]
            del self._left[sid][: len(taken)]
            self._done[sid] += len(taken)
            stored = [self._sessions.mapper.to_stored_event(event) for event in taken]
            self._sessions.recorder.insert_events(stored)
            appended += len(stored)
        return appended > 0


def rows(path, projection):
    registry = Registry(path)
    live = registry.live(projection.NAME)
    registry.close()
    return dump(registry.path_of(live.name, live.number), projection)


def check(family, seed, name):
    projection, chance = projection_named(name), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        with Sessions(path) as sessions:
            log = Log(sessions.recorder, sessions.mapper)
            feed = Feed(sessions, family, chance)
            more = True
            while more:
                page = chance.choice([1, 3, 10, 500])
                Runner(projection, log, path, page=page).run(until_caught_up=True)
                more = feed.some()
            found = verify_live(projection, log, path)
            assert found.is_equal, found.to_json()
            assert found.parked == []
            first = rows(path, projection)
            for _ in range(2):
                report = Rebuild(projection, log, path).run()
                assert report.switched, report.to_json()
                assert rows(path, projection) == first
            shutil.rmtree(path.with_name(f"{path.name}.projections"))
            Runner(projection, log, path).run(until_caught_up=True)
            assert rows(path, projection) == first


QUICK = settings(max_examples=3, phases=[Phase.generate], derandomize=True)


@pytest.mark.parametrize("name", projection_names())
@QUICK
@given(families(hostile=True), st.integers(0, 1_000))
def test_random_batches_the_kernel_and_rebuilds_agree(name, family, seed):
    check(family, seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", projection_names())
@settings(max_examples=25, phases=[Phase.generate])
@given(families(hostile=True), st.integers(0, 1_000))
def test_random_batches_the_kernel_and_rebuilds_agree_on_many_families(name, family, seed):
    check(family, seed, name)
