"""Rows that differ between two sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"


@dataclass(frozen=True)
class Difference:
    """One row that differs. `columns`: (name, old value, new value) of those that changed."""

    table: str
    kind: str
    key: tuple[Any, ...]
    columns: tuple[tuple[str, Any, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The machine shape; bytes are shown as hex digits."""
        return {
            "table": self.table,
            "kind": self.kind,
            "key": [_plain(part) for part in self.key],
            "columns": [
                {"column": name, "old": _plain(old), "new": _plain(new)}
                for name, old, new in self.columns
            ],
        }


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
