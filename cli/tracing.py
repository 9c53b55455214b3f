"""A session's trace on paper: requests with their attempts, calls in a table, references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from .moments import Days
from .paper import Paper, Part, Span, pad
from .visible import one_line
from .words import short_ids

if TYPE_CHECKING:
    from tapefold.projections.trace_index.reading import (
        Attempt,
        Reference,
        Request,
        ToolCall,
        Trace,
    )

STYLES = {
    "success": "good",
    "sent": "good",
    "error": "bad",
    "interrupted": "warning",
    "pending": "warning",
}


def print_trace(trace: Trace) -> None:
    """All of a session: each request with its attempts below it, then the calls."""
    paper = Paper()
    if not (trace.requests or trace.loose or trace.calls):
        paper.line("no request, no attempt and no tool call is recorded here")
        return
    if trace.requests:
        paper.rule(Span("requests", "bold"))
        days = Days()
        for request in trace.requests:
            _request_line(paper, days, request)
            _attempts(paper, request.attempts)
    if trace.loose:
        paper.rule(Span("attempts without a request", "bold"))
        _attempts(paper, trace.loose)
    if trace.calls:
        paper.rule(Span("tool calls", "bold"))
        _calls(paper, trace.calls)


def print_request(
    request: Request, references: Sequence[Reference], first_words: Callable[[Reference], str]
) -> None:
    """One request: its head, its attempts, and each entry with the reason."""
    paper = Paper()
    _request_line(paper, Days(), request)
    for name, value in (
        ("rows", request.rows_hash),
        ("prompt", request.prompt_hash),
        ("leaf", request.leaf),
    ):
        if value is not None:
            paper.cut_line(f"  {pad(name, 7)}", Span(value, "dim"))
    _attempts(paper, request.attempts)
    short = short_ids(one.entry_id for one in references if one.entry_id is not None)
    for part, title in (("included", "contained"), ("excluded", "left out")):
        found = [one for one in references if one.part == part]
        if found:
            many = "1 entry" if len(found) == 1 else f"{len(found):,} entries"
            paper.rule(Span(f"{title}: {many}", "bold"))
        for one in found:
            _reference_line(paper, request, one, short, first_words(one))


def print_uses(entry_id: str, found: Sequence[tuple[Request, Reference]]) -> None:
    """Which requests contained an entry."""
    paper = Paper()
    if not found:
        paper.line("no recorded request contained ", Span(entry_id, "id"), " or left it out")
        return
    days = Days()
    for request, reference in found:
        is_in = reference.part == "included"
        mark = paper.glyphs.check if is_in else paper.glyphs.cross
        said = "contained it" if is_in else "left it out"
        paper.cut_line(
            Span(mark, "good" if is_in else "bad"),
            f" {days.time(request.timestamp)} ",
            Span(request.session_id, "mark"),
            f" #{request.position} ",
            Span(request.request_id or "", "id"),
            f" {said}",
            Span(_reason(reference), "dim"),
        )


def _request_line(paper: Paper, days: Days, request: Request) -> None:
    facts = [
        f"{request.policy} policy" if request.policy else "",
        f"{request.included:,} in",
        f"{request.excluded:,} out",
        "" if request.tokens is None else f"~{request.tokens:,} tokens",
    ]
    paper.cut_line(
        Span(paper.glyphs.arrow, "mark"),
        f" {days.time(request.timestamp)} #{request.position} ",
        Span(request.request_id or "(no id)", "bold"),
        Span(paper.glyphs.between + paper.glyphs.between.join(f for f in facts if f), "dim"),
    )
    if request.problem is not None:
        paper.cut_line("  ", Span(f"! {request.problem}", "warning"))


def _attempts(paper: Paper, attempts: Iterable[Attempt]) -> None:
    last = list(attempts)
    for n, one in enumerate(last, 1):
        joint = paper.glyphs.elbow if n == len(last) else paper.glyphs.branch
        spent = [
            f"{one.input_tokens:,} → {one.output_tokens:,} tokens"
            if one.input_tokens or one.output_tokens
            else "",
            f"{one.cache_read_tokens:,} cached" if one.cache_read_tokens else "",
            _duration(one.latency_ms),
            f"{one.cost:.4f}" if one.cost else "",
            one.stop_reason or "",
        ]
        model = "/".join(part for part in (one.provider, one.model) if part)
        parts: list[Part] = [
            Span(f"  {joint} ", "dim"),
            f"#{one.position} {model} ",
            Span(one.status or "no status", STYLES.get(one.status or "", "warning")),
        ]
        said = paper.glyphs.between.join(text for text in spent if text)
        if said:
            parts.append(Span(paper.glyphs.between + said.replace("→", paper.glyphs.arrow), "dim"))
        paper.cut_line(*parts)
        if one.error:
            paper.block(one_line(one.error), "       ", "bad")


def _calls(paper: Paper, calls: Sequence[ToolCall]) -> None:
    names = [one_line(call.name or "(no name)") for call in calls]
    wide = min(max(map(len, names)), 30)
    days = Days()
    for call, name in zip(calls, names, strict=True):
        aside = [word for word in ("draft", "struck", "dropped") if getattr(call, word)]
        paper.cut_line(
            f"  {days.time(call.called_at):8} #{call.call_position:<5} ",
            Span(pad(paper.cut(name, wide), wide), "call"),
            "  ",
            Span(pad(call.status, 11), STYLES.get(call.status, "")),
            f"{_duration(call.duration_ms):>9}  ",
            Span(call.call_id, "dim"),
            Span(f"  {', '.join(aside)}" if aside else "", "warning"),
        )


def _reference_line(
    paper: Paper, request: Request, one: Reference, short: dict[str, str], said: str
) -> None:
    where = ""
    if one.said_position is not None:
        where = f"#{one.said_position}"
        if one.said_session_id not in (None, request.session_id):
            where = f"{one.said_session_id} {where}"
    tokens = "" if one.tokens is None else f"{one.tokens:,}"
    paper.cut_line(
        f"  {where:>6} ",
        Span(pad(short.get(one.entry_id or "", "(made up)"), 10), "id"),
        f"{tokens:>7} ",
        Span(pad((one.kind or "").replace("_", " "), 10), ""),
        said,
        Span(_reason(one), "dim"),
    )


def _reason(one: Reference) -> str:
    return "" if one.reason in (None, "on_path") else f"  ({str(one.reason).replace('_', ' ')})"


def _duration(milliseconds: float | None) -> str:
    """`12 ms`, `3.4 s`, `2 min`."""
    if milliseconds is None:
        return ""
    if abs(milliseconds) < 1_000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1_000
    return f"{seconds:.1f} s" if abs(seconds) < 120 else f"{seconds / 60:.0f} min"
