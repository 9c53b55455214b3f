"""Parents that come into a file after a record that names them was imported.

A record whose parent is not in the file is hung under the one before it, for good: the tape is
not changed afterwards. Where the file grows and the parent comes after all, one import at the end
would have hung the record elsewhere, so the later import says it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..domain.heads import Head


class Waiting(NamedTuple):
    """A record that hangs elsewhere than it says: its line, and the entry that it hangs under."""

    line: int | None
    under: str | None


class LateParents:
    """The records whose parents have not come yet: those of earlier imports, and of a file that is
    followed. False where none waits."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Waiting]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def adopt(
        self, head: Head, own_id: Any, token: Any, lookup: Callable[[Any], str | None]
    ) -> None:
        """Take note of a record that was imported before. `token`: the parent that it names;
        `lookup` finds the entry that a reference means."""
        if self._waiting and isinstance(own_id, str):
            self._waiting.pop(own_id, None)  # it came within one import, which knew of it
        if (
            isinstance(token, str)
            and token
            and token != head.parent_id
            and head.entry_id is not None
            and lookup(token) is None
        ):
            self.wait(token, Waiting(head.line, head.parent_id))

    def wait(self, token: Any, waiting: Waiting) -> None:
        """Take note of a record whose parent is not in the file as it is now."""
        if isinstance(token, str):
            self._waiting.setdefault(token, []).append(waiting)

    def come(self, own_id: Any) -> list[Waiting]:
        """The records that named a record which is new now."""
        return self._waiting.pop(own_id, []) if isinstance(own_id, str) else []
