"""Small texts that several commands print: calls, contents, counts, ids."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tapefold.domain.content import (
    Content,
    FileBlock,
    ImageBlock,
    OtherBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from .visible import one_line

if TYPE_CHECKING:
    from tapefold.domain.view import Warning

    from .paper import Paper

LONG_TEXT = 8_000
"""Longest text of a message that is printed whole without --full. Unit: characters."""
LONG_RESULT = 12
"""Most lines of a result that are printed without --full."""
SHORT_ID = 6


def count(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def arguments_text(arguments: Any) -> str:
    """The arguments of a call on one line: `path=seeds.csv, lines=3`."""
    if arguments is None or arguments == {}:
        return ""
    if isinstance(arguments, dict):
        return ", ".join(f"{name}={_value(value)}" for name, value in arguments.items())
    return _value(arguments)


def _value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def block_text(block: Any) -> str:
    """What is printed of a block that is no text, thinking or call."""
    if isinstance(block, ImageBlock | FileBlock):
        what = getattr(block, "name", None) or block.mime_type or block.TYPE
        where = block.url or f"{len(block.data or ''):,} characters of base64"
        return f"[{block.TYPE}: {what}, {where}]"
    if isinstance(block, OtherBlock):
        kind = block.value.get("type") if isinstance(block.value, dict) else None
        return f"[{kind or 'a block'}, which is kept and not understood]"
    return f"[{block.TYPE}]"


def content_lines(content: Content) -> str:
    """The text of content in full, other blocks as a word in brackets; no thinking, no calls."""
    parts = []
    for block in content:
        if isinstance(block, TextBlock):
            parts.append(block.text)
        elif not isinstance(block, ThinkingBlock | ToolCallBlock):
            parts.append(block_text(block))
    return "\n".join(parts)


def first_line(text: str, length: int = 100) -> str:
    """The beginning of a text on one line, with an ellipsis where more follows."""
    line = one_line(text[: length * 4])
    return line if len(line) <= length else line[: length - 1] + "…"


def shortened(text: str, full: bool) -> tuple[str, str]:
    """A message's text, cut where it is very long, and what is said of the cut."""
    if full or len(text) <= LONG_TEXT:
        return text, ""
    return text[:LONG_TEXT], f"({len(text):,} characters; --full prints them all)"


def few_lines(text: str, full: bool) -> tuple[str, str]:
    """A result's text, cut after some lines, and what is said of the cut."""
    text, said = shortened(text.strip("\r\n"), full)
    lines = text.split("\n")
    if full or said or len(lines) <= LONG_RESULT + 2:
        return text, said
    rest = len(lines) - LONG_RESULT
    return "\n".join(lines[:LONG_RESULT]), f"({count(rest, 'more line')}; --full prints them)"


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Id to its shortest beginning that no other id has; at least SHORT_ID characters."""
    ordered = sorted(set(ids))
    short = {}
    for n, key in enumerate(ordered):
        near = ordered[max(n - 1, 0) : n] + ordered[n + 1 : n + 2]
        length = max([SHORT_ID, *(_common(key, other) + 1 for other in near)])
        # A beginning that is itself another id, or digits alone, would be taken for that.
        while length < len(key) and (key[:length] in short or key[:length].isdigit()):
            length += 1
        short[key] = key[:length]
    return short


def _common(one: str, other: str) -> int:
    n = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        n += 1
    return n


def some_ids(ids: Sequence[str], short: dict[str, str], most: int = 3) -> str:
    """The first of several ids, and how many more there are."""
    named = ", ".join(short.get(i, i) for i in ids[:most])
    return named if len(ids) <= most else f"{named} and {len(ids) - most} more"


def print_warnings(paper: Paper, warnings: Iterable[Warning]) -> None:
    """The warnings of a view or a context, a line each."""
    from .paper import Span

    for warning in warnings:
        paper.block(warning.text, "  ", "warning", first="! ")
        if untold := [one for one in warning.entry_ids if one not in warning.text]:
            paper.cut_line("  ", Span(", ".join(untold), "dim"))
