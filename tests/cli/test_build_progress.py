"""The bar of a rebuild and of a verification, on a terminal."""

import io
from contextlib import redirect_stderr

import pytest

from tapefold.cli.projecting.bar import build_progress
from tapefold.projections.rebuilding import Progress


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """A terminal of 100 columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)


def shown(*stages, on=Screen):
    """What is drawn on standard error while these are told."""
    with redirect_stderr(on()) as drawn, build_progress("branch_tree") as tell:
        for stage in stages:
            tell(stage)
    return drawn.getvalue()


def test_a_bar_tells_the_stage_and_how_many_events_are_done():
    text = shown(Progress("fill", 0, 2_000), Progress("fill", 1_500, 2_000))
    assert "branch_tree: building" in text
    assert "1,500 of 2,000 events" in text


def test_a_stage_that_cannot_tell_how_far_it_is_does_not_stand_still_at_0():
    text = shown(Progress("fill", 2_000, 2_000), Progress("verify"))
    assert "branch_tree: verifying" in text
    assert "0 of" not in text.split("verifying")[-1]
    assert "2,000" not in text.split("verifying")[-1]


def test_a_verification_counts_sessions():
    assert "34 sessions" in shown(Progress("verify"), Progress("verify", 34))


def test_nothing_is_drawn_where_standard_error_is_no_terminal():
    assert shown(Progress("fill", 1, 2), on=io.StringIO) == ""
