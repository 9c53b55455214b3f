"""`tapefold import`: session files of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import json_option

if TYPE_CHECKING:
    from tapefold.interop.report import ImportReport


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=str), metavar="FILE...")
@click.option("--as-new", is_flag=True, help="Import as another session, under a new id.")
@json_option
@click.pass_obj
def command(database: str | None, files: tuple[str, ...], as_new: bool, as_json: bool) -> None:
    """Import session files of Tau or Pi.

    Again: nothing happens; a file that has grown: what is new is taken. A file whose old lines
    have changed is refused. The store is made if there is none; the files are only read.
    """
    from tapefold.importing import import_file
    from tapefold.interop.errors import ImportRefused

    from .group import FAILED, complain
    from .importreport import print_report
    from .jsontext import dump_json
    from .paper import Paper
    from .progress import import_progress
    from .stores import open_sessions

    reports: list[ImportReport] = []
    refused: list[str] = []
    paper = Paper()
    try:
        with open_sessions(database, create=True) as sessions:
            for path in files:
                with import_progress(sessions, path):
                    try:
                        report = import_file(sessions, path, as_new=as_new)
                    except ImportRefused as error:
                        report = error.report
                        refused.append(str(error))
                reports.append(report)
                if not as_json:
                    print_report(paper, report)
    finally:
        if as_json:
            click.echo(dump_json({"files": [report.to_json() for report in reports]}))
    if refused:
        several = f"{len(refused)} of {len(files)} files were not imported; the report says why"
        complain(refused[0] if len(refused) == 1 else several)
        raise click.exceptions.Exit(FAILED)
