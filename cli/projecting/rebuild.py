"""`tapefold projections rebuild`: builds a projection anew beside the live one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import json_option
from .opening import name_argument, open_place, sample_option

if TYPE_CHECKING:
    from tapefold.projections.rebuilding import RebuildReport


@click.command("rebuild")
@name_argument
@click.option(
    "--from-scratch",
    is_flag=True,
    help="Throw an unfinished build away, and do not compare with the live one: after the log "
    "was restored, or when the live file is damaged.",
)
@click.option("--accept", is_flag=True, help="Switch even if rows differ, as a mended fold wants.")
@click.option("--no-switch", is_flag=True, help="Leave the verified build beside the live one.")
@sample_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    name: str,
    from_scratch: bool,
    accept: bool,
    no_switch: bool,
    sample: int | None,
    as_json: bool,
) -> None:
    """Build a projection anew beside the live one, verify it, and switch.

    Appends and the live projection go on meanwhile. Stopped or killed, the next one goes on where
    it was. Before the switch every row is compared with the live build at the same place of the
    log; with differences it exits with 1 and nothing is switched. Where nothing live can be
    compared, sessions are folded anew from their tapes: 200, or --sample. The old build is kept
    for `rollback` until `drop`. An event that cannot be applied stops it, and is named.
    """
    from tapefold.projections.rebuilding import SAMPLE, Rebuild

    from ..group import FAILED
    from .bar import build_progress

    with open_place(database) as place, build_progress(name) as tell:
        rebuild = Rebuild(place.projection(name), place.log, place.store, say=tell)
        report = rebuild.run(
            from_scratch=from_scratch,
            accept=accept,
            switch=not no_switch,
            sample=sample or SAMPLE,
        )
    if as_json:
        from ..jsontext import dump_json

        click.echo(dump_json(report.to_json()))
    else:
        _print(report, no_switch)
    if not report.switched and not no_switch:
        raise click.exceptions.Exit(FAILED)
    if report.verification is not None and not report.verification.is_equal and not accept:
        raise click.exceptions.Exit(FAILED)


def _print(report: RebuildReport, no_switch: bool) -> None:
    from ..paper import Paper, Span
    from ..words import count
    from .differences import print_verification

    paper = Paper()
    resumed = ", gone on with" if report.resumed else ""
    paper.line(
        Span(report.name, "bold"),
        f"  build {report.build}: {count(report.events, 'event')}, at id "
        f"{report.position:,}{resumed}",
    )
    if report.verification is not None:
        print_verification(paper, report.verification)
    for note in report.notes:
        paper.block(note, "  ", "dim")
    name = report.name
    if report.switched:
        kept = (
            ""
            if report.before is None
            else f"; build {report.before} is kept: `tapefold projections rollback {name}` goes "
            f"back, `tapefold projections drop {name}` removes it"
        )
        paper.block(f"it is live now{kept}", "  ", "good")
    elif no_switch:
        paper.block(
            f"it is not live; `tapefold projections rebuild {name}` verifies it again and switches",
            "  ",
        )
    else:
        paper.block(
            "it is not live, since rows differ; if the new ones are right, `tapefold projections "
            f"rebuild {name} --accept`; if the fold was mended since, with --from-scratch",
            "  ",
            "bad",
        )
