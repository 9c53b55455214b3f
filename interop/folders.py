"""The session files of a folder: by name, or by what they begin with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from .detection import identify
from .errors import ImportRefused
from .report import ImportReport
from .sources import FileSource

SUFFIX: Final = ".jsonl"
"""Files with this ending are always taken for session files."""

TAPE: Final = b'"tapefold-tape"'
_BEGINNING: Final = 4_096


class SessionFiles:
    """Iterates over the paths of session files: `str`, in order of their names.

    A path that is a folder stands for all session files below it, links followed, each folder
    once. What keeps a folder from being read comes out as an `ImportReport` that says so; other
    paths come out as they are, whatever is there. `passed_over` counts the files of folders
    that are no session files.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self._paths = [os.fspath(path) for path in paths]
        self._seen: set[tuple[int, int]] = set()
        self.passed_over = 0

    def __iter__(self) -> Iterator[str | ImportReport]:
        for path in self._paths:
            if is_folder(path):
                yield from self._folder(path)
            else:
                yield path

    def _folder(self, top: str) -> Iterator[str | ImportReport]:
        todo = [Path(top)]
        while todo:
            path = todo.pop()
            if not is_folder(path):
                if self._is_taken(path):
                    yield str(path)
                else:
                    self.passed_over += 1
                continue
            try:
                found = path.stat()
                if (found.st_dev, found.st_ino) in self._seen:
                    yield _report(path, "seen_before", f"it is {path.resolve()}")
                    continue
                self._seen.add((found.st_dev, found.st_ino))
                inside = sorted(path.iterdir(), reverse=True)
            except OSError as error:
                refused = _report(path, "folder_unreadable", error.strerror or str(error))
                refused.refused = True
                yield refused
                continue
            todo += inside

    def _is_taken(self, path: Path) -> bool:
        """Whether a file of a folder is to be imported: it may be refused then, with a reason."""
        if path.name.endswith(SUFFIX):
            return True
        try:
            if not path.is_file():
                return False
            with path.open("rb") as file:
                beginning = file.read(_BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not beginning.startswith(b"{"):
                return False
            if TAPE in beginning.partition(b"\n")[0]:
                return True
            identify(FileSource(path), ImportReport(str(path)))
        except ImportRefused as error:
            # A session all the same, if of a kind that is not read.
            return error.report.format is not None
        except OSError:
            return True  # importing it says why it cannot be read
        return True


def is_folder(path: str | Path) -> bool:
    """Whether a path leads to a folder; no, where that cannot be told."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def _report(path: Path, reason: str, detail: str) -> ImportReport:
    report = ImportReport(str(path))
    report.add(None, reason, detail)
    return report
