"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from errno import EISDIR
from pathlib import Path

from .domain.errors import TapefoldError


class FileExists(TapefoldError):
    """There is a file already where something is to be written."""

    def __init__(self, target: str) -> None:
        self.path = target
        super().__init__(
            f"{target} exists, and stays as it is; choose another name, or overwrite it (--force)"
        )


def write_file(target: str, lines: Iterable[bytes], *, overwrite: bool) -> None:
    """Write lines to a file beside the target, and put it there in one step.

    A file that is replaced keeps its permissions; a new one gets what the umask allows. What is
    no ordinary file (a pipe, a terminal) is written to as it is. Raises `FileExists` where there
    is one and `overwrite` is false, and `OSError`; what was there is unchanged then.
    """
    place = Path(target).resolve()  # a link is followed: what it names is replaced
    mode = _mode(place)
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, "it is a folder; name a file in it", target)
    if mode is not None and not stat.S_ISREG(mode):
        with place.open("wb") as stream:
            stream.writelines(lines)
        return
    if mode is not None and not overwrite:
        raise FileExists(target)
    beside = place.with_name(f".{place.name[:100]}.{secrets.token_hex(8)}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(beside, flags, 0o666)
    except OSError as error:
        error.filename = target  # the name beside it says nothing to anybody
        raise
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(lines)
            stream.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(stream.fileno(), stat.S_IMODE(mode))
            os.fsync(stream.fileno())
        _put(beside, place, target, overwrite)
    finally:
        beside.unlink(missing_ok=True)
    _sync_folder(place.parent)


def _mode(place: Path) -> int | None:
    try:
        return place.stat().st_mode
    except FileNotFoundError:
        return None


def _put(beside: Path, place: Path, target: str, overwrite: bool) -> None:
    if overwrite:
        beside.replace(place)
        return
    try:
        place.hardlink_to(beside)  # unlike a rename it never replaces what came there meanwhile
    except FileExistsError:
        raise FileExists(target) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(place):
            raise FileExists(target) from None
        beside.replace(place)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return  # some file systems cannot; the content itself is on the disk
    finally:
        os.close(handle)
