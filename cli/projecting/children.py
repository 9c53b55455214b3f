"""Runs several projections, a process each, and ends with them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from .saying import Said
from .signals import signals_call

GRACE = 10.0
"""Seconds that the processes have to end after they were told to. Then they are killed."""

LOOK_EVERY = 0.05
"""Seconds between two looks at whether one has ended."""


class Children:
    """A process for each projection. They see the end of this one by their standard input, so
    none is left behind, however it ends. One that was killed is named.

    `imports`: flags that come before the command. `once`: none that ends ends the others.
    """

    def __init__(
        self,
        database: str | None,
        names: Sequence[str],
        flags: Sequence[str],
        said: Said,
        *,
        imports: Sequence[str] = (),
        once: bool,
    ) -> None:
        self._names = names
        self._said = said
        self._once = once
        where = [*imports, *([] if database is None else ["--db", database])]
        # -P: a folder `tapefold` in the working directory is not to be taken for the program.
        self._command = [sys.executable, "-P", "-m", "tapefold.cli", *where, "projections", "run"]
        self._flags = [*flags, "--while-input"]
        self._is_stopped = False

    def run(self) -> bool:
        """Run them until they have all ended; answers whether one failed."""
        with signals_call(self._stop):
            return self._run()

    def _run(self) -> bool:
        children: list[subprocess.Popen[bytes]] = []
        try:
            for name in self._names:
                command = [*self._command, name, *self._flags]
                children.append(subprocess.Popen(command, stdin=subprocess.PIPE))
            while not self._is_over(children):
                time.sleep(LOOK_EVERY)
            # Only those that ended by themselves tell of a fault.
            failed = any(child.returncode for child in children)
            for name, child in zip(self._names, children, strict=True):
                self._say_if_killed(name, child.returncode)
        finally:
            self._end(children)
        return failed or any(child.returncode for child in children)

    def _say_if_killed(self, name: str, code: int | None) -> None:
        if code is not None and code < 0:
            text = f"projection {name}: its process was killed (signal {-code})"
            self._said(name, "ended", text)

    def _stop(self) -> None:
        self._is_stopped = True

    def _is_over(self, children: Sequence[subprocess.Popen[bytes]]) -> bool:
        codes = [child.poll() for child in children]
        ended = [code for code in codes if code is not None]
        if self._is_stopped or len(ended) == len(children):
            return True
        return bool(ended) and not self._once

    def _end(self, children: Sequence[subprocess.Popen[bytes]]) -> None:
        for child in children:
            if child.poll() is None:
                child.terminate()
        ends = time.monotonic() + GRACE
        for child in children:
            try:
                child.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdin is not None:
                child.stdin.close()
