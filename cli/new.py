"""`tapefold new`: begin a session."""

from __future__ import annotations

import os
from pathlib import Path

import click

from .options import json_option
from .texts import WORDS


@click.command("new")
@click.option("--title", type=WORDS, metavar="TEXT", help="What it is called.")
@click.option(
    "--dir",
    "directory",
    type=WORDS,
    metavar="PATH",
    help="The directory that it is about.  [default: the current one]",
)
@click.option("--id", "session_id", type=WORDS, metavar="ID", help="Its id.  [default: a new UUID]")
@json_option
@click.pass_obj
def command(
    database: str | None,
    title: str | None,
    directory: str | None,
    session_id: str | None,
    as_json: bool,
) -> None:
    """Begin a session. Prints its id. The store is made if there is none."""
    from .stores import open_sessions

    with open_sessions(database, create=True) as sessions:
        made = sessions.start(
            check_new_id(session_id, "--id"),
            title=title,
            directory=_chosen(directory),
            persist=True,
        )
        if as_json:
            from .jsontext import dump_json
            from .shapes import new_shape

            click.echo(dump_json(new_shape(sessions.info(made.id))))
        else:
            from .paper import Paper

            Paper().line(made.id)


def check_new_id(given: str | None, option: str) -> str | None:
    """An id that a caller chose for a new session. Raises `InvalidValue` that names the option.

    One that the command line could not be told afterwards is refused.
    """
    from tapefold.domain.errors import InvalidValue
    from tapefold.domain.identifiers import check_id
    from tapefold.finding import LAST, LEFT_OUT

    if given is None:
        return None
    check_id(given, option)
    if given == LAST:
        raise InvalidValue(f"{option} {given!r} means the newest session; choose another id")
    if given.startswith(("-", *LEFT_OUT)):
        raise InvalidValue(f"{option} {given!r} begins with {given[0]!r}; choose another id")
    if any(character.isspace() for character in given):
        raise InvalidValue(f"{option} {given!r} has white space in it; choose an id without")
    return given


def _chosen(directory: str | None) -> str | None:
    """The directory as an absolute path; that of the process where none is given."""
    if directory is not None:
        return os.path.abspath(directory) if directory else None
    try:
        here = str(Path.cwd())
        here.encode()
    except (OSError, UnicodeEncodeError):
        return None  # it is gone, or its name is no text: nobody asked for it
    return here
