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
    _print(found)


def _print(found: Sequence[tuple[str, Parked]]) -> None:
    """One event mostly stops its session in each projection: it is told once, with all of them."""
    from ..paper import Paper, Span
    from ..words import count

    paper = Paper()
    if not found:
        paper.line("no session is parked")
    events: dict[tuple[object, ...], list[tuple[str, Parked]]] = {}
    for name, one in found:
        key = (one.session_id, one.position, one.topic, one.kind, one.error)
        events.setdefault(key, []).append((name, one))
    for many in events.values():
        one = many[0][1]
        since = min(parked.since for _, parked in many)
        tried = max(parked.attempts for _, parked in many)
        paper.line(
            Span(f"session {one.session_id}", "bold"), f", position {one.position} ({one.topic})"
        )
        paper.block(f"{one.kind}: {one.error}", "    ", "bad", first="  ")
        names = ", ".join(name for name, _ in many)
        paper.block(f"in {names}; tried {count(tried, 'time')}, parked since {since}", "  ", "dim")


def _parked(place: Place, name: str) -> list[Parked]:
    """Those of the live build; none where it was never built."""
    from tapefold.projections.maintenance import parked_in_live

    return parked_in_live(place.registry, place.projection(name))
