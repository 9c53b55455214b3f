"""`tapefold projections parked`: sessions that stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..options import json_option
from .opening import Place, chosen, names_argument, open_place

if TYPE_CHECKING:
    from tapefold.projections.parking import Parked


@click.command("parked")
@names_argument
@json_option
@click.pass_obj
def command(database: str | None, names: Sequence[str], as_json: bool) -> None:
    """List the sessions that stand still at an event which cannot be decoded or applied.

    The others go on. After mending (`tapefold events check` tells what is wrong), `tapefold
    projections retry` lets them go on, in order, from that event.
    """
    with open_place(database) as place:
        found = [(name, one) for name in chosen(names) for one in _parked(place, name)]
    if as_json:
        from ..jsontext import dump_json

        shapes = [{"projection": name, **one.to_json()} for name, one in found]
        click.echo(dump_json({"parked": shapes}))
        return
    from ..paper import Paper, Span

    paper = Paper()
    if not found:
        paper.line("no session is parked")
    for name, one in found:
        where = f"  session {one.session_id}, position {one.position} ({one.topic})"
        paper.line(Span(name, "bold"), where)
        paper.block(f"{one.kind}: {one.error}", "    ", "bad")
        paper.block(f"tried {one.attempts:,} times, parked since {one.since}", "    ", "dim")


def _parked(place: Place, name: str) -> list[Parked]:
    """Those of the live build; none where it was never built."""
    from tapefold.projections.maintenance import parked_in_live

    return parked_in_live(place.registry, place.projection(name))
