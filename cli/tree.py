"""`tapefold tree`: every branch of a session."""

from __future__ import annotations

import click

from .options import at_option, json_option, leaf_option, session_argument
from .view import chosen_leaf, read_state


@click.command("tree")
@session_argument
@at_option
@leaf_option
@json_option
@click.pass_obj
def command(
    database: str | None, session: str, at: int | None, leaf: str | None, as_json: bool
) -> None:
    """Draw every entry of a session; the path to the leaf is marked.

    The longest branch runs straight down, the others stand beside it where they begin. An entry
    is named by its id or by the beginning of it that is shown.
    """
    from tapefold.domain.outline import build_outline

    from .stores import open_sessions

    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        outline = build_outline(state, sessions.tapes, chosen_leaf(sessions, state, leaf))
    if as_json:
        from .jsontext import dump_json
        from .shapes import tree_shape

        click.echo(dump_json(tree_shape(outline)))
    else:
        from .drawing import print_tree

        print_tree(outline)
