"""`tapefold export`: a session as a file of another tool, as our own, or as a document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from .options import session_argument

if TYPE_CHECKING:
    from tapefold.interop.writing.report import ExportReport

FORMATS = ("tau", "pi", "jsonl", "markdown")


@click.command("export")
@session_argument
@click.option(
    "--format", "form", type=click.Choice(FORMATS), required=True, help="What is written."
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to this file, whole or not at all.  [default: standard output]",
)
@click.option("--leaf", metavar="ENTRY", help="One branch: the way to this entry; `none`: nothing.")
@click.option("--all", "every", is_flag=True, help="All branches (the default).")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the report as JSON; on standard error where the session goes to the output.",
)
@click.pass_obj
def command(
    database: str | None,
    session: str,
    form: str,
    output: str | None,
    leaf: str | None,
    every: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Export a session to Tau, to Pi, to a file of our own, or to a document.

    `jsonl` is complete. Of the others a report names what they cannot hold. The file opens in
    the tool at the session's leaf.
    """
    from tapefold.exporting import ALL, export_session

    from .stores import open_sessions
    from .view import chosen_leaf, read_state

    if leaf is not None and every:
        raise click.UsageError("--leaf is one branch, --all is all of them; give one of the two")
    if leaf is not None and form == "jsonl":
        raise click.UsageError("jsonl holds the whole tape; leave --leaf out")
    to_file = output is not None and output != "-"
    with open_sessions(database) as sessions:
        state = read_state(sessions, session, None)
        at = ALL if leaf is None else chosen_leaf(sessions, state, leaf)
        target = output if to_file and output is not None else sys.stdout.buffer
        report = export_session(sessions, state.session_id, form, target, leaf=at, overwrite=force)
    _print(report, to_file, as_json)


def _print(report: ExportReport, to_file: bool, as_json: bool) -> None:
    from .jsontext import dump_json

    if as_json:
        click.echo(dump_json(report.to_json()), err=not to_file)
    elif to_file:
        from .exportreport import print_report
        from .paper import Paper

        print_report(Paper(), report)
    elif report.reasons:
        from .exportreport import in_short
        from .group import complain

        complain(in_short(report))
