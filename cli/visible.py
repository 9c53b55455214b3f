"""Stored text for a terminal: control characters are made visible, never sent.

One rule for every text that a session brings in: C0 and C1 control characters, DEL, the
characters that turn the direction of text, and the Unicode line separators are written as
escapes (`\\x1b`, `\\u202e`); lone surrogates, which no encoding can write, become U+FFFD. Line
breaks and tabs stay where the layout has several lines.
"""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"

_SURROGATES = "\ud800-\udfff"
# 061C, 200E, 200F, 202A-202E, 2066-2069: direction of text. 2028, 2029: line separators.
_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069" + _SURROGATES
_ANY = re.compile(f"[{_HIDDEN}]")
_LONE = re.compile(f"[{_SURROGATES}]")


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return REPLACEMENT
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(text: str) -> str:
    """`text` for a layout of several lines: line breaks and tabs stay, CRLF becomes LF."""
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return _ANY.sub(_escape, text)


def one_line(text: str) -> str:
    """`text` for a layout of one line: white space becomes single spaces."""
    return _ANY.sub(_escape, " ".join(text.split()))


def without_surrogates(text: str) -> str:
    """`text` with U+FFFD in the place of lone surrogates; all else stays."""
    return _LONE.sub(REPLACEMENT, text)
