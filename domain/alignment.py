"""Aligning two sequences: which items of the one are which of the other, in order.

Patience, then brute force in the small: what is equal at both ends is taken; between them the
items that stand once on either side are anchors, as long as they keep their order; the same again
between the anchors. Gaps without anchors are searched through where they are small, and taken
for different where they are not. So the work stays near linear, whatever is compared: a plain
longest common subsequence costs the product of the lengths.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

SEARCHED: Final = 6_400
"""A gap is searched through while the product of its lengths is at most this."""
ROUNDS: Final = 24
"""How often the gaps between anchors are divided by anchors of their own."""


class _Range(NamedTuple):
    """A part of both sequences, and how often it was divided before."""

    a: int
    a_end: int
    b: int
    b_end: int
    rounds: int


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The pairs of indices of equal items, both rising."""
    pairs: list[tuple[int, int]] = []
    todo = [_Range(0, len(a), 0, len(b), 0)]
    while todo:
        part = _trimmed(a, b, todo.pop(), pairs)
        if part.a == part.a_end or part.b == part.b_end:
            continue
        anchors = _anchors(a, b, part) if part.rounds < ROUNDS else []
        if anchors:
            todo.extend(_between(part, anchors))
            pairs.extend(anchors)
        elif (part.a_end - part.a) * (part.b_end - part.b) <= SEARCHED:
            pairs.extend(_longest_common(a, b, part))
    pairs.sort()
    return pairs


def _trimmed(
    a: Sequence[Hashable], b: Sequence[Hashable], part: _Range, pairs: list[tuple[int, int]]
) -> _Range:
    """The part without what is equal at its ends; that is added to `pairs`."""
    start, end, other, other_end, rounds = part
    while start < end and other < other_end and a[start] == b[other]:
        pairs.append((start, other))
        start += 1
        other += 1
    while start < end and other < other_end and a[end - 1] == b[other_end - 1]:
        end -= 1
        other_end -= 1
        pairs.append((end, other_end))
    return _Range(start, end, other, other_end, rounds)


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], part: _Range) -> list[tuple[int, int]]:
    """Pairs of items that stand once on either side: the longest run of them in order."""
    in_a = Counter(a[part.a : part.a_end])
    in_b = Counter(b[part.b : part.b_end])
    place = {b[j]: j for j in range(part.b, part.b_end) if in_b[b[j]] == 1}
    common = [
        (i, place[a[i]]) for i in range(part.a, part.a_end) if in_a[a[i]] == 1 and a[i] in place
    ]
    return longest_rising(common)


def longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of pairs whose first numbers rise the longest selection whose second numbers rise too."""
    tails: list[int] = []  # the smallest last number of a selection of each length
    ends: list[int] = []  # and the index of its pair
    before: list[int] = []
    for n, (_, second) in enumerate(pairs):
        at = bisect_left(tails, second)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [second]
        ends[at : at + 1] = [n]
    chosen: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chosen.append(pairs[n])
        n = before[n]
    chosen.reverse()
    return chosen


def _between(part: _Range, anchors: Sequence[tuple[int, int]]) -> list[_Range]:
    gaps = []
    i, j = part.a, part.b
    for at, other in (*anchors, (part.a_end, part.b_end)):
        if at > i and other > j:
            gaps.append(_Range(i, at, j, other, part.rounds + 1))
        i, j = at + 1, other + 1
    return gaps


def _longest_common(
    a: Sequence[Hashable], b: Sequence[Hashable], part: _Range
) -> list[tuple[int, int]]:
    """The longest common subsequence of a small part."""
    height, width = part.a_end - part.a, part.b_end - part.b
    rest = [[0] * (width + 1) for _ in range(height + 1)]
    for i in range(height - 1, -1, -1):
        for j in range(width - 1, -1, -1):
            if a[part.a + i] == b[part.b + j]:
                rest[i][j] = rest[i + 1][j + 1] + 1
            else:
                rest[i][j] = max(rest[i + 1][j], rest[i][j + 1])
    found = []
    i = j = 0
    while i < height and j < width:
        if a[part.a + i] == b[part.b + j]:
            found.append((part.a + i, part.b + j))
            i += 1
            j += 1
        elif rest[i + 1][j] >= rest[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
