"""SIGTERM and Ctrl-C: what a service manager and a person end a process with."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def signals_call(stop: Callable[[], None]) -> Iterator[None]:
    """While the block runs, both call `stop`, which must not wait for anything."""
    before = {
        number: signal.signal(number, lambda *_: stop())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
