"""A progress bar on standard error while a build is filled and verified, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapefold.projections.rebuilding import Progress as Stage

WORDS = {"fill": "building", "follow": "catching up", "verify": "verifying"}


@contextmanager
def build_progress(name: str) -> Iterator[Callable[[Stage], None]]:
    """What takes note of how far a build is: events, events a second, the time that is left."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(f"{name}: {{task.description}}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
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
        self._task = progress.add_task("", total=None, rate="")
        self._stage = ""

    def __call__(self, stage: Stage) -> None:
        if stage.stage != self._stage:
            self._stage = stage.stage
            self._progress.reset(
                self._task,
                description=WORDS.get(stage.stage, stage.stage),
                total=stage.total or None,
                completed=stage.done,
                rate="",
            )
            return
        speed = self._progress.tasks[0].speed
        rate = f"{speed:,.0f} events/s" if speed else ""
        self._progress.update(
            self._task, completed=stage.done, total=stage.total or None, rate=rate
        )
