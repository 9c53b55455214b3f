"""`tapefold import`: session files of other tools, and our own tape files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import json_option

if TYPE_CHECKING:
    from tapefold.importing import Target
    from tapefold.interop.report import ImportReport
    from tapefold.interop.sources import Source

    from .importreport import Reporter

STDIN = "-"


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=str), metavar="PATH...")
@click.option("--as-new", is_flag=True, help="Import as another session, under a new id.")
@click.option("--dry-run", is_flag=True, help="Say what would be imported; write nothing.")
@click.option(
    "--follow",
    is_flag=True,
    help="Go on with each line that another program appends to the file, until Ctrl-C.",
)
@json_option
@click.pass_obj
def command(
    database: str | None,
    paths: tuple[str, ...],
    as_new: bool,
    dry_run: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Import session files of Tau or Pi, and tape files of tapefold's own.

    A folder stands for all session files below it: those called *.jsonl, and others that begin
    like one. `-` is standard input.

    Again: nothing happens; a file that has grown: what is new is taken. A file whose old lines
    have changed is refused. The store is made when there is something to write; the files are
    only read.
    """
    from .importreport import Reporter

    reporter = Reporter(as_json, dry_run)
    if follow:
        _check_follow(paths, as_new, dry_run)
        from .following import follow_into

        with reporter:
            follow_into(database, paths[0], reporter)
        return
    if paths.count(STDIN) > 1:
        raise click.UsageError("standard input (-) can be read once")
    with reporter:
        _import_all(database, paths, as_new, dry_run, reporter)


def _check_follow(paths: tuple[str, ...], as_new: bool, dry_run: bool) -> None:
    if as_new or dry_run:
        raise click.UsageError("--follow goes with neither --as-new nor --dry-run")
    if len(paths) != 1 or paths[0] == STDIN:
        raise click.UsageError("--follow takes one file")
    if Path(paths[0]).is_dir():
        raise click.UsageError(f"--follow takes one file, and {paths[0]!r} is a folder")


def _import_all(
    database: str | None, paths: tuple[str, ...], as_new: bool, dry_run: bool, reporter: Reporter
) -> None:
    from tapefold.importing import open_file
    from tapefold.interop.errors import ImportRefused
    from tapefold.interop.report import ImportReport
    from tapefold.interop.sources import PipeSource

    from .progress import import_progress
    from .stores import import_target

    found = _files(paths, reporter)
    with (
        import_target(database, dry_run=dry_run) as target,
        import_progress([one for one in found if isinstance(one, str)]) as bar,
    ):
        reporter.hold = bar.is_shown
        for one in found:
            if isinstance(one, ImportReport):
                reporter.add(one)
                continue
            try:
                source: Source = PipeSource(sys.stdin.buffer) if one == STDIN else open_file(one)
                told = bar.begin(one, source.size)
                report = _run(target, source, one, as_new, dry_run, told, reporter)
            except ImportRefused as error:
                reporter.refuse(error)
            else:
                reporter.add(report)
            bar.end()


def _run(
    target: Target,
    source: Source,
    path: str,
    as_new: bool,
    dry_run: bool,
    told: Callable[[int], None] | None,
    reporter: Reporter,
) -> ImportReport:
    from tapefold.importing import import_source

    try:
        return import_source(target, source, path, as_new=as_new, dry_run=dry_run, progress=told)
    except KeyboardInterrupt:
        reporter.interrupted = path
        raise


def _files(paths: Iterable[str], reporter: Reporter) -> list[str | ImportReport]:
    """The files to import, and reports of folders that cannot be looked into."""
    from tapefold.interop.folders import SessionFiles, is_folder

    found: list[str | ImportReport] = []
    for path in paths:
        if path == STDIN:
            found.append(path)
            continue
        inside = SessionFiles([path])
        found += inside
        if is_folder(path):
            reporter.passed_over = (reporter.passed_over or 0) + inside.passed_over
    return found
