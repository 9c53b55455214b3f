"""`tapefold sessions`: what there is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from .options import json_option
from .since import Since

if TYPE_CHECKING:
    from .listing import Listed, Wanted


@click.command("sessions")
@click.option("--here", is_flag=True, help="Those of this directory and below.")
@click.option(
    "--dir",
    "directory",
    metavar="DIR",
    help="Those of this directory and below.",
)
@click.option(
    "--since",
    type=Since(),
    metavar="WHEN",
    help="Those with activity since: a day, `yesterday`, or how long ago (3h, 2 days).",
)
@click.option(
    "--grep",
    "text",
    metavar="TEXT",
    help="Those that say TEXT: in the title, a message, a summary or a label.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="No more than N, the newest."
)
@click.option(
    "-i", "--interactive", is_flag=True, help="Pick one; its id is printed on standard output."
)
@json_option
@click.pass_obj
def command(
    database: str | None,
    here: bool,
    directory: str | None,
    since: datetime | None,
    text: str | None,
    limit: int | None,
    interactive: bool,
    as_json: bool,
) -> None:
    """List the sessions of the store, the one with the newest activity first.

    Letter case does not count for --grep; a fork is searched for what was said in it, not for
    what it inherits. With -i only the id goes to standard output, so that
    `tapefold view $(tapefold sessions -i)` works.
    """
    from .group import complain
    from .stores import open_sessions

    if interactive and as_json:
        raise click.UsageError("-i asks a person, --json answers a program; give one of them")
    wanted = _wanted(here, directory, since, text, limit)
    with open_sessions(database) as sessions:
        from .listing import listed_sessions

        left: list[str] = []
        listed = list(listed_sessions(sessions, wanted, left))
    for problem in left:
        complain(f"left out: {problem}")
    if interactive:
        from .sessionpicking import pick_session

        picked = pick_session(listed)
        if picked is None:
            raise click.exceptions.Exit(1)
        click.echo(picked)
    elif as_json:
        from .jsontext import dump_json
        from .shapes import sessions_shape

        click.echo(dump_json(sessions_shape(listed)))
    else:
        _print(listed, is_narrowed=any((here, directory, since, text)))


def _wanted(
    here: bool, directory: str | None, since: datetime | None, text: str | None, limit: int | None
) -> Wanted:
    import os

    from .listing import Wanted

    if here and directory is not None:
        raise click.UsageError("give --here or --dir, not both")
    if text is not None and not text:
        raise click.UsageError("the text of --grep is empty")
    if directory is not None and (not directory or "\x00" in directory):
        raise click.UsageError("the directory of --dir is empty")
    place = os.getcwd() if here else directory  # noqa: PTH109 - text is wanted
    return Wanted(None if place is None else os.path.abspath(place), since, text, limit)


def _print(listed: list[Listed], is_narrowed: bool) -> None:
    from .paper import Paper
    from .sessiontable import print_sessions

    if listed:
        print_sessions(Paper(), listed)
    elif is_narrowed:
        click.echo("no session fits; `tapefold sessions` lists them all")
    else:
        click.echo("no sessions yet; `tapefold import FILE` brings some in")
