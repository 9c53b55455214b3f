"""`tapefold projections run`: the processes that keep the read models up to date."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..options import json_option
from .opening import names_argument


@click.command("run")
@names_argument
@click.option("--no-wait", is_flag=True, help="End with 1 if another process runs it already.")
@click.option(
    "--once",
    is_flag=True,
    help="End when nothing is new, instead of waiting for more; with 1 if a session is parked.",
)
@click.option("--while-input", is_flag=True, hidden=True, help="End when standard input does.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    names: Sequence[str],
    no_wait: bool,
    once: bool,
    while_input: bool,
    as_json: bool,
) -> None:
    """Run a projection until stopped (SIGTERM, Ctrl-C); without a NAME all, a process each.

    The first run builds it. `trace_index` runs its later stage `trace_text`, too. What is appended
    in another process is seen within a moment. Several end together; to start them again is for
    a service manager. A second process of the same projection waits, and takes over when the
    first ends. A store that is busy or gone is waited for; an event that cannot be applied parks
    its session, which is said in a line, and the others go on.
    """
    from tapefold.projections.catalogue import process_names, stages_of

    from ..group import FAILED
    from .saying import Said

    chosen = tuple(dict.fromkeys(names)) or process_names()
    said = Said(as_json)
    if len(chosen) == 1:
        from .here import run_here

        has_parked = run_here(
            database,
            stages_of(chosen[0]),
            said,
            wait=not no_wait,
            once=once,
            while_input=while_input,
        )
        if has_parked:
            raise click.exceptions.Exit(FAILED)
        return
    from ..imports import import_flags
    from .children import Children

    flags = [
        flag
        for flag, given in (("--no-wait", no_wait), ("--once", once), ("--json", as_json))
        if given
    ]
    if Children(database, chosen, flags, said, imports=import_flags(), once=once).run():
        raise click.exceptions.Exit(FAILED)
