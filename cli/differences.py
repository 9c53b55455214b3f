"""A comparison of two views, printed: what only one has, what changed, what both have counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tapefold.domain.comparison import CALLS, CHANGED, ONLY_A, ONLY_B, PLACE, RESTORED, STRUCK, TEXT
from tapefold.domain.outline import with_command
from tapefold.domain.textdiff import ONLY_A as TAKEN
from tapefold.domain.textdiff import SAME

from .paper import Paper, Part, Span
from .words import arguments_text, content_lines, count, few_lines, first_line, shortened

if TYPE_CHECKING:
    from tapefold import Call, Item, View
    from tapefold.domain.comparison import CallDifference, Comparison, Difference
    from tapefold.domain.textdiff import Piece

AROUND = 120
"""How much of what is the same is shown beside a change, without --full. Unit: characters."""
INDENT = "  "

_MARKS = {
    ONLY_A: ("-", "bad"),
    ONLY_B: ("+", "good"),
    CHANGED: ("~", "warning"),
    STRUCK: ("x", "bad"),
    RESTORED: ("+", "good"),
}
_SAID = {STRUCK: "  (struck out in B)", RESTORED: "  (struck out in A)"}
_COUNTED = {
    ONLY_A: "only in A",
    ONLY_B: "only in B",
    CHANGED: "changed",
    STRUCK: "struck out",
    RESTORED: "restored",
}


def print_comparison(paper: Paper, comparison: Comparison, full: bool) -> None:
    """Print all that differs, in the order of the views."""
    same_session = comparison.a.session_id == comparison.b.session_id
    for name, view, style in (("A", comparison.a, "bad"), ("B", comparison.b, "good")):
        paper.cut_line(Span(f"{name}  ", style), *_where(paper, view, comparison, same_session))
    if not comparison:
        paper.block(f"no difference; {count(comparison.same, 'message')} the same")
        return
    if comparison.common:
        paper.block(f"{count(comparison.common, 'message')} in common, then:", style="dim")
    for difference in comparison.differences:
        if not difference.in_its_call:
            _print_difference(paper, comparison, difference, full)
    paper.line()
    _print_rest(paper, comparison)
    paper.block(_summary(comparison), style="dim")


def _where(paper: Paper, view: View, comparison: Comparison, same_session: bool) -> Iterator[Part]:
    between = paper.glyphs.between
    if not same_session:
        yield Span(view.session_id, "bold")
        yield Span(between, "dim")
    yield f"position {view.position}{between}leaf {view.leaf or 'none'}"
    yield Span(f"{between}{count(len(view.messages), 'message')}", "dim")


def _summary(comparison: Comparison) -> str:
    """How many messages of each kind, results that stand with their calls included, as the head
    counts them; then how many other entries, such as compactions."""
    messages, others = dict.fromkeys(_COUNTED, 0), dict.fromkeys(_COUNTED, 0)
    for found in comparison.differences:
        sides = (side for side in (found.a, found.b) if side is not None)
        is_message = any(side.message is not None for side in sides)
        (messages if is_message else others)[found.op] += 1
    said = ", ".join([*_counts(messages), f"{comparison.same} the same"])
    rest = ", ".join(_counts(others))
    return f"{said}; other entries: {rest}" if rest else said


def _counts(numbers: dict[str, int]) -> Iterator[str]:
    yield from (f"{number} {_COUNTED[op]}" for op, number in numbers.items() if number)


# -- entries -----------------------------------------------------------------------------------


def _print_difference(
    paper: Paper, comparison: Comparison, difference: Difference, full: bool
) -> None:
    mark, style = _MARKS[difference.op]
    paper.line()
    paper.cut_line(Span(f"{mark} ", style), *_heading(paper, comparison, difference))
    if difference.op == CHANGED:
        _print_change(paper, difference, full)
    else:
        _print_item(paper, difference.item, full)


def _heading(paper: Paper, comparison: Comparison, difference: Difference) -> Iterator[Part]:
    item = difference.item
    message = item.message
    if message is not None:
        yield Span(message.role, message.role)
    else:
        name = item.event.head.name if item.event is not None else None
        yield Span(name or item.kind.replace("_", " "), "mark")
    sides = ((difference.a, comparison.a), (difference.b, comparison.b))
    places = list(dict.fromkeys(_place(one, view) for one, view in sides if one is not None))
    yield Span("  " + f" {paper.glyphs.arrow} ".join(places), "dim")
    yield Span(f" {item.entry_id}", "id")
    said = _SAID.get(difference.op, "")
    if difference.op == CHANGED:
        changes = [change for change in difference.changes if change != TEXT]
        said = "  (" + ", ".join(_change_text(change, difference) for change in changes) + ")"
        said = said if changes else ""
    yield Span(said, "warning")


def _place(item: Item, view: View) -> str:
    """`#4`; `#4^` for what a fork inherits, whose position is one of the parent's tape."""
    found = item.message or item.event
    assert found is not None
    return f"#{found.position}{'' if found.session_id == view.session_id else '^'}"


def _change_text(change: str, difference: Difference) -> str:
    a, b = difference.a, difference.b
    if change == PLACE:
        return "stands elsewhere"
    if change == CALLS:
        return "calls"
    if change in ("role", "status", "model", "error") and a and b and a.message and b.message:
        old, new = (
            getattr(m if change in ("role", "status") else m.body, change)
            for m in (a.message, b.message)
        )
        return f"{change}: {first_line(old or 'none', 40)} -> {first_line(new or 'none', 40)}"
    return "other content"


def _print_item(paper: Paper, item: Item, full: bool) -> None:
    message = item.message
    if message is not None:
        lines = content_lines(message.content)
        lines = with_command(message.role, message.body.details, lines)
        text, said = shortened(lines, full)
        if text.strip():
            paper.block(text.rstrip(), INDENT)
        if said:
            paper.block(said, INDENT, "dim")
        for call in message.calls:
            _print_call(paper, INDENT, "", call, full)
    elif item.event is not None:
        summary = getattr(item.event.body, "summary", None)
        if summary:
            paper.block(summary, f"{INDENT}{paper.glyphs.quote} ", "mark")


def _print_change(paper: Paper, difference: Difference, full: bool) -> None:
    if difference.text:
        paper.block(pieces_text(difference.text, full), INDENT)
    for call in difference.calls:
        _print_call_difference(paper, call, full)


def pieces_text(pieces: tuple[Piece, ...], full: bool) -> str:
    """Two texts as one: `[-taken away-]`, `{+added+}`; of what is the same only the ends, unless
    `full`."""
    parts = []
    for n, (op, text) in enumerate(pieces):
        if op != SAME:
            before, after = ("[-", "-]") if op == TAKEN else ("{+", "+}")
            parts.append(f"{before}{shortened(text, full)[0]}{after}")
        elif full or len(text) <= 2 * AROUND:
            parts.append(text)
        else:
            head = text[:AROUND] if n else ""
            tail = text[-AROUND:] if n < len(pieces) - 1 else ""
            parts.append(f"{head}…{tail}")
    return "".join(parts)


# -- calls -------------------------------------------------------------------------------------


def _print_call(paper: Paper, indent: str, mark: str, call: Call, full: bool) -> None:
    arguments = first_line(arguments_text(call.arguments), 200)
    name = f"{first_line(call.name or 'unknown', 80)}({arguments})"
    paper.block(f"{mark}{name}: {_status(call)}", indent, "call")
    if call.result is not None:
        text, said = few_lines(content_lines(call.result.content), full)
        if text.strip():
            paper.block(text, f"{indent}{INDENT}{paper.glyphs.quote} ", "dim")
        if said:
            paper.block(said, f"{indent}{INDENT}{paper.glyphs.quote} ", "dim")


def _print_call_difference(paper: Paper, found: CallDifference, full: bool) -> None:
    a, b = found.a, found.b
    if a is None or b is None:
        call = b or a
        assert call is not None
        _print_call(paper, INDENT, "- " if b is None else "+ ", call, full)
        return
    if a.result is None and (a.name, arguments_text(a.arguments)) == (
        b.name,
        arguments_text(b.arguments),
    ):
        _print_call(paper, INDENT, "+ ", b, full)  # it was answered, that is all
        return
    _print_call(paper, INDENT, "- ", a, full)
    _print_call(paper, INDENT, "+ ", b, full)


def _status(call: Call) -> str:
    return "no result yet" if call.result is None else call.status


# -- the rest ----------------------------------------------------------------------------------


def _print_rest(paper: Paper, comparison: Comparison) -> None:
    arrow = f" {paper.glyphs.arrow} "
    if comparison.title is not None:
        old, new = comparison.title
        paper.cut_line("title: ", arrow.join((old or "none", new or "none")))
    for name, values in comparison.settings.items():
        told = arrow.join(value or "unset" for value in values)
        paper.cut_line(f"{name.replace('_', ' ')}: {told}")
    for entry_id, values in comparison.labels.items():
        told = arrow.join("none" if value is None else f"[{value}]" for value in values)
        paper.cut_line("label of ", Span(entry_id, "id"), f": {told}")
