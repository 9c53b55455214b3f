"""What two texts have in common, line by line and then word by word. Near linear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .alignment import align

SAME: Final = "="
ONLY_A: Final = "-"
ONLY_B: Final = "+"

LONGEST_HUNK: Final = 20_000
"""Lines that differ are compared word by word up to this length of both. Unit: characters."""
ALIKE: Final = 0.3
"""Where less than this part of a hunk is the same in both, it is told as a whole."""

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A part of the texts. `op`: `=` in both, `-` only in the first, `+` only in the second."""

    op: str
    text: str


def diff_texts(a: str, b: str) -> tuple[Piece, ...]:
    """The pieces of two texts. Those of `=` and `-` give the first, of `=` and `+` the second."""
    lines_a, lines_b = a.splitlines(keepends=True), b.splitlines(keepends=True)
    pieces: list[Piece] = []
    for op, part_a, part_b in _hunks(lines_a, lines_b):
        old, new = "".join(lines_a[slice(*part_a)]), "".join(lines_b[slice(*part_b)])
        if op == SAME:
            pieces.append(Piece(SAME, old))
        elif old and new and len(old) + len(new) <= LONGEST_HUNK:
            pieces.extend(_words(old, new))
        else:
            pieces.extend(Piece(o, text) for o, text in ((ONLY_A, old), (ONLY_B, new)) if text)
    return tuple(_joined(pieces))


def _words(old: str, new: str) -> Iterator[Piece]:
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    pieces = []
    for op, part_a, part_b in _hunks(a, b):
        texts = (SAME, a, part_a), (ONLY_A, a, part_a), (ONLY_B, b, part_b)
        for kind, tokens, part in texts[:1] if op == SAME else texts[1:]:
            text = "".join(tokens[slice(*part)])
            if text:
                pieces.append(Piece(kind, text))
    same = sum(len(p.text.strip()) for p in pieces if p.op == SAME)
    if same < ALIKE * max(len(old.strip()), len(new.strip())):
        pieces = [Piece(ONLY_A, old), Piece(ONLY_B, new)]
    yield from pieces


def _hunks(
    a: Sequence[str], b: Sequence[str]
) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Runs of items that are the same (`=`) or differ (`-`), with their ranges in both."""
    i = j = 0
    pairs = align(a, b)
    at = 0
    while at < len(pairs):
        x, y = pairs[at]
        if (x, y) != (i, j):
            yield ONLY_A, (i, x), (j, y)
        length = 1
        while at + length < len(pairs) and pairs[at + length] == (x + length, y + length):
            length += 1
        yield SAME, (x, x + length), (y, y + length)
        i, j, at = x + length, y + length, at + length
    if (i, j) != (len(a), len(b)):
        yield ONLY_A, (i, len(a)), (j, len(b))


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbours of one kind as one piece, what was taken away before what came."""
    same, old, new = "", "", ""
    for op, text in pieces:
        if op == SAME:
            yield from (Piece(o, t) for o, t in ((ONLY_A, old), (ONLY_B, new)) if t)
            old = new = ""
            same += text
        else:
            if same:
                yield Piece(SAME, same)
                same = ""
            old, new = (old + text, new) if op == ONLY_A else (old, new + text)
    yield from (Piece(o, t) for o, t in ((SAME, same), (ONLY_A, old), (ONLY_B, new)) if t)
