"""`tapefold projections drop`: removes the builds that are not live."""

from __future__ import annotations

import click

from ..options import json_option
from .opening import name_argument, open_place


@click.command("drop")
@name_argument
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for programs that still read one.",
)
@json_option
@click.pass_obj
def command(database: str | None, name: str, wait: float, as_json: bool) -> None:
    """Remove every build of a projection that is not live: kept ones and unfinished ones.

    Waits for programs that still read one. After it there is nothing to roll back to.
    """
    from tapefold.projections.removing import drop

    with open_place(database) as place:
        dropped = drop(place.registry, name, wait=wait)
    if as_json:
        from ..jsontext import dump_json

        click.echo(dump_json({"projection": name, "dropped": dropped}))
        return
    from ..paper import Paper, Span

    numbers = ", ".join(map(str, dropped))
    said = f"build {numbers} removed" if dropped else "nothing to remove"
    Paper().line(Span(name, "bold"), f"  {said}")
