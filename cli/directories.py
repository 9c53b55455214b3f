"""Directories of sessions: whether one lies in another. They are text, and may be of another
machine."""

from __future__ import annotations

import os


def is_below(directory: str | None, above: str) -> bool:
    """Whether a session's directory is `above`, or lies below it.

    Links are followed of `above` alone: what is stored is never looked for on the disk.
    """
    if not directory:
        return False
    found = _tidy(directory)
    wanted = {_tidy(above), _tidy(os.path.realpath(above))}
    return any(found == top or found.startswith(_with_end(top)) for top in wanted)


def _tidy(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))


def _with_end(path: str) -> str:
    return path if path.endswith(os.sep) else path + os.sep
