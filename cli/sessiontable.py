"""Sessions in a table, or two lines each where the terminal is narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .moments import day_and_time
from .paper import Paper, Part, Span, cell_len
from .visible import one_line
from .words import count

if TYPE_CHECKING:
    from .listed import Listed

NARROW = 70
"""Below this many columns a session takes two lines."""
LEAST = 12
"""Where less of the last column has room, it is left out. Unit: columns."""
WIDE = 120
"""From this many columns on size and model have a column. Unit: columns."""
WIDEST = 150
"""From this many columns on tokens and cost have one, where they are known. Unit: columns."""

_COLUMNS = (
    "SESSION",
    "MESSAGES",
    "LAST ACTIVITY",
    "SIZE",
    "MODEL",
    "TITLE OR FIRST WORDS",
    "WHERE",
    "TOKENS",
    "COST",
)
_STYLES = ("mark", "", "dim", "dim", "", "", "dim", "dim", "")
_TO_THE_RIGHT = (1, 3, 7, 8)
_ALL = (0, 1, 2, 3, 4, 7, 8, 5, 6)
_MORE = (0, 1, 2, 3, 4, 5, 6)
_LESS = (0, 1, 2, 5, 6)


def print_sessions(paper: Paper, listed: Sequence[Listed]) -> None:
    """Print all, with what was searched for below each."""
    if paper.width is not None and paper.width < NARROW:
        for one in listed:
            paper.cut_line(Span(title_of(one), style_of(one) or "bold"))
            paper.cut_line("  ", Span(facts_of(paper, one), "dim"))
            _print_match(paper, one)
        return
    columns = _columns(paper, listed)
    rows = [[_fitted(paper, n, row[n]) for n in columns] for row in map(_row, listed)]
    rows.insert(0, [_COLUMNS[n] for n in columns])
    widths = [max(cell_len(row[n]) for row in rows) for n in range(len(columns))]
    shown = _fitting(widths, paper.width)
    rows, widths, columns = [row[:shown] for row in rows], widths[:shown], columns[:shown]
    for n, row in enumerate(rows):
        paper.cut_line(*_parts(row, columns, widths, "bold" if n == 0 else ""))
        if n:
            _print_match(paper, listed[n - 1])


def _columns(paper: Paper, listed: Sequence[Listed]) -> Sequence[int]:
    """Those that have room; tokens and cost only where some session's are known."""
    width = WIDEST if paper.width is None else paper.width
    if width >= WIDEST and any(one.spent is not None for one in listed):
        return _ALL
    return _MORE if width >= WIDE else _LESS


def _fitting(widths: Sequence[int], width: int | None) -> int:
    """How many columns are shown: the last is left out while little of it has room."""
    shown = len(widths)
    while width is not None and shown > 1:
        before = sum(widths[: shown - 1]) + 2 * (shown - 1)
        if width - before >= min(widths[shown - 1], LEAST):
            break
        shown -= 1
    return shown


def _parts(
    row: Sequence[str], columns: Sequence[int], widths: Sequence[int], style: str
) -> Iterator[Part]:
    for n, text in enumerate(row):
        if n:
            yield "  "
        column = columns[n]
        space = " " * (widths[n] - cell_len(text))
        if column in _TO_THE_RIGHT:
            yield space
        yield Span(text, style or _STYLES[column])
        if column not in _TO_THE_RIGHT and n < len(row) - 1:
            yield space


def _fitted(paper: Paper, column: int, text: str) -> str:
    text = one_line(text)
    if paper.width is None:
        return text
    if column == 0:
        return from_the_end(paper, text, max(paper.width // 4, 16))
    if column == 4:
        return paper.cut(text, max(paper.width // 6, 12))
    return paper.cut(text, max(paper.width * 2 // 5, 16)) if column == 5 else text


def _row(one: Listed) -> tuple[str, ...]:
    where = one.directory or ""
    if one.parent is not None:
        where = f"fork of {one.parent} at {one.parent_position}" + (where and f", {where}")
    return (
        one.session_id,
        "" if one.problem else f"{one.messages:,}{'' if one.parent is None else ' own'}",
        day_and_time(one.last_activity),
        "" if one.problem else size_text(one.size),
        one.model or "",
        title_of(one),
        where,
        "" if one.spent is None else tokens_text(sum(one.spent[:4])),
        "" if one.spent is None else cost_text(one.spent.cost),
    )


def _print_match(paper: Paper, one: Listed) -> None:
    match = one.match
    if match is None or match.position is None:
        return
    where = f"#{match.position} {(match.role or '').replace('_', ' ')}"
    paper.cut_line(Span(f"  {paper.glyphs.elbow} {where}: ", "dim"), match.text)


def title_of(one: Listed) -> str:
    """What stands for a session in a list. Behind the mark of one that is parked all is as it was
    before that position."""
    if one.problem is not None:
        return f"(unreadable: {one.problem.split('; ')[0]})"
    mark = "" if one.parked is None else f"(parked at {one.parked.position}) "
    return mark + (one.title or one.first_words or "(no words yet)")


def style_of(one: Listed) -> str:
    """How that is shown."""
    return "bad" if one.problem else "warning" if one.parked else ""


def messages_text(one: Listed) -> str:
    """How many messages began on its tape; of a fork those are not all that it shows."""
    own = "" if one.parent is None else "own "
    return "" if one.problem else count(one.messages, f"{own}message")


def facts_of(paper: Paper, one: Listed) -> str:
    """The facts of a session on one line, for narrow terminals."""
    facts = [
        from_the_end(paper, one.session_id, max((paper.width or 40) // 2, 8)),
        messages_text(one),
        day_and_time(one.last_activity),
    ]
    if one.parent is not None:
        facts.append(f"fork of {one.parent}")
    return paper.glyphs.between.join(fact for fact in facts if fact)


def size_text(size: int) -> str:
    """`812 B`, `4.2 KB`, `12 MB`: bytes, thousands of them, millions."""
    amount = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def tokens_text(tokens: int) -> str:
    """`812`, `4.2k`, `12M`: tokens, thousands, millions, billions of them; none: nothing."""
    if not tokens:
        return ""
    amount = float(tokens)
    for unit in ("", "k", "M", "G"):
        if amount < 1000 or unit == "G":
            break
        amount /= 1000
    return f"{amount:.0f}{unit}" if not unit or amount >= 10 else f"{amount:.1f}{unit}"


def cost_text(cost: float) -> str:
    """`12.34`, `0.0042`: in the provider's own currency, four places below one; none: nothing."""
    if not cost:
        return ""
    return f"{cost:,.2f}" if cost >= 1 else f"{max(cost, 0.0001):.4f}"


def from_the_end(paper: Paper, session_id: str, width: int) -> str:
    """An id that is too long, by its end: ids that were made one after the other begin alike,
    and an end names a session as well as a beginning does."""
    if len(session_id) <= width:
        return session_id
    mark = paper.glyphs.ellipsis
    return mark + session_id[len(mark) - width :]
