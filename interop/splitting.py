"""Takes a line apart that holds more than one record, or a record among rubbish.

Records get glued when a writer appends to a line that another one left unfinished, and files get
runs of NUL bytes when a disk lost what was written. The scanner knows strings, so `}{` inside a
text is no seam.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .decoding import Found
from .scan import object_end

MAX_FAILURES: Final = 12
"""Beginnings tried in vain in one line. Each costs at most one scan of the rest of it."""

MAX_VAIN: Final = 1 << 24
"""Bytes scanned in vain after which no more beginnings are tried, of a line of megabytes the
third: what is left of it is kept as it is. Unit: bytes."""

_EMPTY: Final = b" \t\r\n\0"
_FULL = re.compile(rb"[^ \t\r\n\0]")
_BEGINNING = re.compile(rb'\{[ \t\r\n]*"')


@dataclass(slots=True)
class Piece:
    """Part of a line: a record (`found`), or a fragment. `nuls` counts NUL bytes around it."""

    start: int
    end: int
    found: Found | None = None
    nuls: int = 0


def split_line(
    raw: bytes,
    start: int,
    parse: Callable[[bytes], Found | None],
    is_record: Callable[[Any], bool] | None,
) -> list[Piece]:
    """The pieces of `raw` from `start` on; they lie side by side and cover all of it.

    A record begins where the one before it ends. Behind a fragment it is searched for, if
    `is_record` is given, and has to look like a record: an object inside the fragment does not.
    Without it the rest of the line is one fragment.
    """
    pieces: list[Piece] = []
    begin = start
    at = _skip_empty(raw, start)
    failures = vain = 0
    searching = False
    while at < len(raw) and failures < MAX_FAILURES and vain <= MAX_VAIN:
        end, found = _record_at(raw, at, parse)
        if found is not None and (not searching or (is_record is not None and is_record(found[0]))):
            if raw[begin:at].strip(_EMPTY):
                pieces.append(_piece(raw, begin, at, None))
                begin = at
            pieces.append(_piece(raw, begin, end, found))
            begin, at, searching = end, _skip_empty(raw, end), False
            continue
        if is_record is None:
            break
        searching = True
        # An object of the fragment's own is whole: what it holds need not be looked at.
        if found is None:
            failures += 1
            vain += len(raw) - at
        following = _BEGINNING.search(raw, end if found is not None else at + 1)
        if following is None:
            break
        at = following.start()
    return _with_rest(raw, start, begin, pieces)


def _record_at(
    raw: bytes, at: int, parse: Callable[[bytes], Found | None]
) -> tuple[int, Found | None]:
    if raw[at : at + 1] != b"{":
        return at, None
    end = object_end(raw, at)
    return (at, None) if end is None else (end, parse(raw[at:end]))


def _with_rest(raw: bytes, start: int, begin: int, pieces: list[Piece]) -> list[Piece]:
    """Give the end of the line, and what the reader skipped at its start, to a piece."""
    if begin < len(raw):
        if pieces and not raw[begin:].strip(_EMPTY):
            pieces[-1].nuls += raw.count(b"\0", begin)
            pieces[-1].end = len(raw)
        else:
            pieces.append(_piece(raw, begin, len(raw), None))
    if pieces and start:
        pieces[0].start = 0
    return pieces


def _piece(raw: bytes, start: int, end: int, found: Found | None) -> Piece:
    content = raw[start:end]
    around = len(content) - len(content.strip(_EMPTY))
    return Piece(start, end, found, content.count(b"\0") if around else 0)


def _skip_empty(raw: bytes, at: int) -> int:
    found = _FULL.search(raw, at)
    return len(raw) if found is None else found.start()
