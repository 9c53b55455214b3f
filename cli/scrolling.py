"""A long text of which a screen shows a part: made block by block, only what is seen."""

from __future__ import annotations

from collections.abc import Callable

from .terminal import Line


class Scroll:
    """`count` blocks of lines; `lines(n)` makes the lines of a block, which may have none.

    The line at the top of the screen is (block, line in it). Only the blocks that are seen, and
    those that are passed on the way, are made; each once.
    """

    def __init__(self, count: int, lines: Callable[[int], list[Line]]) -> None:
        self.count = count
        self._make = lines
        self._made: dict[int, list[Line]] = {}
        self.block = 0
        self.line = 0

    def lines(self, n: int) -> list[Line]:
        """The lines of a block."""
        if n not in self._made:
            self._made[n] = self._make(n)
        return self._made[n]

    def seen(self, height: int) -> list[Line]:
        """The lines on a screen of this height: full, as long as there are enough lines."""
        self._fill(height)
        seen: list[Line] = []
        block, line = self.block, self.line
        while block < self.count and len(seen) < height:
            seen += self.lines(block)[line:]
            block, line = block + 1, 0
        return seen[:height]

    def show(self, block: int, height: int) -> None:
        """Put a block on the screen, with what is before it; of one that is too long the begin."""
        if not self.count:
            return
        self.block, self.line = min(block, self.count - 1), 0
        self.move(len(self.lines(self.block)) - height if self._is_short(height) else 0)

    def _is_short(self, height: int) -> bool:
        return len(self.lines(self.block)) < height

    def move(self, by: int) -> None:
        """Move the top line down, or (a negative number) up."""
        while by < 0:
            step = min(-by, self.line)
            self.line -= step
            by += step
            if by == 0 or self.block == 0:
                return
            self.block -= 1
            self.line = len(self.lines(self.block))
        while by > 0:
            left = len(self.lines(self.block)) - self.line if self.block < self.count else 0
            if by < left:
                self.line += by
                return
            if self.block + 1 >= self.count:
                self.line += max(left - 1, 0)
                return
            by -= left
            self.block, self.line = self.block + 1, 0

    def _fill(self, height: int) -> None:
        """Move up where the end of the text would leave a part of the screen empty."""
        room, block, line = height, self.block, self.line
        while room > 0 and block < self.count:
            room -= len(self.lines(block)) - line
            block, line = block + 1, 0
        if room > 0:
            self.move(-room)
