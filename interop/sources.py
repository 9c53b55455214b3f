"""Where the bytes of a session file come from. Opened for reading only, as often as needed."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Protocol

IN_MEMORY: Final = 8 << 20
"""Of what comes through a pipe more than this goes to a temporary file. Unit: bytes."""


class Source(Protocol):
    """A file, or something like one. `size` is fixed when it is first looked at: what a writer
    appends meanwhile belongs to the next import."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    def open(self) -> BinaryIO: ...


class FileSource:
    """A file on disk. Raises `OSError` where it cannot be opened, or is no regular file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        # A pipe would block, a device would never end.
        if self.path.exists() and not self.path.is_file():
            raise OSError(f"{str(self.path)!r} is a folder or a device, no file")
        with self.open() as file:
            self.size = os.fstat(file.fileno()).st_size

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.name

    def open(self) -> BinaryIO:
        """The file, for reading."""
        return self.path.open("rb")


class BytesSource:
    """Bytes in memory."""

    def __init__(self, data: bytes, name: str = "session.jsonl") -> None:
        self.data = data
        self.name = name
        self.size = len(data)

    def open(self) -> BinaryIO:
        """The bytes as a file."""
        return io.BytesIO(self.data)


class PipeSource:
    """What comes through a pipe, such as standard input: read to its end, and kept.

    In memory while it is short, else in an unnamed temporary file.
    """

    def __init__(self, pipe: BinaryIO, name: str = "standard input") -> None:
        self.name = name
        self.size = 0
        self._kept: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - kept
        while chunk := pipe.read(1 << 20):
            self._kept.write(chunk)
            self.size += len(chunk)

    def open(self) -> BinaryIO:
        """The bytes, from the beginning."""
        view: Any = _View(self._kept)
        return io.BufferedReader(view)


class _View(io.RawIOBase):
    """A reader of a kept file with a place of its own, whose end leaves the file open."""

    def __init__(self, kept: IO[bytes]) -> None:
        super().__init__()
        self._kept = kept
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET:
            self._at = offset
        elif whence == os.SEEK_CUR:
            self._at += offset
        else:
            self._at = self._kept.seek(offset, whence)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._kept.seek(self._at)
        found = self._kept.read(len(buffer))
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)
