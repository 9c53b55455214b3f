"""Where a SQLite store is: what the setting says, as a URI that SQLite cannot misread."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit
from uuid import uuid4

from tapefold.persistence.errors import (
    StoreMissing,
    StoreNotWritable,
    StoreSettingsRefused,
    StoreUnreadable,
)

MEMORY_NAMES = (":memory:", "memory:")


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of one store.

    `shown` is what the user gave, for messages. `uri` is what SQLite gets. `path` is the absolute
    path of the file, None for a store in memory. `is_read_only`: the user said that nothing shall
    be written (`mode=ro`), or that nobody will write (`immutable=1`).
    """

    shown: str
    uri: str
    path: Path | None
    is_read_only: bool = False

    @property
    def is_memory(self) -> bool:
        """Tell whether the store lives in memory and ends with its last connection."""
        return self.path is None


def parse_address(db_name: str) -> StoreAddress:
    """Read a path, `:memory:` (or `memory:`), or a `file:` URI as SQLite defines them.

    A path may hold any character that the file system takes, `?`, `#` and `%` included. A file
    whose name really begins with `file:` is written `./file:…`. Each `:memory:` is a store of
    its own: with a plain `:memory:` every connection, so every thread, would have another one.

    Raises StoreSettingsRefused for text that cannot be a path.
    """
    if not db_name:
        raise StoreSettingsRefused("the name of the SQLite database is empty; give a path")
    if db_name in MEMORY_NAMES:
        return StoreAddress(db_name, _memory_uri(f"tapefold-{uuid4().hex}"), None)
    if db_name.startswith("file:"):
        return _parse_uri(db_name)
    return _file_address(db_name, db_name, {})


def prepare_file(address: StoreAddress, *, create: bool, create_parents: bool) -> None:
    """See that the file is there and is a file; make it, readable by its owner alone, if asked.

    SQLite itself would make it with the rights that the umask gives, and give its `-wal` and
    `-shm` the same. Folders are made (with 0700) only if `create_parents`. An empty file is a
    store yet to be made, as for SQLite.

    Raises StoreMissing, StoreUnreadable (no regular file) or StoreNotWritable.
    """
    if address.path is None:
        return
    # The target of a dangling link would otherwise be made by SQLite, with other rights.
    path = Path(os.path.realpath(address.path))
    try:
        found = path.stat()
        mode = found.st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not create or address.is_read_only:
            raise StoreMissing(
                address.shown, "the file does not exist", "give another path, or make the store"
            ) from None
        _make_file(address, path, create_parents=create_parents)
        return
    except OSError as error:
        raise _refusal(address, error) from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise StoreUnreadable(address.shown, f"it is {kind}", "give the path of a file")
    if not found.st_size and not create:
        # SQLite takes an empty file for an empty database, and would begin to write it.
        raise StoreMissing(address.shown, "the file is empty", "give another path")


def _make_file(address: StoreAddress, path: Path, *, create_parents: bool) -> None:
    try:
        if create_parents:
            _make_folders(path.parent)
        # O_EXCL: nobody in this process can have this file open, so closing it below cannot drop
        # locks of SQLite (POSIX drops a process's locks on a file at any close of it).
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if path.is_file():
            return  # another process was faster
        raise StoreMissing(
            address.shown, "a part of its path is no folder", "give another path"
        ) from None
    except FileNotFoundError as error:
        raise StoreMissing(
            address.shown, "its folder does not exist", "make the folder, or give another path"
        ) from error
    except OSError as error:
        raise _refusal(address, error) from error


def _make_folders(folder: Path) -> None:
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _refusal(address: StoreAddress, error: OSError) -> StoreMissing | StoreNotWritable:
    reason = error.strerror or str(error)
    if isinstance(error, NotADirectoryError):
        return StoreMissing(address.shown, "a part of its path is no folder", "give another path")
    return StoreNotWritable(
        address.shown, f"it cannot be opened ({reason})", "check the path, its rights and the disk"
    )


def _memory_uri(name: str, options: dict[str, str] | None = None) -> str:
    query = {**(options or {}), "mode": "memory", "cache": "shared"}
    return f"file:{quote(name)}?{urlencode(query)}"


def _parse_uri(uri: str) -> StoreAddress:
    parts = urlsplit(uri)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = unquote(parts.path, errors="surrogateescape")
    if options.get("mode") == "memory" or name in MEMORY_NAMES:
        # Without cache=shared each connection would see a memory of its own. An unnamed one is
        # not shared between stores.
        anonymous = name in ("", *MEMORY_NAMES)
        chosen = f"tapefold-{uuid4().hex}" if anonymous else name
        return StoreAddress(uri, _memory_uri(chosen, options), None)
    if parts.netloc not in ("", "localhost") or not name:
        raise StoreSettingsRefused(
            f"the SQLite database {uri!r} names no file; write file:///absolute/path, or a path"
        )
    return _file_address(uri, name, options)


def _file_address(shown: str, name: str, options: dict[str, str]) -> StoreAddress:
    try:
        path = Path(os.path.abspath(os.fsdecode(os.fsencode(name))))
    except UnicodeEncodeError as error:
        raise StoreSettingsRefused(f"the path {shown!r} is not valid text") from error
    if "\0" in name:
        raise StoreSettingsRefused(f"the path {shown!r} holds a NUL character; give another one")
    # rw, not rwc: a file that vanishes must not come back empty, with other rights.
    if options.get("mode") not in ("ro", "rw"):
        options = {**options, "mode": "rw"}
    read_only = options["mode"] == "ro" or options.get("immutable", "0") != "0"
    return StoreAddress(shown, f"{path.as_uri()}?{urlencode(options)}", path, read_only)
