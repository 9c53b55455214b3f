"""The one reader for line-based files: JSON values from bytes, however damaged.

Lines are split on byte 0x0A alone. A line that cannot be read never hides the next one, and
nothing in the content raises. Memory is bounded by the longest line (and 1 MiB of look-ahead).

What is put right on the way is told in the notes of each line: see the codes below. What cannot
be put right comes out with a `problem` and its bytes. A record whose string a line break has cut,
and which the end of the file has cut too, is a torn tail: what comes may complete it. The ranges
of all lines lie side by side and cover the file.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from .decoding import Decoder
from .jsontext import PlainReader
from .line import BLANK, BOM, CONTROL, CRLF, GLUED, NULS, RAW_NEWLINE, TORN, UNREADABLE, Line, Note
from .scan import Balance
from .splitting import Piece, split_line

MAX_LOOKAHEAD: Final = 1 << 20
"""How far a string that a line break cut is followed. Unit: bytes."""

MAX_LINES_AHEAD: Final = 32

BATCH: Final = 1 << 17
"""How much is read at once, and the line after it to its end. Unit: bytes."""

FREE_LOOKS: Final = 10_000
LOOKS_A_LINE: Final = 2
"""Lines that may be looked ahead at in all: so many, and so many more for each line read. A file
full of broken strings is read in linear time."""

_BOM: Final = b"\xef\xbb\xbf"
_BLANKS: Final = b" \t\r\n"
_EMPTY: Final = b" \t\r\n\0"


class LineReader:
    """Iterates over the lines of a file, or of bytes. `end` is how far it has read.

    `is_record` tells objects that are records of the format; it is asked only about objects
    found in the rest of a broken line.
    """

    def __init__(
        self,
        source: bytes | BinaryIO,
        is_record: Callable[[Any], bool] | None = None,
        limit: int | None = None,
    ) -> None:
        self._source = io.BytesIO(source) if isinstance(source, bytes) else source
        self._is_record = is_record or (lambda value: isinstance(value, dict))
        self._left = limit
        self._batch: Iterator[bytes] = iter(())
        self._ahead: deque[tuple[int, int, bytes]] = deque()
        self._number = 0
        self._looked = 0
        self._crlf_seen = False
        self._decoder = Decoder()
        self._read_plain = PlainReader().read
        self.end = 0

    def __iter__(self) -> Iterator[Line]:
        read_plain = self._read_plain
        while (physical := self._next()) is not None:
            number, start, raw = physical
            plain = read_plain(raw)
            if plain is not None and (self._crlf_seen or not raw.endswith(b"\r\n")):
                yield Line(number, start, start + len(raw), plain.value, None, (), None, plain)
            else:
                yield from self._read(number, start, raw)

    def _next(self) -> tuple[int, int, bytes] | None:
        if self._ahead:
            return self._ahead.popleft()
        raw = next(self._batch, b"") or self._more()
        if not raw:
            return None
        start = self.end
        self.end = start + len(raw)
        self._number += 1
        return self._number, start, raw

    def _more(self) -> bytes:
        """The next line of the source. Where it is known how far to read, some are read at once."""
        if self._left is None:
            return self._source.readline()
        if self._left <= 0:
            return b""
        lines = self._source.readlines(min(BATCH, self._left))
        self._left -= sum(map(len, lines))
        if self._left < 0:
            lines[-1] = lines[-1][: self._left]
        self._batch = iter(lines)
        return next(self._batch, b"")

    def _may_look(self) -> bool:
        """Take one of the looks ahead, if one is left."""
        self._looked += 1
        return self._looked <= FREE_LOOKS + LOOKS_A_LINE * self._number

    def _read(self, number: int, start: int, raw: bytes) -> Iterator[Line]:
        notes: list[Note] = []
        skipped = 0
        if start == 0 and raw.startswith(_BOM):
            notes.append((BOM, ""))
            skipped = len(_BOM)
        if not self._crlf_seen and raw.endswith(b"\r\n"):
            self._crlf_seen = True
            notes.append((CRLF, ""))
        end = start + len(raw)
        if not raw[skipped:].strip(_BLANKS):
            yield Line(number, start, end, None, BLANK, tuple(notes))
            return
        whole = raw.endswith(b"\n")
        line = self._value(number, start, raw, skipped, notes)
        if line is not None and (whole or isinstance(line.value, dict | list)):
            yield line
            return
        yield from self._salvage(number, start, raw, skipped, notes)

    def _value(
        self, number: int, start: int, raw: bytes, skipped: int, notes: list[Note]
    ) -> Line | None:
        """A line whose content from `skipped` on is one JSON value."""
        found = self._decoder.read(raw[skipped:] if skipped else raw)
        if found is None:
            return None
        value, more, exact = found
        return Line(
            number,
            start,
            start + len(raw),
            value,
            None,
            (*notes, *more),
            None if exact else raw[skipped:].strip(_EMPTY),
        )

    # -- damaged lines ---------------------------------------------------------------------

    def _salvage(
        self, number: int, start: int, raw: bytes, skipped: int, notes: list[Note]
    ) -> Iterator[Line]:
        whole = raw.endswith(b"\n")
        pieces = split_line(raw, skipped, self._decoder.read, self._is_record if whole else None)
        records = [piece for piece in pieces if piece.found is not None]
        if not records and whole:
            joined = self._join(number, start, raw, skipped, notes)
            if joined is not None:
                yield joined
                return
        if not records:
            problem = UNREADABLE if whole else TORN
            if not raw[skipped:].strip(_EMPTY):
                notes = [*notes, (NULS, f"{len(raw) - skipped} bytes")]
            yield Line(number, start, start + len(raw), None, problem, tuple(notes), raw[skipped:])
            return
        yield from self._pieces(number, start, raw, pieces, notes, len(records))

    def _pieces(
        self,
        number: int,
        start: int,
        raw: bytes,
        pieces: list[Piece],
        notes: list[Note],
        records: int,
    ) -> Iterator[Line]:
        """The records of one line, and the fragments between them."""
        alone = len(pieces) == 1
        for piece in pieces:
            more = list(notes)
            notes = []
            if piece.nuls:
                more.append((NULS, f"{piece.nuls} bytes"))
            begin, end = start + piece.start, start + piece.end
            content = raw[piece.start : piece.end]
            if piece.found is None:
                last = piece is pieces[-1] and not raw.endswith(b"\n")
                yield Line(
                    number, begin, end, None, TORN if last else UNREADABLE, tuple(more), content
                )
                continue
            if not alone:
                more.append((GLUED, f"{records} record(s) recovered from one line"))
            value, found, exact = piece.found
            yield Line(
                number,
                begin,
                end,
                value,
                None,
                (*more, *found),
                None if exact else content.strip(_EMPTY),
            )

    def _join(
        self, number: int, start: int, raw: bytes, skipped: int, notes: list[Note]
    ) -> Line | None:
        """The record that goes on in the next lines, because a line break stands in a string."""
        balance = Balance()
        if not raw[skipped:].lstrip(_EMPTY).startswith(b"{") or len(raw) > MAX_LOOKAHEAD:
            return None
        if balance.feed(raw, skipped) is not None or not balance.in_string:
            return None
        taken: list[tuple[int, int, bytes]] = []
        parts = [raw]
        size = len(raw)
        line: Line | None = None
        while len(taken) < MAX_LINES_AHEAD and size <= MAX_LOOKAHEAD and self._may_look():
            physical = self._next()
            if physical is None:
                torn = b"".join(parts)
                return Line(number, start, start + size, None, TORN, tuple(notes), torn[skipped:])
            taken.append(physical)
            following = physical[2]
            alone = self._decoder.read(following)
            if alone is not None and isinstance(alone[0], dict):
                break  # a record of its own: the line before it just broke off
            parts.append(following)
            size += len(following)
            if balance.feed(following) is not None:
                line = self._value(number, start, b"".join(parts), skipped, notes)
                break
        if line is None or not isinstance(line.value, dict):
            self._ahead.extendleft(reversed(taken))
            return None
        others = tuple(note for note in line.notes if note[0] != CONTROL)
        line.notes = (*others, (RAW_NEWLINE, f"{len(parts)} lines are one record"))
        return line
