"""JSON text of plain records, fast: the value of a line, and the texts that are made of it.

The standard codec holds whatever came in, and costs more than all the rest of an import. A line
that passes the checks here is read and written by a faster one, which gives the same values, the
same stored text and the same digests for it; for any other line the answer is None, and the
careful path (`decoding.py`, `domain/jsonvalues.py`) takes it.

What the fast codec would do otherwise, and how it is kept out:

* it raises on lone surrogates, NaN, infinities and unescaped control characters: careful path;
* it writes small and big floats in another way than Python (`0.00003`, `1e-05`): where texts are
  made, what Python writes stands in place of such a float;
* it lets the last of two equal keys win: the keys of the line and of the value are counted.
"""

from __future__ import annotations

import codecs
import math
import re
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, Final

import msgspec

from .scan import MAX_DEPTH, depth_of

MAX_DIGITS: Final = 4300
"""A whole number in a longer run of digits is left to the careful path. Unit: digits."""

# Only where a run of digits begins: else a line full of long runs is searched once for each digit.
_LONG_DIGITS = re.compile(b"[0-9](?<![0-9][0-9])[0-9]{%d}" % (MAX_DIGITS - 1))
_KEY_END: Final = b'":'
# A key's end or its quote could be written in another way; then keys cannot be counted.
_UNCOUNTABLE: Final = (b" :", b"\\u002", b"\\u003", b"\t:", b"\r:")

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


# The bytes that begin characters which Python's own escapes write with two digits, or with eight.
_OTHER_DIGITS: Final = (b"\xc2", b"\xc3", b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
_ESCAPES: Final = "tapefold-json-escapes"
codecs.register_error(_ESCAPES, _escaped)


class PlainReader:
    """Reads lines that hold one plain JSON object."""

    def __init__(self) -> None:
        self._is_odd = False
        self._gain = 0
        self._decode = msgspec.json.Decoder(float_hook=self._float).decode

    def _float(self, text: str) -> float | msgspec.Raw:
        """A float; where the fast codec would not write it as Python does, what Python writes."""
        value = float(text)
        if 1e-4 <= value < 1e16 or not value or -1e16 < value <= -1e-4:
            if "e" in text or "E" in text:
                self._gain += len(text) - len(repr(value))
            return value
        if math.isinf(value):
            raise ValueError(text)
        ours = repr(value)
        self._is_odd = True
        self._gain += len(text) - len(ours)
        return msgspec.Raw(ours.encode())

    def read(self, line: bytes) -> Plain | None:
        """The object of a line, and what its texts are made with; None for the careful path."""
        self._is_odd = False
        self._gain = 0
        try:
            written = self._decode(line)
            text = _encode_sorted(written)
            value = _decode(line) if self._is_odd else written
        except (ValueError, RecursionError):  # msgspec's own errors are ValueErrors
            return None
        size = len(line)
        # Nothing is written longer than it was, but for the numbers that were noticed. So where
        # the lengths agree, no key was lost, and no blank stands between.
        if len(text) + self._gain != size - 1 and not _says_all(text, line):
            return None
        if size > 2 * MAX_DEPTH and line.count(b"{") + line.count(b"[") > MAX_DEPTH < depth_of(
            value
        ):
            return None
        return Plain(value, written, text) if type(value) is dict else None


def _says_all(text: bytes, line: bytes) -> bool:
    """Whether what was read certainly has all keys of the line, and no number that is too long."""
    if any(sign in line for sign in _UNCOUNTABLE):
        return False
    if len(line) > MAX_DIGITS and _LONG_DIGITS.search(line):
        return False
    return text.count(_KEY_END) == line.count(_KEY_END)


class Plain:
    """A plain record.

    `value` is what the line says; `written` is the same with odd numbers as they are written: what
    texts are made of.
    """

    __slots__ = ("_text", "has_delete", "value", "written")

    def __init__(self, value: dict[str, Any], written: dict[str, Any], text: bytes) -> None:
        self.value = value
        self.written = written
        self._text = text
        self.has_delete = b"\x7f" in text
        """Whether the character DEL stands in it, which only Python escapes."""

    def digest(self) -> str:
        """The digest of the record, as `jsonvalues.digest` makes it."""
        return _digest(self._text, self.has_delete)

    def digest_of(self, written: dict[str, Any]) -> str:
        """The same of an object that is made of parts of the record, and of ids."""
        return _digest(_encode_sorted(written), self.has_delete)


text_of = _encode
"""The stored text of an object that is made of parts of a plain record, and of plain text."""


def _digest(text: bytes, has_delete: bool) -> str:
    if not text.isascii():
        errors = "backslashreplace"
        for lead in _OTHER_DIGITS:
            if lead in text:
                errors = _ESCAPES
                break
        text = text.decode().encode("ascii", errors)
    if has_delete:
        text = text.replace(b"\x7f", b"\\u007f")
    return sha256(text).hexdigest()[:32]
