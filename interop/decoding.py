"""One JSON value from bytes, at the speed of the standard decoder, and what it took to read it."""

from __future__ import annotations

import json
from typing import Any

from .line import BAD_UTF8, CONTROL, DUPLICATE_KEYS, Note
from .scan import MAX_DEPTH, depth_of, shallow

Found = tuple[Any, list[Note], bool]
"""A value, what was put right, and whether the value says all of the bytes."""


class Decoder:
    """Reads JSON values. Nothing in the bytes makes it raise."""

    def __init__(self) -> None:
        self._doubled = False
        self._strict = json.JSONDecoder(object_pairs_hook=self._object)
        self._lax = json.JSONDecoder(object_pairs_hook=self._object, strict=False)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self._doubled = True
        return made

    def read(self, content: bytes) -> Found | None:
        """The value, or None where the bytes are not one JSON value."""
        notes: list[Note] = []
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = content.decode(errors="replace")
            notes.append((BAD_UTF8, ""))
        try:
            return self._decode(text, notes)
        except json.JSONDecodeError:
            return None
        except RecursionError:
            return self._shallow(text, notes)
        except ValueError:  # an integer with more digits than the interpreter converts
            return self._shallow(text, notes, MAX_DEPTH)

    def _decode(self, text: str, notes: list[Note]) -> Found:
        self._doubled = False
        exact = not notes
        try:
            value = self._strict.decode(text)
        except json.JSONDecodeError as error:
            if "control character" not in error.msg:
                raise
            value = self._lax.decode(text)
            notes.append((CONTROL, ""))
        if text.count("{") + text.count("[") > MAX_DEPTH and depth_of(value) > MAX_DEPTH:
            raise RecursionError
        if self._doubled:
            notes.append((DUPLICATE_KEYS, ""))
        return value, notes, exact and not self._doubled

    @staticmethod
    def _shallow(text: str, notes: list[Note], depth: int | None = None) -> Found | None:
        try:
            value, reason = shallow(text) if depth is None else shallow(text, depth)
        except ValueError:
            return None
        return value, [*notes, (reason, "")], False
