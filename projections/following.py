"""Follows the log: page by page, each committed with the position that it ends at."""

from __future__ import annotations

from typing import Final

from .applying import Applier
from .continuity import advance, check_log
from .database import FILLING, Build
from .declaration import Projection
from .filling import fill
from .log import Footprint, LogRow

PAGE: Final = 8_000
"""Rows of a page at most."""

FIRST: Final = 64
"""Rows of the first page: how large they are is not known yet."""

BYTES: Final = 8 << 20
"""Bytes of stored events of a page, about."""


class Follower:
    """Brings a build, page by page, to a point of the log. It must be filled already."""

    def __init__(self, applier: Applier, *, page: int = PAGE) -> None:
        self._applier = applier
        self._build = applier.build
        self._log = applier.log
        self._most = page
        self._size = min(page, FIRST)
        self._seen: int | None = None
        self._footprint: Footprint | None = None
        """Of the store's files, when there was nothing new in them."""

    def is_anything_new(self) -> bool:
        """A cheap look: whether the log ends elsewhere than at the row that was read last.

        Takes no lock. Who asks this alone would not notice another log that ends at the same id.
        """
        if self._seen is None:
            return True
        footprint = self._log.footprint()
        if footprint is not None and footprint == self._footprint:
            return False
        # Of the files before the question: what is committed in between changes them once more.
        self._footprint = footprint
        return self._log.last_id() != self._seen

    def refresh(self) -> None:
        """See that it is the file at the store's path that is looked at, and look into it at the
        next time, whatever it seems. Raises `StoreMissing`."""
        self._log.refresh()
        self._footprint = None

    def step(self, upto: int | None = None) -> int:
        """Apply one page, none after the id `upto`; answers how many rows it had, 0 at the end.

        Raises `LogChanged`; then nothing was written.
        """
        self._log.refresh()
        try:
            with self._build.writing():
                # Read under the lock: whoever ran this before us has committed by now.
                self._applier.look()
                progress = self._build.progress()
                rows = self._page(progress.position, upto)
                check_log(self._build, self._log, rows[0] if rows else None)
                new = rows[1:] if progress.position else rows
                if not new:
                    self._seen = progress.position
                    return 0
                events = self._applier.apply(new)
                advance(self._build, self._log, new[-1], events)
        except BaseException:
            self._seen = None
            self._applier.forget()
            raise
        self._seen = new[-1].id
        self._adapt(new)
        return len(new)

    def _page(self, position: int, upto: int | None) -> list[LogRow]:
        """The row at the position, and what follows it."""
        if upto is not None and upto < position:
            upto = position
        if not position:
            return self._log.page(0, self._size, upto)
        return self._log.page(position - 1, self._size + 1, upto)

    def _adapt(self, rows: list[LogRow]) -> None:
        """Smaller pages where events are large; what comes next may be larger still."""
        taken = max(1, sum(row.size for row in rows))
        grown = max(FIRST, 4 * len(rows))
        self._size = max(1, min(self._most, grown, len(rows) * BYTES // taken))


def catch_up(applier: Applier, upto: int | None = None) -> None:
    """Bring a build to the end of the log, or to the id `upto` at most, whatever it did before."""
    if applier.build.progress().phase == FILLING:
        for _ in fill(applier):
            pass
    follower = Follower(applier)
    while follower.step(upto):
        pass
    settle(applier.build)


def settle(build: Build) -> None:
    """Let a build catch up with what its projection has put off, where one does so."""
    if type(build.projection).settle is not Projection.settle:
        with build.writing():
            build.projection.settle(build.connection)
