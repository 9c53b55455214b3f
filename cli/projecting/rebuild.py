"""`tapefold projections rebuild`: builds a projection anew beside the live one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ..options import json_option
from .opening import Place, each_of, named_or_all, open_place, sample_option, some_names

if TYPE_CHECKING:
    from tapefold.projections.rebuilding import RebuildReport


@click.command("rebuild")
@some_names
@click.option(
    "--from-scratch",
    is_flag=True,
    help="Throw an unfinished build away, and do not compare with the live one: after the log "
    "was restored, or when the live file is damaged.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Switch even if rows differ, for the new ones are right, or if the live build is of a "
    "newer version.",
)
@click.option(
    "--park",
    is_flag=True,
    help="Let a session stand still at an event that cannot be applied, as `run` does, instead of "
    "stopping there; each is named.",
)
@click.option("--no-switch", is_flag=True, help="Leave the verified build beside the live one.")
@sample_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    names: Sequence[str],
    is_all: bool,
    from_scratch: bool,
    accept: bool,
    park: bool,
    no_switch: bool,
    sample: int | None,
    as_json: bool,
) -> None:
    """Build a projection anew beside the live one, verify it, and switch.

    Appends and the live projection go on meanwhile. Stopped or killed, the next one goes on where
    it was; if the program was changed since, it begins anew. Before the switch every row is
    compared with the live build at the same place of the log; with differences it exits with 1 and
    nothing is switched. Where nothing live can be compared, sessions are folded anew from their
    tapes: 200, or --sample. The old build is kept for `rollback` until `drop`. An event that cannot
    be applied stops it, and is named; with --park its session stands still there. Of several
    projections each is built in turn, whatever becomes of the others; with 1 it exits if one
    failed.
    """
    from ..group import FAILED

    wanted = named_or_all(names, is_all)
    how = How(from_scratch, accept, park, no_switch, sample)
    with open_place(database) as place:
        is_done = each_of(wanted, lambda name: _rebuild(place, name, how, as_json))
    if not is_done:
        raise click.exceptions.Exit(FAILED)


@dataclass(frozen=True)
class How:
    """What the options say."""

    from_scratch: bool
    accept: bool
    park: bool
    no_switch: bool
    sample: int | None


def _rebuild(place: Place, name: str, how: How, as_json: bool) -> bool:
    """Rebuild one; answers whether it went as it was wanted."""
    from tapefold.projections.rebuilding import SAMPLE, Rebuild

    from .bar import build_progress

    projection = place.projection(name)
    old = place.registry.find_live(name)
    with build_progress(name) as tell:
        report = Rebuild(projection, place.log, place.store, say=tell).run(
            from_scratch=how.from_scratch,
            accept=how.accept,
            switch=not how.no_switch,
            park=how.park,
            sample=how.sample or SAMPLE,
        )
    is_equal = report.verification is None or report.verification.is_equal
    if as_json:
        from ..jsontext import dump_json

        click.echo(dump_json(report.to_json()))
    else:
        is_new = old is not None and old.fingerprint != projection.fingerprint()
        _print(report, is_equal=is_equal, is_new=is_new)
    return report.switched or (how.no_switch and (is_equal or how.accept))


def _print(report: RebuildReport, *, is_equal: bool, is_new: bool) -> None:
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
        if is_new:
            paper.block(
                "its declaration is another one: the processes of the other program end now, and "
                "with each of them all that it runs; start this program's `tapefold projections "
                "run`",
                "  ",
                "warning",
            )
    elif is_equal:
        paper.block(
            f"it is not live; `tapefold projections rebuild {name}` verifies it again and switches",
            "  ",
        )
    else:
        paper.block(
            "it is not live, since rows differ; if the new ones are right, `tapefold projections "
            f"rebuild {name} --accept`; else mend the fold and rebuild again, which begins anew",
            "  ",
            "bad",
        )
