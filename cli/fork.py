"""`tapefold fork`: go on from a point of a session, in a session of its own."""

from __future__ import annotations

import click

from .options import POSITION, json_option, session_argument
from .view import chosen_leaf, read_state


@click.command("fork")
@session_argument
@click.option(
    "--at",
    type=POSITION,
    metavar="POSITION",
    help="Inherit the tape up to this position.  [default: all of it]",
)
@click.option(
    "--leaf",
    metavar="ENTRY",
    help="Where the fork begins.  [default: the leaf at that position]",
)
@click.option("--id", "child_id", metavar="ID", help="The new session's id.")
@click.option("--title", metavar="TEXT", help="The new session's title.  [default: the parent's]")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    at: int | None,
    leaf: str | None,
    child_id: str | None,
    title: str | None,
    as_json: bool,
) -> None:
    """Fork a session; the parent goes on by itself. Prints the id of the new session."""
    from .shapes import fork_shape
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        start = chosen_leaf(sessions, state, leaf)
        child = sessions.fork(state.session_id, at=at, leaf=start, child_id=child_id, title=title)
        if as_json:
            from .jsontext import dump_json

            click.echo(dump_json(fork_shape(child.id, child.state)))
        else:
            from .paper import Paper

            Paper().line(child.id)
