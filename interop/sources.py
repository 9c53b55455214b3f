"""Where the bytes of a session file come from. Opened for reading only, as often as needed."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO, Protocol


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
