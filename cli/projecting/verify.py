"""`tapefold projections verify`: is what is stored what the tapes say?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import json_option
from .opening import Place, name_argument, open_place, sample_option

if TYPE_CHECKING:
    from tapefold.projections.verifying import Verification


@click.command("verify")
@name_argument
@click.option(
    "--against",
    type=click.Choice(["kernel", "live"]),
    default="kernel",
    show_default=True,
    help="`kernel`: fold each session of the live build anew from its tape. `live`: build all of "
    "it a second time, or take the unfinished build, and compare every row.",
)
@sample_option
@json_option
@click.pass_obj
def command(
    database: str | None, name: str, against: str, sample: int | None, as_json: bool
) -> None:
    """Compare a projection with what the tapes say, at its own place in the log.

    To fold every session anew, as it does unasked, takes longer than a rebuild. Quicker are a part
    of them (--sample N) and --against live, which takes about as long as a rebuild.
    Changes nothing. Shows counts and the first differences, with both values; exits with 1 if
    there are any, or if a session cannot be folded anew. Parked ones are left out. Its runner may
    go on meanwhile.
    """
    from ..group import FAILED

    with open_place(database) as place:
        verify = _against_kernel if against == "kernel" else _against_live
        found = verify(place, name, sample)
    if as_json:
        from ..jsontext import dump_json

        shape = {"projection": name, "is_equal": found.is_equal, **found.to_json()}
        click.echo(dump_json(shape))
    else:
        from ..paper import Paper, Span
        from .differences import print_verification

        paper = Paper()
        paper.line(Span(name, "bold"))
        print_verification(paper, found)
    if not found.is_equal:
        raise click.exceptions.Exit(FAILED)


def _against_kernel(place: Place, name: str, sample: int | None) -> Verification:
    from tapefold.projections.rebuilding import Progress
    from tapefold.projections.verifying import verify_live

    from .bar import build_progress

    with build_progress(name) as tell:
        tell(Progress("verify", total=sample or 0))
        return verify_live(
            place.projection(name),
            place.log,
            place.store,
            sample=sample,
            say=lambda done: tell(Progress("verify", done, sample or 0)),
        )


def _against_live(place: Place, name: str, sample: int | None) -> Verification:
    from tapefold.projections.second_build import build_and_compare

    from .bar import build_progress

    with build_progress(name) as tell:
        return build_and_compare(place.projection(name), place.log, place.store, say=tell)
