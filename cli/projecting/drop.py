"""`tapefold projections drop`: removes the builds that are not live."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..options import json_option
from .opening import Place, each_of, named_or_all, open_place, some_names


@click.command("drop")
@some_names
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
def command(
    database: str | None, names: Sequence[str], is_all: bool, wait: float, as_json: bool
) -> None:
    """Remove every build of a projection that is not live: kept ones and unfinished ones.

    The builds that this program reads are not removed while another program's is live. Waits for
    programs that still read one. After it there is nothing to roll back to. Of several
    projections each is done, whatever becomes of the others; with 1 it exits if one failed.
    """
    from ..group import FAILED

    wanted = named_or_all(names, is_all)
    with open_place(database) as place:
        is_done = each_of(wanted, lambda name: _drop(place, name, wait, as_json))
    if not is_done:
        raise click.exceptions.Exit(FAILED)


def _drop(place: Place, name: str, wait: float, as_json: bool) -> bool:
    from tapefold.projections.removing import drop

    mine = place.projection(name).fingerprint()
    dropped = drop(place.registry, name, wait=wait, fingerprint=mine)
    if as_json:
        from ..jsontext import dump_json

        click.echo(dump_json({"projection": name, "dropped": dropped}))
        return True
    from ..paper import Paper, Span

    numbers = ", ".join(map(str, dropped))
    said = f"build {numbers} removed" if dropped else "nothing to remove"
    Paper().line(Span(name, "bold"), f"  {said}")
    return True
