"""Ids and times that are the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

from ..domain.identifiers import Defaults

CLOCK: Final = "2026-01-01T00:00:00.000000Z"
"""The one time at which everything in a test happens."""


def counted_defaults(first: int = 1) -> Defaults:
    """Entry ids `e1`, `e2` …, session ids `session-1` …, and a clock that stands still.

    `first` is the number of the first of both.
    """
    return Defaults(
        new_session_id=_counted("session-", first),
        new_entry_id=_counted("e", first),
        now=lambda: CLOCK,
        new_incarnation=_counted("incarnation-", first),
    )


def _counted(prefix: str, first: int) -> Callable[[], str]:
    numbers = count(first)
    return lambda: f"{prefix}{next(numbers)}"
