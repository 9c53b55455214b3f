"""What tells a file from another one at the same path: it may be removed or replaced meanwhile."""

from __future__ import annotations

from pathlib import Path


def file_identity(path: Path) -> tuple[int, int] | None:
    """The same for one file as long as it is there; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
