"""`tapefold projections rollback`: the build that was live before is live again."""

from __future__ import annotations

import click

from ..options import json_option
from .opening import name_argument, open_place


@click.command("rollback")
@name_argument
@json_option
@click.pass_obj
def command(database: str | None, name: str, as_json: bool) -> None:
    """Go back to the build that was live before the last switch.

    One that this program's declaration made is brought up to the end of the log first. One of
    another declaration is switched to as it stands: it is for the program that made it, whose
    runner brings it on. Done twice, it goes forward again.
    """
    from tapefold.projections.maintenance import roll_back

    with open_place(database) as place:
        projection = place.projection(name)
        left = place.registry.live(name)
        info = roll_back(projection, place.log, place.store)
        is_ours = info.fingerprint == projection.fingerprint()
    if as_json:
        from ..jsontext import dump_json

        shape = {
            "projection": name,
            "live": info.number,
            "version": info.schema_version,
            "kept": left.number,
            "readable": is_ours,
        }
        click.echo(dump_json(shape))
        return
    from ..paper import Paper, Span

    paper = Paper()
    paper.line(
        Span(name, "bold"),
        f"  build {info.number}, version {info.schema_version}, is live again; build "
        f"{left.number} is kept",
    )
    if not is_ours:
        paper.block(
            f"it is of another declaration: this program (version {projection.SCHEMA_VERSION}) "
            "neither runs nor reads it; go back to the program that made it",
            "  ",
            "warning",
        )
