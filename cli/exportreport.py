"""What an export did, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .paper import Paper, Span

if TYPE_CHECKING:
    from tapefold.interop.writing.report import ExportReport


def print_report(paper: Paper, report: ExportReport) -> None:
    """Print where the file is, how long it is, and what it does not hold."""
    from tapefold.interop.writing.report import LOSSES

    paper.cut_line(Span(report.path or "", "bold"), Span(f"  {report.format}", "dim"))
    paper.line("  session ", Span(report.session_id, "mark"))
    came = ", as the file that was imported" if report.as_it_came else ""
    paper.block(f"{report.lines:,} lines, {report.size:,} bytes{came}", "  ")
    for reason, number in sorted(report.reasons.items()):
        paper.block(f"{reason}: {LOSSES[reason]}", " " * 8, "warning", first=f"  {number:>5,} ")


def in_short(report: ExportReport) -> str:
    """One line that counts what the output does not hold."""
    parts = [f"{number} {reason}" for reason, number in sorted(report.reasons.items())]
    return f"not held as in the session: {', '.join(parts)} (--json lists all)"
