"""The end of a file that another program appends to: its lines, as they become complete."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

KEPT: Final = 1 << 12
"""How much before the place of reading is compared before more is read. Unit: bytes."""

STEP: Final = 1 << 16


class TailChanged(Exception):
    """The file is not what it was: `what` says whether it was cut, replaced, changed or gone."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class GrowingFile:
    """A file on disk that grows. As a source it is what is complete of it: whole lines.

    `whole` adds the rest, once nobody waits for it any more. Raises `OSError` where the file
    cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_file():
            raise OSError(f"{path!r} is a folder or a device, no file")
        self.whole = False
        self.open().close()

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.name

    @property
    def size(self) -> int:
        """Where the last complete line ends now. Unit: bytes."""
        with self.open() as file:
            end = os.fstat(file.fileno()).st_size
            return end if self.whole else _last_line_end(file, end)

    def open(self) -> BinaryIO:
        """The file, for reading."""
        return self.path.open("rb")


class Tail(io.RawIOBase):
    """Reads a growing file line by line. `readline` gives whole lines only.

    Where there is none it asks `wait`, again and again, until there is; `wait` answers whether
    to go on, and sleeps. When it says no, the rest comes, as the last line. Raises `TailChanged`.
    """

    def __init__(self, path: str, wait: Callable[[], bool]) -> None:
        super().__init__()
        self._path = Path(path)
        self._wait = wait
        self._file = self._path.open("rb")
        self._parts: list[bytes] = []
        self._before = b""
        self._ended = False
        self._looked: tuple[int, int] | None = None
        self._at = 0

    @property
    def has_rest(self) -> bool:
        """Whether a line has begun that is not complete yet."""
        return bool(self._parts)

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line, when it is complete. Lines are never cut: `size` is not looked at."""
        while not self._ended:
            piece = self._file.readline()
            if piece:
                self._parts.append(piece)
                self._at += len(piece)
                self._before = (self._before + piece[-KEPT:])[-KEPT:]
                if piece.endswith(b"\n"):
                    return self._take()
            if not self._wait():
                self._ended = True
                break
            self._check()
        return self._take() if self._parts else b""

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        self._parts.clear()
        return line

    def _check(self) -> None:
        """Raise `TailChanged` unless the file is the same one, and what was read of it too."""
        mine = os.fstat(self._file.fileno())
        try:
            there = self._path.stat()
        except FileNotFoundError:
            raise TailChanged("is gone") from None
        if (there.st_dev, there.st_ino) != (mine.st_dev, mine.st_ino):
            raise TailChanged("was replaced by another file")
        if mine.st_size < self._at:
            raise TailChanged("was cut")
        if (mine.st_size, mine.st_mtime_ns) == self._looked:
            return
        self._looked = mine.st_size, mine.st_mtime_ns
        with self._path.open("rb") as file:
            file.seek(self._at - len(self._before))
            if file.read(len(self._before)) != self._before:
                raise TailChanged("was written anew")

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        super().close()


def _last_line_end(file: BinaryIO, end: int) -> int:
    while end > 0:
        start = max(0, end - STEP)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
