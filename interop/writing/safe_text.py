"""Text of a session as Markdown that cannot break the document around it.

Code blocks of the text are written anew, with fences that nothing in them ends. Outside of code
no HTML, no heading, no remote picture, no hidden definition and no link to a program is left;
the words stay. Control characters are shown, never sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_OPENS: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=#?[A-Za-z0-9]+;)")
_BLOCK: Final = re.compile(
    r"^(\s*(?:(?:[-*+>]|\d{1,9}[.)])\s*)*)(#{1,6}(?=\s|$)|`{3,}|~{3,}|\[(?=[^\]]*\]:))"
)
_RULE: Final = re.compile(r"^(\s{0,3})([-=*_])((?:\s*\2)*\s*)$")
_LINK: Final = re.compile(r"\]\((?!\s*(?:https?://|mailto:|#|\.{0,2}/|[\w-]+(?:[./)#\s]|$)))")
_PUNCTUATION: Final = re.compile(r"([\\`*_\[\]<>#!|~&])")


def visible(text: str) -> str:
    """The text with control characters, half characters and the like as `\\x1b`, `\\u202e`."""
    return _HIDDEN.sub(lambda found: _escape(ord(found.group())), text)


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def inline(text: str) -> str:
    """Text on one line, in which nothing is Markdown."""
    return _PUNCTUATION.sub(r"\\\1", visible(" ".join(text.split())))


def code(text: str) -> str:
    """Text on one line, as code."""
    shown = visible(" ".join(text.split())) or " "
    ticks = "`" * (_longest(shown, "`") + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fenced(text: str, language: str = "") -> Iterator[str]:
    """The lines of a code block that nothing in the text ends."""
    shown = visible(text.replace("\r\n", "\n"))
    fence = "`" * max(3, _longest(shown, "`") + 1)
    yield fence + re.sub(r"[^\w+#.-]", "", language)[:40]
    yield from shown.split("\n")
    yield fence


def _longest(text: str, character: str) -> int:
    runs = re.findall(f"{re.escape(character)}+", text)
    return max(map(len, runs), default=0)


def prose(text: str) -> Iterator[str]:
    """The lines of a text that is Markdown already, made safe."""
    lines = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        opened = _OPENS.match(lines[at])
        end = None if opened is None else _closing(lines, at, opened.group(1))
        if opened is None or end is None:
            yield _safe_line(lines[at])
            at += 1
            continue
        language = opened.group(2).split()
        yield from fenced("\n".join(lines[at + 1 : end]), language[0] if language else "")
        at = end + 1


def _closing(lines: list[str], at: int, fence: str) -> int:
    """The line that ends a code block; the end of the text, where none does."""
    closes = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    return next((n for n in range(at + 1, len(lines)) if closes.match(lines[n])), len(lines))


def _safe_line(line: str) -> str:
    line = visible(line)
    line = _ENTITY.sub("&amp;", line)
    line = _TAG.sub("&lt;", line)
    line = _LINK.sub(r"]\(", line).replace("![", r"!\[")
    line = _BLOCK.sub(r"\1\\\2", line)
    return _RULE.sub(r"\1\\\2\3", line)
