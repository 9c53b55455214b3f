"""Runs one projection in this process, its later stages in threads beside it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from .saying import Said
from .signals import signals_call

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.projections.runner import Runner

LATER_IDLE = 0.1
"""Seconds between two looks of a later stage, which may be a moment behind."""

PAUSES = (0.1, 0.5, 2.0)
"""Seconds between two looks for a store that cannot be opened yet; the last one again."""


def run_here(
    database: str | None,
    stages: Sequence[str],
    said: Said,
    *,
    wait: bool,
    once: bool,
    while_input: bool = False,
) -> bool:
    """Run until a signal says to stop. `once`: until nothing is new; then answers whether a
    session is parked, else false.

    The first stage that fails ends the others, and its error is raised.
    """
    crew = _Crew(database, said, wait=wait, once=once)
    if while_input:
        threading.Thread(target=crew.stop_with_input, daemon=True).start()
    with signals_call(crew.stop):
        threads = [
            threading.Thread(target=crew.run, args=(stage, LATER_IDLE)) for stage in stages[1:]
        ]
        for thread in threads:
            thread.start()
        crew.run(stages[0])
        for thread in threads:
            while thread.is_alive():
                thread.join(0.1)  # a signal's handler runs between two of them
    if crew.error is not None:
        raise crew.error
    return crew.has_parked


class _Crew:
    """The stages of one process."""

    def __init__(self, database: str | None, said: Said, *, wait: bool, once: bool) -> None:
        self._database = database
        self._said = said
        self._wait = wait
        self._once = once
        self._runners: list[Runner] = []
        self._is_stopped = False
        self.error: Exception | None = None
        self.has_parked = False

    def stop(self) -> None:
        """End after the batches in hand."""
        self._is_stopped = True
        for runner in self._runners:
            runner.stop()

    def stop_with_input(self) -> None:
        """End when the process at the other end of standard input does."""
        try:
            while os.read(0, 1):
                pass
        except OSError:
            pass  # it was closed: the same
        self.stop()

    def run(self, name: str, idle: float | None = None) -> None:
        """Run one stage to its end. `idle`: seconds between two looks when nothing was new."""
        try:
            self._run(name, {} if idle is None else {"idle": idle})
        except Exception as error:
            self.error = self.error or error
        finally:
            if self.error is not None:
                self.stop()

    def _run(self, name: str, how: dict[str, float]) -> None:
        from tapefold.projections.opening import runner as make_runner

        from ..stores import open_sessions

        if not self._wait_for_store(name):
            return
        with open_sessions(self._database) as sessions:
            runner = make_runner(
                sessions,
                name,
                say=partial(self._trouble, name),
                begins=partial(self._begins, name),
                **how,
            )
            self._runners.append(runner)
            if self._is_stopped:
                return
            runner.run(wait=self._wait, until_caught_up=self._once)
            left = self._parked(sessions, name) if self._once and not self._is_stopped else ""
            self._said(name, "ended", f"projection {name}: ended{left}")

    def _begins(self, name: str, build: int) -> None:
        text = f"projection {name}: running build {build} (process {os.getpid()})"
        self._said(name, "started", text)

    def _parked(self, sessions: Sessions, name: str) -> str:
        """What is said of the sessions that stand still."""
        from tapefold.projections.opening import read_model
        from tapefold.projections.parking import parked_ids

        from ..words import count

        with closing(read_model(sessions, name)) as model, model.reading() as build:
            number = len(parked_ids(build))
        if not number:
            return ""
        self.has_parked = True
        return f"; {count(number, 'parked session')}, see `tapefold projections parked`"

    def _trouble(self, name: str, text: str) -> None:
        self._said(name, "trouble", text)

    def _wait_for_store(self, name: str) -> bool:
        """Wait until the store can be opened; a service may be started before it is made."""
        from tapefold.persistence.errors import StoreError

        from ..stores import open_sessions

        tries = 0
        while not self._is_stopped:
            try:
                with open_sessions(self._database):
                    return True
            except StoreError as error:
                if self._once or not _may_come(error):
                    raise
                if not tries:
                    self._said(name, "trouble", f"projection {name}: {error}; waiting for it")
            ends = time.monotonic() + PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            while not self._is_stopped and time.monotonic() < ends:
                time.sleep(0.05)
        return False


def _may_come(error: Any) -> bool:
    from tapefold.persistence.errors import StoreBusy, StoreMissing

    return isinstance(error, StoreBusy | StoreMissing)
