"""What an import did, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .paper import Paper, Span

if TYPE_CHECKING:
    from tapefold.interop.report import ImportReport

LISTED = 20
"""Most problems of a file that are printed; --json has them all."""


def print_report(paper: Paper, report: ImportReport) -> None:
    """Print the counts of one file, and its problems by line."""
    paper.cut_line(Span(report.path, "bold"), Span(f"  {report.format or 'not read'}", "dim"))
    if report.session_id is not None and not report.refused:
        paper.line("  session ", Span(report.session_id, "mark"))
    if report.refused:
        paper.line("  ", Span("not imported", "bad"))
    else:
        paper.block(_counts(report), "  ")
    for problem in report.problems[:LISTED]:
        where = "file" if problem.line is None else f"line {problem.line}"
        paper.block(
            f"{problem.reason}{': ' if problem.detail else ''}{problem.detail}",
            " " * 6,
            "bad" if report.refused else "warning",
            first=f"  {where:<10} ",
        )
    more = len(report.problems) - LISTED + report.more
    if more > 0:
        paper.line(Span(f"  and {more:,} more; --json lists them", "dim"))


def _counts(report: ImportReport) -> str:
    if not report.kept:
        already = f": {report.already:,} already there" if report.already else ""
        skipped = f", {report.skipped:,} skipped" if report.skipped else ""
        return f"nothing new{already}{skipped}"
    parts = [f"{report.read:,} read", f"{report.kept:,} kept"]
    for number, word in (
        (report.already, "already there"),
        (report.skipped, "skipped"),
        (report.repaired, "repaired"),
        (report.foreign, "not understood and kept raw"),
    ):
        if number:
            parts.append(f"{number:,} {word}")
    return ", ".join(parts)
