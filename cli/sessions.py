"""`tapefold sessions`: what there is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from .options import json_option
from .since import Since

if TYPE_CHECKING:
    from .listed import Listed

SORTS = ("newest", "name", "created", "messages", "size", "cost")


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
@click.option("--name", metavar="TEXT", help="Those with TEXT in the title, or in the first words.")
@click.option(
    "--grep",
    "text",
    metavar="TEXT",
    help="Those that say TEXT: in the title, a message, a summary or a label.",
)
@click.option(
    "--sort",
    type=click.Choice(SORTS),
    default=SORTS[0],
    show_default=True,
    help="By what: names from A to Z, all else from the most to the least.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="No more than N of them.")
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Without the first N."
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
    name: str | None,
    text: str | None,
    sort: str,
    limit: int | None,
    offset: int,
    interactive: bool,
    as_json: bool,
) -> None:
    """List the sessions of the store, the one with the newest activity first.

    Letter case does not count for --name and --grep; a fork is searched for what was said in it,
    not for what it inherits. With -i only the id goes to standard output, so that
    `tapefold view $(tapefold sessions -i)` works.

    Where the projection branch_tree runs, the list is read from its session index, which knows
    the tokens and costs as well, and takes no longer for 100,000 sessions.
    """
    from .group import complain
    from .stores import open_sessions

    if interactive and as_json:
        raise click.UsageError("-i asks a person, --json answers a program; give one of them")
    from .listed import Wanted

    wanted = Wanted(
        directory=_directory(here, directory),
        since=since,
        name=_given(name, "--name"),
        text=_given(text, "--grep"),
        sort=sort,
        limit=limit,
        offset=offset,
    )
    with open_sessions(database) as sessions:
        from .indexed import list_sessions

        left: list[str] = []
        listed = list_sessions(sessions, wanted, left)
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
        _print(listed, is_narrowed=wanted.is_narrowed or offset > 0)


def _directory(here: bool, directory: str | None) -> str | None:
    import os

    if here and directory is not None:
        raise click.UsageError("give --here or --dir, not both")
    if directory is not None and (not directory or "\x00" in directory):
        raise click.UsageError("the directory of --dir is empty")
    place = os.getcwd() if here else directory  # noqa: PTH109 - text is wanted
    return None if place is None else os.path.abspath(place)


def _given(text: str | None, option: str) -> str | None:
    if text is not None and not text:
        raise click.UsageError(f"the text of {option} is empty")
    return text


def _print(listed: list[Listed], is_narrowed: bool) -> None:
    from .paper import Paper
    from .sessiontable import print_sessions

    if listed:
        print_sessions(Paper(), listed)
    elif is_narrowed:
        click.echo("no session fits; `tapefold sessions` lists them all")
    else:
        click.echo("no sessions yet; `tapefold import FILE` brings some in")
