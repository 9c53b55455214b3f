"""Text as it is compared: letter case does not count."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_ASCII: Final = bytes(range(128))
_SHORT: Final = 48


def folded(text: str) -> str:
    """Text without letter case. Every part of a text is, folded, a part of the folded text."""
    return text.lower() if text.isascii() else text.casefold()


def is_plain(text: str) -> bool:
    """Whether folding changes nothing but ASCII letters, and SQLite can look at all of it: it
    folds those alone, and ends a text at its first NUL."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return _known(beyond) if len(beyond) <= _SHORT else _stays(beyond)


def _stays(beyond: bytes) -> bool:
    said = beyond.decode("utf-8", "surrogatepass")
    return said == said.casefold()


_known = lru_cache(4_096)(_stays)
"""Most texts have a few dashes and quotation marks, and nothing else beyond ASCII."""
