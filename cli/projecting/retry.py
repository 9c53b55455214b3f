"""`tapefold projections retry`: parked sessions go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..options import complete_session, json_option
from .opening import chosen, names_argument, open_place

if TYPE_CHECKING:
    from tapefold.projections.maintenance import Refolded


@click.command("retry")
@names_argument
@click.option(
    "--session",
    metavar="SESSION",
    shell_complete=complete_session,
    help="This one alone.  [default: all that are parked]",
)
@json_option
@click.pass_obj
def command(database: str | None, names: Sequence[str], session: str | None, as_json: bool) -> None:
    """Let parked sessions go on, in order, from the event that they stand at.

    Up to the projection's own place in the log; its runner goes on from there. Exits with 1 if
    one stands still again.
    """
    from tapefold.projections.maintenance import live_build, retry

    from ..group import FAILED
    from .refold import print_refolded

    done: list[tuple[str, Refolded]] = []
    with open_place(database) as place:
        session_id = None if session is None else place.session_id(session)
        for name in chosen(names):
            projection = place.projection(name)
            if not names and place.registry.find_live(name) is None:
                continue  # all that there are
            with live_build(place.registry, projection) as build:
                done += [(name, one) for one in retry(build, place.log, session_id)]
    if not done and not as_json:
        click.echo("no session is parked")
    else:
        print_refolded(done, as_json)
    if any(one.is_parked for _, one in done):
        raise click.exceptions.Exit(FAILED)
