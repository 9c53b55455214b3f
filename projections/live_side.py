"""The live build as a rebuild sees it: read beside its runner, and held still for the switch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from .continuity import check_log
from .database import FOLLOWING, Build, begin_writing
from .declaration import Projection
from .errors import BuildDamaged, BuildFault, LogChanged
from .faults import named_faults
from .log import Log
from .registry import BuildInfo, Registry


class LiveSide:
    """The build that is live while another one is made. Whatever declaration made it."""

    def __init__(self, registry: Registry, projection: Projection, log: Log) -> None:
        self._registry = registry
        self._projection = projection
        self._log = log
        self.info: BuildInfo | None = registry.find_live(projection.NAME)

    @property
    def number(self) -> int | None:
        """Its number, None where nothing is live."""
        return None if self.info is None else self.info.number

    def position(self) -> int | None:
        """The id of the log that it has read, None if there is nothing that could be compared.

        Raises `LogChanged` if it read another log, `BuildDamaged` if it cannot be read.
        """
        with self.reading() as build:
            return None if build is None else build.progress().position

    @contextmanager
    def reading(self) -> Iterator[Build | None]:
        """One snapshot of it; its runner goes on behind. None where there is no file, or one that
        is still being filled. Raises as `position` does."""
        build = self._open(read_only=True)
        if build is None:
            yield None
            return
        try:
            with named_faults(self._projection.NAME, build.path), build.reading():
                if build.progress().phase != FOLLOWING:  # the first read fixes the snapshot
                    yield None
                    return
                check_log(build, self._log)
                yield build
        finally:
            build.close()

    @contextmanager
    def held(self) -> Iterator[int | None]:
        """Hold it still: its runner waits until the block ends. Gives the id of the log that it
        stands at, None where it is being filled, read another log, or cannot be used at all.

        Raises `BuildBusy` if the lock does not come free.
        """
        with ExitStack() as stack:
            position = None
            with suppress(BuildDamaged, LogChanged):  # then nobody can read it, nor run it
                position = self._hold(stack)
            yield position

    def _hold(self, stack: ExitStack) -> int | None:
        build = self._open(read_only=False)
        if build is None:
            return None
        stack.callback(build.close)
        with named_faults(self._projection.NAME, build.path):
            begin_writing(build.connection)
            progress = build.progress()
        if progress.phase != FOLLOWING:
            return None
        check_log(build, self._log)
        return progress.position

    def _open(self, *, read_only: bool) -> Build | None:
        if self.info is None:
            return None
        path = self._registry.path_of(self.info.name, self.info.number)
        if not path.exists():
            return None
        try:
            return Build(path, self._projection, read_only=read_only)
        except BuildFault as fault:
            if isinstance(fault.__cause__, sqlite3.Error) and not path.exists():
                return None
            raise
