"""A progress bar on standard error while a long import runs, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONG = 2_000_000
"""From here on all files together take long enough for a bar. Unit: bytes."""


class ImportBar:
    """How much of all files is done. `progress` None: nothing is shown."""

    def __init__(self, progress: Any = None, total: int = 0, files: int = 0) -> None:
        self.is_shown = progress is not None
        self._progress = progress
        self._files = files
        self._done = 0
        self._size = 0
        self._number = 0
        if progress is not None:
            self._task = progress.add_task("", total=total, file="")

    def begin(self, path: str, size: int) -> Callable[[int], None] | None:
        """The next file; answers what takes note of how many of its bytes are done."""
        if self._progress is None:
            return None
        from .visible import one_line

        self._size = size
        self._number += 1
        which = f" {self._number}/{self._files}" if self._files > 1 else ""
        self._progress.update(self._task, file=f"{one_line(Path(path).name)[:40]}{which}")
        return self._advance

    def _advance(self, done: int) -> None:
        self._progress.update(self._task, completed=self._done + min(done, self._size))

    def end(self) -> None:
        """The file is done, or was refused."""
        if self._progress is not None:
            self._done += self._size
            self._size = 0
            self._advance(0)


@contextmanager
def import_progress(paths: Sequence[str]) -> Iterator[ImportBar]:
    """A bar for the import of files, while the block runs: how much, how fast, how long still."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield ImportBar()
        return
    total = sum(map(_size, paths))
    if total < LONG:
        yield ImportBar()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.fields[file]}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left", markup=False),
    )
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as progress:
        yield ImportBar(progress, total, len(paths))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
