"""A log that was restored under a living program: noticed at once, and nothing old goes on in it.

Restored in place, as SQLite's own backup does it: the file stays the same one, so that nothing
tells but the rows.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tapefold import Sessions
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.branch_tree.reading import TreeReader
from tapefold.projections.database import Build
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.effective_view.reading import EffectiveReader
from tapefold.projections.errors import (
    BuildMissing,
    LogChanged,
    PoisonEvent,
    ProjectionError,
)
from tapefold.projections.maintenance import parked_in_live, refold, retry, roll_back
from tapefold.projections.reading import ReadModel
from tapefold.projections.status import status_of
from tapefold.projections.trace_text.projection import TraceText
from tapefold.projections.trace_text.searching import Query, TextSearch

from .machinery import Shop


def copy(source: Path, target: Path) -> Path:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
    return target


def back_up(shop: Shop) -> Path:
    return copy(shop.path, shop.path.with_name("backup.db"))


# -- what forks inherit ------------------------------------------------------------------------


def grow(path: Path, word: str, ids: bool) -> None:
    """A session that strikes one of its messages, and a fork of it. `word` tells two apart."""

    def entry(number: int) -> str | None:
        return f"e{number}" if ids else None

    with Sessions(path) as sessions:
        parent = sessions.start("p", title="parent")
        first = parent.finalize("user", f"{word} one", entry_id=entry(1))
        sessions.save(parent)
        sessions.execute("p", lambda s: s.finalize("user", f"{word} two", entry_id=entry(2)))
        struck = first.entry_id if word == "old" else sessions.state("p").leaf
        assert struck is not None
        sessions.execute("p", lambda s: s.retract(struck))
        sessions.fork("p", child_id="f")
        sessions.execute(
            "f", lambda s: s.finalize("user", f"{word} in the fork", entry_id=entry(3))
        )


class Living:
    """A program that reads all day with one log."""

    def __init__(self, shop: Shop) -> None:
        self._log = shop.log
        self.models = [
            ReadModel(projection, shop.log, shop.path)
            for projection in (EffectiveView(), BranchTree(), TraceText())
        ]

    def read(self) -> tuple[list[str], list[str], list[str]]:
        view, tree, text = self.models
        with view.reading() as build:
            found = EffectiveReader(build.connection, self._log).view("f").messages
            said = [message.body["content"][0]["text"] for message in found]
        with tree.reading() as build:
            nodes = TreeReader(build.connection, self._log).tree("f").nodes
        with text.reading() as build:
            search = TextSearch(build.connection, self._log)
            hits = search.search(Query("one two", session_id="f"))
            hits += search.search(Query("one", session_id="f"))
        return said, [node.preview for node in nodes], sorted(hit.text for hit in hits)


@pytest.mark.parametrize("ids", [False, True])
def test_what_a_fork_inherits_is_never_that_of_a_log_that_is_no_more(shop, ids):
    # The states of parents are kept for their forks; with the same file under them they were
    # those of the old log for ever: a false view, or an error from deep within.
    backup = back_up(shop)
    grow(shop.path, "old", ids)
    living = Living(shop)
    for model in living.models:
        shop.run(model.projection)
    before = living.read()
    assert before[0] == ["old two", "old in the fork"]
    copy(backup, shop.path)
    grow(shop.path, "new", ids)
    other = Shop(shop.path)
    for model in living.models:
        assert other.rebuild(model.projection, from_scratch=True).switched
    fresh = Living(other)
    assert living.read() == fresh.read()
    assert living.read()[0] == ["new one", "new in the fork"]
    # And the living program can rebuild by itself: what it builds and what it compares is new.
    for model in living.models:
        report = shop.rebuild(model.projection, from_scratch=True)
        assert report.switched
        assert report.verification.is_equal
    for model in (*living.models, *fresh.models):
        model.close()
    other.close()


# -- noticed at once ---------------------------------------------------------------------------


def test_a_reader_notices_a_restore_at_its_very_next_read(shop):
    backup = back_up(shop)
    shop.say("a", "old")
    shop.run()
    time.sleep(0.15)  # so that the files are at rest, and what is known of them is believed
    model = shop.read_model()
    for _ in range(3):
        with model.reading():
            pass
    copy(backup, shop.path)
    shop.say("a", "new")
    with pytest.raises(LogChanged), model.reading():
        pass
    model.close()


def parked(shop: Shop) -> list[tuple[str, int]]:
    found = parked_in_live(shop.registry, shop.projection)
    return [(one.session_id, one.position) for one in found]


def is_refused(shop: Shop) -> bool:
    """By the runner, by those who mend, and by who asks how it is."""
    with closing(shop.live_build()) as build:
        for use in (
            shop.run,
            lambda: retry(build, shop.log),
            lambda: refold(build, shop.log, "a"),
        ):
            with pytest.raises(LogChanged, match="--from-scratch"):
                use()
    problems = status_of(shop.projection, shop.log, shop.path).problems
    return "log_changed" in [problem.code for problem in problems]


def test_a_restore_under_a_session_that_is_parked_at_the_last_row_is_noticed(shop):
    # Whatever stood there was taken for the mended event, and the rows before it stayed the old.
    backup = back_up(shop)
    shop.say("a", "old, applied")
    shop.say("a", "old, damaged")
    shop.spoil_event("a", 4)
    shop.run()
    assert parked(shop) == [("a", 4)]
    copy(backup, shop.path)
    for text in ("new", "new", "new"):
        shop.say("a", text)
    assert is_refused(shop)


def test_rows_of_others_in_the_place_of_those_that_wait_for_a_retry_are_noticed(shop):
    # The backup holds all that was applied; what follows is another session's, and would be
    # passed over in silence.
    backup = back_up(shop)
    for text in ("damaged", "behind it"):
        shop.say("a", text)
    shop.spoil_event("a", 3)
    shop.run()
    assert parked(shop) == [("a", 3)]
    copy(backup, shop.path)
    shop.say("a", "new")
    shop.say("b", "new")
    shop.say("b", "new")
    assert is_refused(shop)


def test_a_restore_to_before_what_waits_for_a_retry_needs_nothing_but_the_retry(shop):
    backup = back_up(shop)
    for text in ("damaged", "behind it"):
        shop.say("a", text)
    shop.spoil_event("a", 3)
    shop.run()
    copy(backup, shop.path)
    for text in ("new 3", "new 4", "new 5"):
        shop.say("a", text)
    with closing(shop.live_build()) as build:
        assert not retry(build, shop.log)[0].is_parked
    shop.run()
    texts = [row[2] for row in shop.rows()["c_events"] if row[0] == "a"]
    assert [f"new {n}" in text for n, text in enumerate(texts, 1)] == [
        False,
        False,
        True,
        True,
        True,
    ]


# -- mended ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["retry", "refold", "run"])
@pytest.mark.parametrize("filled_first", [True, False])
def test_two_damaged_events_of_a_session_are_mended_though_the_last_one_was_read(
    shop, how, filled_first
):
    # The later one is the last row that was read, and nothing stands parked at that very row.
    if filled_first:
        shop.run()
    for text in ("damaged", "well", "damaged, too"):
        shop.say("a", text)
    states = {at: shop.spoil_event("a", at) for at in (3, 5)}
    shop.run()
    assert parked(shop) == [("a", 3)]
    for at, state in states.items():
        shop.mend_event("a", at, state)
    if how == "run":
        shop.say("b", "meanwhile")
        shop.run()
    with closing(shop.live_build()) as build:
        if how == "refold":
            assert refold(build, shop.log, "a").position == 5
        else:
            (done,) = retry(build, shop.log)
            assert (done.position, done.events, done.is_parked) == (5, 3, False)
        assert build.anchor() is None
    assert parked(shop) == []
    rows = shop.rows()
    assert shop.rebuild(from_scratch=True).switched
    assert shop.rows() == rows


def test_one_of_two_is_mended_and_the_session_stands_at_the_other_until_that_is(shop):
    for text in ("damaged", "well", "damaged, too"):
        shop.say("a", text)
    states = {at: shop.spoil_event("a", at) for at in (3, 5)}
    shop.run()
    for at, stands in ((3, [("a", 5)]), (5, [])):
        shop.mend_event("a", at, states[at])
        with closing(shop.live_build()) as build:
            retry(build, shop.log)
        assert parked(shop) == stands
        shop.run()
    assert [row[1] for row in shop.rows()["c_events"] if row[0] == "a"] == [1, 2, 3, 4, 5]


def test_a_log_of_which_nothing_could_be_applied_is_mended_as_well(tmp_path):
    shop = Shop(tmp_path / "sessions.db")
    shop.begin("a")
    state = shop.spoil_event("a", 1)
    shop.run()
    assert parked(shop) == [("a", 1)]
    shop.mend_event("a", 1, state)
    with closing(shop.live_build()) as build:
        assert retry(build, shop.log)[0].position == 1
    shop.close()


def test_a_build_from_before_there_was_an_anchor_is_read_and_run(shop):
    shop.say("a", "damaged")
    state = shop.spoil_event("a", 3)
    shop.run()
    shop.change_rows("DROP TABLE tapefold_anchor")
    shop.run()
    shop.mend_event("a", 3, state)
    with pytest.raises(LogChanged):  # it cannot be told from a restore there
        shop.run()
    shop.say("a", "behind it")
    shop.spoil_event("a", 3)
    shop.run()
    shop.mend_event("a", 3, state)
    with closing(shop.live_build()) as build:
        assert retry(build, shop.log)[0].position == 4


@pytest.mark.parametrize("has_live", [True, False])
def test_a_rebuild_that_stopped_at_the_last_event_goes_on_when_that_is_mended(shop, has_live):
    # The unfinished build had noted the damaged row as the one up to which it reads.
    shop.say("a", "damaged")
    state = shop.spoil_event("a", 3)
    if has_live:
        shop.run()
    with pytest.raises(PoisonEvent, match="position 3"):
        shop.rebuild()
    shop.mend_event("a", 3, state)
    report = shop.rebuild()
    assert report.switched
    assert report.verification.is_equal
    assert any("had begun to read the log as it was" in note for note in report.notes)
    assert [one.state for one in shop.registry.builds("counting")] == (
        ["kept", "live"] if has_live else ["live"]
    )
    assert len(shop.rows()["c_events"]) == 5


# -- words -------------------------------------------------------------------------------------


def test_a_kept_build_that_has_read_another_log_is_not_gone_back_to_and_the_live_one_stays(shop):
    backup = back_up(shop)
    shop.say("a", "old")
    shop.run()
    copy(backup, shop.path)
    shop.say("a", "new")
    assert shop.rebuild(from_scratch=True).switched
    with pytest.raises(ProjectionError, match=r"build 1, which is kept, .*the live build stays"):
        roll_back(shop.projection, shop.log, shop.path)
    assert shop.registry.live("counting").number == 2
    shop.run()


@pytest.mark.parametrize("stage", ["filled", "compared", "switching", "switched"])
@pytest.mark.parametrize("what", ["*", "counting.2.db*"])
def test_a_rebuild_whose_files_are_removed_never_says_that_it_is_live(shop, stage, what):
    shop.run()

    def remove(now: str) -> None:
        if now == stage:
            for path in shop.registry.folder.glob(what):
                path.unlink()

    with pytest.raises(BuildMissing, match=r"counting\.2\.db is gone"):
        shop.rebuild(pause=remove)
    shop.run()
    assert len(shop.rows()["c_events"]) == 4


def test_a_registry_that_is_removed_under_a_rebuild_is_named(shop):
    shop.run()

    def remove(now: str) -> None:
        if now == "switching":
            for path in shop.registry.folder.glob("registry.db*"):
                path.unlink()

    with pytest.raises(ProjectionError, match="the registry of the builds was removed"):
        shop.rebuild(pause=remove)


def test_a_build_that_is_filled_holds_its_anchor_from_there_on(shop):
    shop.say("a", "damaged")
    shop.spoil_event("a", 3)
    shop.run()
    with closing(Build(shop.live_file(), shop.projection, read_only=True)) as build:
        row = shop.log.row(4)
        assert build.anchor() == (4, row.digest())
