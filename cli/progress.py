"""A progress bar on standard error while a long import runs, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.domain.drafts import Draft

LONG = 2_000_000
"""A file from here on takes long enough for a bar. Unit: bytes."""


@contextmanager
def import_progress(sessions: Sessions, path: str) -> Iterator[None]:
    """Show how many events of a file are written, while the block runs."""
    if sys.stderr is None or not sys.stderr.isatty() or not _is_long(path):
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from .visible import one_line

    append = sessions.append
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[events]:,} events", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(one_line(Path(path).name)[:40], total=None, events=0)

        def counted(session_id: str, drafts: Iterable[Draft], *, expected_position: int) -> int:
            position = append(session_id, drafts, expected_position=expected_position)
            progress.update(task, events=position)
            return position

        sessions.append = counted  # type: ignore[method-assign]
        try:
            yield
        finally:
            sessions.append = append  # type: ignore[method-assign]


def _is_long(path: str) -> bool:
    try:
        return Path(path).stat().st_size >= LONG
    except OSError:
        return False
