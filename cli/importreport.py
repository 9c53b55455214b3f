"""What an import did: as a person reads it, as machines do, and its end on one line."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from .group import FAILED, complain
from .main import INTERRUPTED
from .paper import Paper, Span

if TYPE_CHECKING:
    from tapefold.interop.errors import ImportRefused
    from tapefold.interop.report import ImportReport

LISTED = 20
"""Most problems of a file that are printed; --json has them all."""


class Reporter:
    """Prints the report of each file, and at the end of the block says on one line of stderr
    what went wrong, was repaired or is not understood, and sets the exit code.

    `hold` keeps the reports until the end, while a progress bar is shown.
    """

    def __init__(self, as_json: bool, dry_run: bool = False) -> None:
        self.hold = False
        self.passed_over: int | None = None
        """Files of folders that are no session files; None where no folder was named."""
        self.interrupted: str | None = None
        """The file that was being imported when Ctrl-C came."""
        self._as_json = as_json
        self._dry_run = dry_run
        self._paper = Paper()
        self._reports: list[ImportReport] = []
        self._printed = 0
        self._refused: list[str] = []

    def add(self, report: ImportReport) -> None:
        """Report one file."""
        self._reports.append(report)
        if report.refused:
            self._refused.append(f"{report.path}: {report.problems[-1].detail}")
        if not self.hold:
            self._print()

    def refuse(self, error: ImportRefused) -> None:
        """Report a file that was refused."""
        self._reports.append(error.report)
        self._refused.append(str(error))
        if not self.hold:
            self._print()

    def _print(self) -> None:
        if not self._as_json:
            for report in self._reports[self._printed :]:
                print_report(self._paper, report)
            if self._paper.stream is not None:
                self._paper.stream.flush()  # whoever reads along sees each file when it is done
        self._printed = len(self._reports)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, click.ClickException | BrokenPipeError):
            return
        self._print()
        self._conclude()
        if isinstance(error, KeyboardInterrupt):
            complain(self._interruption())
            raise click.exceptions.Exit(INTERRUPTED) from None
        if error is None:
            self._exit()

    def _conclude(self) -> None:
        if self._as_json:
            from .jsontext import dump_json

            shape: dict[str, Any] = {"files": [report.to_json() for report in self._reports]}
            if self._dry_run:
                shape["dry_run"] = True
            if self.passed_over is not None:
                shape["passed_over"] = self.passed_over
            click.echo(dump_json(shape))
            return
        if self.passed_over:
            self._paper.line(Span(f"{self.passed_over:,} other files passed over", "dim"))
        if self._dry_run:
            self._paper.line(Span("dry run: nothing was written", "dim"))

    def _interruption(self) -> str:
        if self._dry_run:
            return "interrupted; nothing was written"
        where = "" if self.interrupted is None else f" in the middle of {self.interrupted}"
        return (
            f"interrupted{where}; what was imported until then stays, and importing again "
            "completes it"
        )

    def _exit(self) -> None:
        from tapefold.interop.report import STOPS

        cut = [r for r in self._reports if any(p.reason in STOPS for p in r.problems)]
        cut = [r for r in cut if not r.refused]
        unread = [r for r in self._reports if nothing_understood(r)]
        said = []
        if len(self._refused) == 1:
            said.append(self._refused[0])
        elif self._refused:
            said.append(
                f"{len(self._refused)} of {len(self._reports)} files were not imported; the "
                "report says why"
            )
        if not self._reports and self.passed_over is not None:
            said.append("there is no session file in it; nothing was imported")
        if cut:
            said.append(f"{_number(len(cut), 'tape file')} ended before its tape did")
        if unread:
            said.append(f"{_number(len(unread), 'file')} held no record that is understood")
        failed = bool(said)
        said += self._oddities()
        if said:
            complain("; ".join(said))
        if failed:
            raise click.exceptions.Exit(FAILED)

    def _oddities(self) -> list[str]:
        """What is foreign, repaired or torn in all files."""
        counts = (
            (sum(r.foreign for r in self._reports), "record", "not understood and kept raw"),
            (sum(r.repaired for r in self._reports), "record", "repaired"),
            (sum(r.bytes_torn > 0 for r in self._reports), "torn tail", "left out"),
        )
        return [f"{_number(count, what)} {done}" for count, what, done in counts if count]


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def nothing_understood(report: ImportReport) -> bool:
    """Whether a file held records, and not one that could be read."""
    headers = report.format == "pi" and all(p.reason != "header_missing" for p in report.problems)
    return (
        not report.refused
        and report.foreign > 0
        and report.already == 0
        and report.kept - headers == report.foreign
    )


def print_report(paper: Paper, report: ImportReport) -> None:
    """Print the counts of one file, and its problems by line."""
    paper.cut_line(Span(report.path, "bold"), Span(f"  {report.format or 'not read'}", "dim"))
    if report.session_id is not None and not report.refused:
        paper.line("  session ", Span(report.session_id, "mark"))
    if report.refused:
        paper.line("  ", Span("not imported", "bad"))
    elif report.format is not None:
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
