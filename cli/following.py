"""`tapefold import --follow`: until Ctrl-C, or a request to end (SIGTERM)."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

from .group import complain
from .stores import import_target

if TYPE_CHECKING:
    from .importreport import Reporter


class Request:
    """The request to end, while the block runs. The first one is heeded in peace, the second one
    at once."""

    def __init__(self) -> None:
        self._come = False
        self._before: list[tuple[signal.Signals, Any]] = []

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before.append((number, signal.signal(number, self._come_in)))
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def _come_in(self, number: int, frame: FrameType | None) -> None:
        if self._come:
            raise KeyboardInterrupt
        self._come = True

    def __call__(self) -> bool:
        return self._come


def follow_into(database: str | None, path: str, reporter: Reporter) -> None:
    """Follow a file into the store, and report at the end."""
    with Request() as stop:  # before the slow imports: Ctrl-C meets no half of anything
        _follow_until(stop, database, path, reporter)


def _follow_until(
    stop: Callable[[], bool], database: str | None, path: str, reporter: Reporter
) -> None:
    from tapefold.following import Follower
    from tapefold.interop.errors import ImportRefused

    with import_target(database) as target:
        if sys.stderr is not None and sys.stderr.isatty():
            complain(f"following {path}; Ctrl-C ends it")
        try:
            report = Follower(target, path, stop).run()
        except ImportRefused as error:
            reporter.refuse(error)
        else:
            reporter.add(report)
