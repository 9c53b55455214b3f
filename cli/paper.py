"""Where a command prints: lines of styled text that fit the terminal, or plain ones in a pipe.

Every text passes `visible` on its way, so nothing that is stored can steer the terminal. Colours
are ours alone, and only on a terminal (none with NO_COLOR, none with TERM=dumb).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import IO, NamedTuple

from .visible import visible

NARROWEST = 20
"""Narrower terminals are treated as if they were this wide. Unit: columns."""

STYLES = {
    "": "",
    "bold": "1",
    "dim": "2",
    "user": "1;36",
    "assistant": "1;32",
    "system": "1;34",
    "tool_result": "33",
    "custom": "36",
    "bash_execution": "33",
    "call": "33",
    "good": "32",
    "bad": "31",
    "warning": "33",
    "label": "35",
    "id": "2",
    "mark": "36",
}


class Span(NamedTuple):
    """Text with the name of a style (a key of STYLES)."""

    text: str
    style: str = ""


Part = str | Span


class Glyphs(NamedTuple):
    """What lines are drawn with."""

    dot: str = "●"
    ring: str = "○"
    cross: str = "✗"
    check: str = "✓"
    branch: str = "├─"
    down: str = "│ "
    elbow: str = "└─"
    rule: str = "─"
    arrow: str = "→"
    ellipsis: str = "…"
    between: str = " · "
    quote: str = "│"


PLAIN_GLYPHS = Glyphs("*", "o", "x", "+", "|-", "| ", "`-", "-", "->", "...", " - ", "|")


class Paper:
    """Prints on one stream. `width` is None where lines are as long as they are (no terminal)."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        is_terminal = self.stream is not None and self.stream.isatty()
        dumb = os.environ.get("TERM") == "dumb"
        self.width: int | None = None
        if is_terminal:
            self.width = max(shutil.get_terminal_size().columns, NARROWEST)
        self.colour = is_terminal and not dumb and not os.environ.get("NO_COLOR")
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        self.glyphs = Glyphs() if _can_write("".join(Glyphs()), encoding) else PLAIN_GLYPHS
        reconfigure = getattr(self.stream, "reconfigure", None)
        if reconfigure is not None:
            # What the encoding lacks is written as an escape; no text makes printing fail.
            reconfigure(errors="backslashreplace")

    # -- writing ---------------------------------------------------------------------------

    def line(self, *parts: Part) -> None:
        """Print one line, as long as it is."""
        if self.colour:
            self._write("".join(self._styled(part) for part in parts))
        else:
            texts = (part if isinstance(part, str) else part.text for part in parts)
            self._write(visible("".join(texts)).replace("\n", " "))

    def cut_line(self, *parts: Part) -> None:
        """Print one line, cut at the terminal's width."""
        if self.width is not None:
            parts = tuple(self._fit(parts, self.width))
        self.line(*parts)

    def block(self, text: str, indent: str = "", style: str = "", first: str | None = None) -> None:
        """Print text of several lines, wrapped at the terminal's width. `first`: another indent
        of the first line."""
        start = indent if first is None else first
        for line in visible(text).split("\n"):
            for piece in (line,) if self.width is None else self._wrap(line, indent):
                self._piece(start, piece, style)
                start = indent

    def rule(self, *parts: Part) -> None:
        """Print a line that divides what is above from what is below."""
        dash = self.glyphs.rule
        if not parts:
            self.line(Span(dash * min(self.width or 72, 72), "dim"))
        else:
            self.cut_line(Span(dash * 2 + " ", "dim"), *parts, Span(" " + dash * 2, "dim"))

    def _piece(self, start: str, piece: str, style: str) -> None:
        """Print a line of a block; `start` and `piece` are visible already."""
        code = STYLES.get(style, "") if self.colour else ""
        before, after = (f"\x1b[{code}m", "\x1b[0m") if code else ("", "")
        self._write(f"{start}{before}{piece}{after}" if piece else start)

    def _write(self, line: str) -> None:
        if self.stream is None:
            return
        if self.glyphs is PLAIN_GLYPHS:
            line = line.replace("…", PLAIN_GLYPHS.ellipsis)
        self.stream.write(line.rstrip(" ") + "\n")

    def _styled(self, part: Part) -> str:
        text, style = (part, "") if isinstance(part, str) else part
        text = visible(text).replace("\n", " ")
        code = STYLES.get(style, "") if self.colour and text else ""
        return f"\x1b[{code}m{text}\x1b[0m" if code else text

    # -- fitting ---------------------------------------------------------------------------

    def _fit(self, parts: tuple[Part, ...], width: int) -> Iterator[Part]:
        spans = [Span(part) if isinstance(part, str) else part for part in parts]
        spans = [Span(one_line_kept(span.text, width), span.style) for span in spans]
        if sum(cell_len(span.text) for span in spans) <= width:
            yield from spans
            return
        mark = self.glyphs.ellipsis
        left = max(width - len(mark), 0)
        for text, style in spans:
            cells = cell_len(text)
            if cells > left:
                yield Span(chop(text, left) + mark[:width], style)
                return
            left -= cells
            yield Span(text, style)

    def cut(self, text: str, width: int) -> str:
        """`text` on one line, at most `width` cells, with an ellipsis where it was cut."""
        text = one_line_kept(text, width)
        if cell_len(text) <= width:
            return text
        mark = self.glyphs.ellipsis
        if width <= len(mark):
            return mark[:width]
        return chop(text, width - len(mark)) + mark

    def _wrap(self, line: str, indent: str) -> Iterator[str]:
        """The pieces of one line. Linear in its length, which is data."""
        width = max((self.width or 0) - cell_len(indent), NARROWEST // 2)
        line = line.expandtabs(4)
        start = 0
        while len(line) - start > width or cell_len(line[start:]) > width:
            head = chop(line[start : start + width + 1], width) or line[start]
            end = start + len(head)
            if end >= len(line):
                break
            if line[end] != " ":
                space = head.rfind(" ")
                if head[: max(space, 0)].strip():
                    end = start + space
            yield line[start:end]
            while line[end : end + 1] == " ":
                end += 1
            start = end
        yield line[start:]


def one_line_kept(text: str, width: int) -> str:
    """`text` without line breaks, made visible; what can never fit in `width` is left off."""
    return visible(text[: width * 8]).replace("\n", " ").replace("\t", " ")


def cell_len(text: str) -> int:
    """How many columns a terminal takes for `text`."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measure

    return measure(text)


def chop(text: str, width: int) -> str:
    """The longest beginning of `text` that takes at most `width` columns."""
    if text[: width + 1].isascii():
        return text[:width]
    taken = 0
    for n, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:n]
    return text


def pad(text: str, width: int) -> str:
    """`text` with spaces behind it up to `width` columns."""
    return text + " " * max(width - cell_len(text), 0)


def _can_write(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
