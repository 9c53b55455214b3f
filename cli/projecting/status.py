"""`tapefold projections status`: how the projections fare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..moments import age_text
from ..options import json_option
from ..words import count
from .opening import chosen, names_argument, open_place

if TYPE_CHECKING:
    from tapefold.persistence.errors import StoreMissing
    from tapefold.projections.status import RebuildStatus, Status

    from ..paper import Paper

FOLLOWING = "following"
"""State of a build that was filled."""


@click.command("status")
@names_argument
@json_option
@click.pass_obj
def command(database: str | None, names: Sequence[str], as_json: bool) -> None:
    """Say how far each projection is, who runs it, and what is wrong.

    Seconds behind are the age of the oldest event that was not processed, by the time that
    stands in the event. Exits with 1 when something is wrong: never built, behind with nobody
    running it, no sign of life, a fault that its process waits out, parked sessions, a file of
    another declaration, another log, a file that is damaged or missing. A rebuild that runs mends
    the first and the last three, so they are none meanwhile.

    With --json each projection of a store that is not there yet has the problem `no_store`.
    """
    from tapefold.persistence.errors import StoreMissing
    from tapefold.projections.status import status_of

    from ..group import FAILED

    try:
        with open_place(database) as place:
            found = [
                status_of(place.projection(name), place.log, place.store) for name in chosen(names)
            ]
    except StoreMissing as error:
        if not as_json:
            raise
        found = [_without_store(name, error) for name in chosen(names)]
    healthy = all(status.is_healthy for status in found)
    if as_json:
        from ..jsontext import dump_json

        shape = {"healthy": healthy, "projections": [status.to_json() for status in found]}
        click.echo(dump_json(shape))
    else:
        from ..paper import Paper

        paper = Paper()
        for status in found:
            _print(paper, status)
    if not healthy:
        raise click.exceptions.Exit(FAILED)


def _without_store(name: str, error: StoreMissing) -> Status:
    from tapefold.projections.catalogue import projection_named
    from tapefold.projections.status import Problem, Status

    problem = Problem("no_store", str(error))
    return Status(name, projection_named(name).SCHEMA_VERSION, problems=[problem])


def _print(paper: Paper, status: Status) -> None:
    from ..paper import Span

    between = paper.glyphs.between
    version = "" if status.version is None else f"version {status.version}, build {status.build}"
    parts = [part for part in (status.state, version) if part]
    style = "good" if status.is_healthy else "bad"
    paper.line(Span(status.name, "bold"), "  ", Span(between.join(parts), style))
    if status.position is not None:
        paper.block(between.join([_where(status), _who(status)]), "  ")
    if status.rebuild is not None:
        paper.block(_beside(status.name, status.rebuild), "  ")
    if status.kept:
        numbers = ", ".join(map(str, status.kept))
        paper.block(f"kept: build {numbers}", "  ", "dim")
    for problem in status.problems:
        paper.block(problem.text, "  ", "warning", first="! ")


def _beside(name: str, rebuild: RebuildStatus) -> str:
    """What a build that is not live is, and what becomes of it."""
    again = f"`tapefold projections rebuild {name}`"
    is_filled = rebuild.state == FOLLOWING
    done = count(rebuild.events, "event")
    if not is_filled:
        done = f"{rebuild.events:,} of {count(rebuild.total, 'event')}"
    if rebuild.is_running:
        what = f"process {rebuild.pid or '?'} is building it"
    elif not rebuild.is_ours:
        what = (
            "not live, and of another declaration: for the program that began it; "
            f"`tapefold projections drop {name}` removes it"
        )
    elif rebuild.is_outdated:
        what = f"not live, and begun by another state of the program; {again} begins anew"
    elif is_filled:
        what = f"filled beside the live one, not live; {again} verifies it and switches"
    else:
        what = f"unfinished; {again} goes on with it"
    return f"build {rebuild.build}, version {rebuild.schema_version}: {done}; {what}"


def _where(status: Status) -> str:
    if status.position is not None and status.position > status.last_id:
        return f"at id {status.position:,}, but the log ends at id {status.last_id:,}"
    if not status.events_behind:
        is_other = any(problem.code == "log_changed" for problem in status.problems)
        said = "of a log that is another one now" if is_other else "caught up"
        return f"at id {status.position:,}, {said}"
    behind = f"{status.events_behind:,} behind"
    if status.seconds_behind is not None:
        behind += f", the oldest {age_text(status.seconds_behind)} old"
    return f"at id {status.position:,} of {status.last_id:,}, {behind}"


def _who(status: Status) -> str:
    if not status.is_running:
        return "nobody runs it"
    age = f", last sign {status.heartbeat_age:,.0f} s ago" if status.heartbeat_age else ""
    rate = f", {status.rate:,.0f} events/s" if status.rate else ""
    return f"process {status.pid or '?'} runs it{age}{rate}"
