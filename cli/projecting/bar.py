"""A progress bar on standard error while a build is filled and verified, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapefold.projections.rebuilding import Progress as Stage

UNITS = {"verify": "sessions", "compare": "rows"}
"""What a stage counts, where that is not events."""

WORDS = {"fill": "building", "follow": "catching up", "compare": "comparing", "verify": "verifying"}


@contextmanager
def build_progress(name: str) -> Iterator[Callable[[Stage], None]]:
    """What takes note of how far a build is: events, events a second, the time that is left."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(f"{name}: {{task.description}}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[done]}", markup=False),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left", markup=False),
    )
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        yield _Teller(progress)


class _Teller:
    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._task: Any = None
        self._stage = ""

    def __call__(self, stage: Stage) -> None:
        if stage.stage != self._stage:
            self._begin(stage)
            return
        speed = self._progress.tasks[0].speed
        rate = f"{speed:,.0f} {UNITS.get(stage.stage, 'events')}/s" if speed else ""
        self._progress.update(
            self._task,
            completed=stage.done,
            total=stage.total or None,
            rate=rate,
            done=_done(stage),
        )

    def _begin(self, stage: Stage) -> None:
        # A task of its own: that of the stage before cannot be told to have no total any more.
        # One without a total is a bar that moves to and fro, with the time that it took.
        self._stage = stage.stage
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(
            WORDS.get(stage.stage, stage.stage),
            total=stage.total or None,
            completed=stage.done,
            rate="",
            done=_done(stage),
        )


def _done(stage: Stage) -> str:
    if not (stage.done or stage.total):
        return ""
    of = f" of {stage.total:,}" if stage.total else ""
    return f"{stage.done:,}{of} {UNITS.get(stage.stage, 'events')}"
