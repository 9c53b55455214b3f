"""The model at the leaf: as the session has it, and as Tau and Pi take it from their files."""

from __future__ import annotations

from ...domain.events import Event
from ...domain.nodes import MESSAGE, MODEL, AnyNode


class Models:
    """The model at the leaf, as the session has it and as the two tools take it."""

    def __init__(self) -> None:
        self.ours: dict[str, tuple[float, str | None]] = {}
        self.changes: dict[str, tuple[float, str | None]] = {}
        self.last: tuple[float, str | None, str | None] = (-1, None, None)

    def note(self, node: AnyNode, event: Event, depth: float) -> None:
        """Take note of an entry on the leaf's path."""
        body = event.body
        if node.kind == MODEL:
            _set(self.ours, "model", depth, body.model, True)
            _set(self.ours, "provider", depth, body.provider, False)
            _set(self.changes, "model", depth, body.model, False)
            _set(self.changes, "provider", depth, body.provider, False)
            if depth > self.last[0]:
                provider = self.value(self.ours, "provider")
                self.last = (depth, body.model, provider or "unknown")
        elif event.head.role == "assistant" and node.kind == MESSAGE:
            if body.model and body.model != "unknown":
                _set(self.ours, "model", depth, body.model, True)
                _set(self.ours, "provider", depth, body.provider, False)
            if depth > self.last[0]:
                self.last = (depth, body.model or "unknown", body.provider or "unknown")

    def note_left_out(self, event: Event, depth: float) -> None:
        """Take note of an answer that the session shows and the file leaves out."""
        body = event.body
        if event.head.role == "assistant" and body.model and body.model != "unknown":
            _set(self.ours, "model", depth, body.model, True)
            _set(self.ours, "provider", depth, body.provider, False)

    @staticmethod
    def value(of: dict[str, tuple[float, str | None]], name: str) -> str | None:
        """The value of the deepest entry that has one."""
        return of.get(name, (0, None))[1]


def _set(
    of: dict[str, tuple[float, str | None]], name: str, depth: float, value: str | None, null: bool
) -> None:
    if (value is not None or null) and depth >= of.get(name, (-1, None))[0]:
        of[name] = (depth, value)
