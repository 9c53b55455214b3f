"""`tapefold fork`: go on from a point of a session, in a session of its own."""

from __future__ import annotations

import click

from .new import check_new_id
from .options import POSITION, complete_leaf, json_option, session_argument
from .texts import WORDS
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
    shell_complete=complete_leaf,
    help="Where the fork begins.  [default: the leaf at that position]",
)
@click.option("--id", "child_id", type=WORDS, metavar="ID", help="The new session's id.")
@click.option(
    "--fork-id",
    type=WORDS,
    metavar="ID",
    help="Name the fork: the same again with the same name answers the session that there is.",
)
@click.option(
    "--title", type=WORDS, metavar="TEXT", help="The new session's title.  [default: the parent's]"
)
@click.option("--empty", is_flag=True, help="Inherit nothing: a session beside it, for a helper.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    at: int | None,
    leaf: str | None,
    child_id: str | None,
    fork_id: str | None,
    title: str | None,
    empty: bool,
    as_json: bool,
) -> None:
    """Fork a session; the parent goes on by itself. Prints the id of the new session."""
    from .shapes import fork_shape
    from .stores import open_sessions

    if empty and leaf is not None:
        raise click.UsageError("a session that inherits nothing has no --leaf")
    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        start = chosen_leaf(sessions, state, leaf)
        child = sessions.fork(
            state.session_id,
            at=at,
            leaf=start,
            child_id=check_new_id(child_id, "--id"),
            fork_id=check_new_id(fork_id, "--fork-id"),
            title=title,
            inherit=not empty,
        )
        if as_json:
            from .jsontext import dump_json

            click.echo(dump_json(fork_shape(child.id, child.state)))
        else:
            from .paper import Paper

            Paper().line(child.id)
