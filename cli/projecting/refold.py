"""`tapefold projections refold`: folds one session anew, in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..options import complete_session, json_option
from .opening import chosen, each_of, names_argument, open_place

if TYPE_CHECKING:
    from tapefold.projections.maintenance import Refolded


@click.command("refold")
@names_argument
@click.option(
    "--session",
    required=True,
    metavar="SESSION",
    shell_complete=complete_session,
    help="The session that is folded anew.",
)
@json_option
@click.pass_obj
def command(database: str | None, names: Sequence[str], session: str, as_json: bool) -> None:
    """Fold the rows of one session anew from its tape, in each projection or in those named.

    In one transaction each, up to the projection's own place in the log; the others' rows stay.
    So do its own where an event that they hold cannot be applied any more. Exits with 1 then, and
    if the session stands parked afterwards.
    """
    from tapefold.projections.maintenance import live_build, refold

    from ..group import FAILED

    done: list[tuple[str, Refolded]] = []
    with open_place(database) as place:
        session_id = place.session_id(session)

        def work(name: str) -> bool:
            with live_build(place.registry, place.projection(name)) as build:
                done.append((name, refold(build, place.log, session_id)))
            return not done[-1][1].is_parked

        is_done = each_of(chosen(names), work)
    print_refolded(done, as_json)
    if not is_done:
        raise click.exceptions.Exit(FAILED)


def print_refolded(done: Sequence[tuple[str, Refolded]], as_json: bool) -> None:
    """Print what was folded, by projection."""
    if as_json:
        from ..jsontext import dump_json

        shapes = [
            {
                "projection": name,
                "session_id": one.session_id,
                "position": one.position,
                "events": one.events,
                "parked": one.is_parked,
            }
            for name, one in done
        ]
        click.echo(dump_json({"sessions": shapes}))
        return
    from ..paper import Paper, Span
    from ..words import count

    paper = Paper()
    for name, one in done:
        what = f"{count(one.events, 'event')} applied, at position {one.position:,}"
        if one.is_parked:
            again = " again" if one.was_parked else ""
            what += f", parked{again}: see `tapefold projections parked`"
        style = "bad" if one.is_parked else "good"
        paper.line(Span(name, "bold"), f"  session {one.session_id}: ", Span(what, style))
