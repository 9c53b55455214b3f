"""Checks of a store's file: what it is, where it lies, who may touch it. Opens no database."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from .checkup_findings import Findings
from .quiet import beside, size_of

HEADER = b"SQLite format 3\x00"
MUCH_LOG = 256 * 1024 * 1024
"""A write-ahead log this long was not moved into the file for long. Unit: bytes."""
LITTLE_SPACE = 100 * 1024 * 1024
"""Unit: bytes."""
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "lustre", "vboxsf")
"""File systems (beginnings of their names) whose locks or shared memory are not to be relied on."""
_MOUNTS = Path("/proc/self/mountinfo")


def check_header(path: Path, findings: Findings) -> bool:
    """Whether the file begins as a SQLite database and is as long as its header says.

    Raises `OSError` if it cannot be read.
    """
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(HEADER):
        said = "it is empty" if not header else "it does not begin as a SQLite database does"
        findings.add("cannot_open", said)
        return False
    page = int.from_bytes(header[16:18], "big")
    page = 65_536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    # The count is only valid if it was written together with the last change.
    valid = header[24:28] == header[92:96]
    size = path.stat().st_size
    if valid and size < page * pages and not size_of(beside(path, "-wal")):
        findings.add(
            "cut_short", f"the file has {size:,} bytes, its header speaks of {page * pages:,}"
        )
    return True


def check_place(path: Path, findings: Findings) -> None:
    """Rights, space, the file system, and what lies beside the file."""
    _check_rights(path, findings)
    _check_space(path, findings)
    wal, journal = size_of(beside(path, "-wal")), size_of(beside(path, "-journal"))
    if wal > MUCH_LOG:
        findings.add("log_grows", f"{wal:,} bytes wait in its write-ahead log")
    elif wal:
        findings.add("log_waits", f"{wal:,} bytes wait in its write-ahead log")
    if journal:
        findings.add("journal_left", "a rollback journal was left by a program that was killed")
    kind = file_system(path)
    if kind is not None and kind.startswith(NETWORK):
        findings.add("network_file_system", f"it lies on a network file system ({kind})")


def _check_rights(path: Path, findings: Findings) -> None:
    if os.name != "posix":
        return
    found = path.stat()
    files = [path, *(beside(path, suffix) for suffix in ("-wal", "-shm"))]
    for file in files:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0
        if mode & 0o077:
            findings.add("open_to_others", f"others may use {file.name} (mode {mode:04o})")
    folder = path.parent
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o022 and not mode & stat.S_ISVTX:
        findings.add("folder_open_to_others", f"others may change {folder} (mode {mode:04o})")
    if not os.access(path, os.W_OK):
        findings.add("not_writable", "you may not write to it")
    elif not os.access(folder, os.W_OK):
        findings.add("folder_not_writable", f"you may not write to its folder {folder}")
    if found.st_nlink > 1:
        findings.add("several_names", f"the file has {found.st_nlink} names (hard links)")


def _check_space(path: Path, findings: Findings) -> None:
    free = shutil.disk_usage(path.parent).free
    # A checkpoint needs as much again as the log holds.
    needed = LITTLE_SPACE + size_of(beside(path, "-wal"))
    if free < needed:
        findings.add("little_space", f"{free:,} bytes are free on its disk")


def file_system(path: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the file system that a path lies on; None where the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    found, best = None, -1
    real = os.path.realpath(path)
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = fields[4].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        # The last line of equal points is the one that lies on top.
        if inside and len(point) >= best:
            found, best = kinds[0], len(point)
    return found
