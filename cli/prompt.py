"""A context as a person reads it: row by row, with what was left out."""

from __future__ import annotations

from collections.abc import Iterator

from tapefold.domain.content import ThinkingBlock, ToolCallBlock
from tapefold.domain.context import Context, Row
from tapefold.domain.tokens import estimate_tokens

from .paper import Paper, Part, Span
from .words import arguments_text, content_lines, count, few_lines, first_line, print_warnings

WHY_EXCLUDED = {
    "before_boundary": "a summary or hand-off stands for it",
    "call_summarised": "a summary or hand-off stands for its call",
    "call_left_out": "its call is left out",
    "no_call": "no call that shows asked for it",
    "duplicate_result": "its call has another result",
    "edited_out": "an edit leaves it out",
    "superseded": "a later version, summary or system message wins over it",
    "excluded_by_record": "the record itself says so",
    "reasoning_only": "it holds nothing but reasoning",
    "empty": "it is empty",
}
"""The reasons for which a message or an edit has no part in the context, in words."""


def print_context(context: Context, full: bool) -> None:
    """Print the rows, the excluded messages with reasons, the estimate and the warnings."""
    paper = Paper()
    between = paper.glyphs.between
    tokens = context.manifest["tokens"]
    paper.cut_line(Span("context of ", "dim"), Span(context.session_id, "bold"))
    facts = [
        f"policy {context.policy.name}",
        f"position {context.position}",
        f"leaf {context.leaf or 'none'}",
    ]
    paper.block(between.join(facts), style="dim")
    for number, row in enumerate(context.rows, 1):
        paper.line()
        print_row(paper, f"{number:>3} ", row, full)
    paper.line()
    if context.excluded:
        _left_out(paper, context)
        paper.line()
    said = [count(len(context.rows), "row"), f"about {count(tokens, 'token')} (characters / 4)"]
    paper.block(between.join(said), style="dim")
    print_warnings(paper, context.warnings)


def _left_out(paper: Paper, context: Context) -> None:
    """What has no part in the context, by reason: the positions, in the order of the path."""
    paper.line(Span(f"left out: {len(context.excluded)}", "bold"))
    by_reason: dict[str, list[str]] = {}
    for left in context.excluded:
        own = left.session_id == context.session_id
        where = f"#{left.position}" if own else f"{left.session_id}#{left.position}"
        by_reason.setdefault(left.reason, []).append(where)
    for reason, positions in by_reason.items():
        paper.cut_line(Span(f"  {reason}", "warning"), f"  {WHY_EXCLUDED.get(reason, '')}")
        paper.block(" ".join(positions), "    ", "dim")


def print_row(paper: Paper, number: str, row: Row, full: bool) -> None:
    """Print one row of a context, with what is said in front of it."""
    paper.cut_line(Span(number, "bold"), *_title(row))
    indent = "    "
    for block in row.content:
        if isinstance(block, ThinkingBlock):
            text, said = few_lines(block.thinking, full)
            if text.strip():
                paper.block(text, f"{indent}{paper.glyphs.quote} ", "dim")
            if said:
                paper.block(said, indent, "dim")
        elif isinstance(block, ToolCallBlock):
            arguments = arguments_text(block.arguments)
            text = f"{block.name}({arguments if full else first_line(arguments)})"
            paper.block(text, indent + "  ", "call", first=f"{indent}{paper.glyphs.arrow} ")
        else:
            text, said = few_lines(content_lines((block,)), full)
            if text.strip():
                paper.block(text, indent)
            if said:
                paper.block(said, indent, "dim")


def _title(row: Row) -> Iterator[Part]:
    yield Span(row.role, row.role)
    if row.kind != "message":
        yield Span(f"  {row.kind.replace('_', ' ')}", "mark")
    if row.call_id is not None:
        yield Span(f"  for {row.call_id}", "call")
        if row.is_error:
            yield Span("  error", "bad")
    if row.position is not None:
        yield Span(f"  #{row.position}", "dim")
    if row.reason not in ("on_path", "anchor"):
        yield Span(f"  {row.reason.replace('_', ' ')}", "warning")
    yield Span(f"  {count(estimate_tokens(row.content), 'token')}", "dim")
