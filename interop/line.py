"""A line of a file: a record, or what stands where one should be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .jsontext import Plain

# Problems: why a line has no value.
BLANK: Final = "blank_line"
TORN: Final = "torn_tail"
UNREADABLE: Final = "unreadable_line"

# Notes: what was put right.
BOM: Final = "byte_order_mark"
CRLF: Final = "crlf"
NULS: Final = "nul_run"
GLUED: Final = "glued_records"
RAW_NEWLINE: Final = "raw_newline"
CONTROL: Final = "control_characters"
BAD_UTF8: Final = "invalid_utf8"
DUPLICATE_KEYS: Final = "duplicate_keys"

Note = tuple[str, str]
"""A code, and a detail in words (or nothing)."""


@dataclass(slots=True)
class Line:
    """One record of the file, or what stands where a record should be.

    Attributes:
        number: the line of the file (1, 2, …) in which it begins.
        start, end: its bytes, end excluded, line break included.
        value: the JSON value, when `problem` is None.
        problem: `blank_line`, `torn_tail` (the last line, not yet whole) or `unreadable_line`.
        notes: what was put right.
        raw: the bytes as they stand, where the value does not say all of them: it was not
            taken over whole, had undecodable bytes or doubled keys, or there is no value.
        plain: what the value's texts are made with, where the fast codec has read it.
    """

    number: int
    start: int
    end: int
    value: Any = None
    problem: str | None = None
    notes: tuple[Note, ...] = ()
    raw: bytes | None = None
    plain: Plain | None = field(default=None, compare=False, repr=False)

    @property
    def has_value(self) -> bool:
        """Whether there is a JSON value."""
        return self.problem is None


def encoding_of(first: bytes) -> str | None:
    """The name of the encoding, where the first bytes of a file show one that is not UTF-8."""
    for mark, name in (
        (b"\xff\xfe\0\0", "UTF-32 (little endian)"),
        (b"\0\0\xfe\xff", "UTF-32 (big endian)"),
        (b"\xff\xfe", "UTF-16 (little endian)"),
        (b"\xfe\xff", "UTF-16 (big endian)"),
    ):
        if first.startswith(mark):
            return name
    sample = first[: len(first) // 2 * 2]
    for text, nuls, name in (
        (sample[0::2], sample[1::2], "UTF-16 (little endian)"),
        (sample[1::2], sample[0::2], "UTF-16 (big endian)"),
    ):
        # ASCII in UTF-16: every other byte is zero, and the others are not.
        if len(text) >= 2 and not any(nuls) and b"\0" not in text:
            return name
    return None
