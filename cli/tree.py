"""`tapefold tree`: every branch of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import at_option, json_option, leaf_option, session_argument
from .view import chosen_leaf, read_state

if TYPE_CHECKING:
    from tapefold import Outline, Sessions
    from tapefold.domain.kernel import State

FILTERS = ("all", "labelled", "user", "no-tools")


@click.command("tree")
@session_argument
@click.option(
    "--only",
    type=click.Choice(FILTERS),
    default=FILTERS[0],
    show_default=True,
    help="Show these entries: labelled ones, user messages, or all but results and bare calls.",
)
@click.option(
    "-i",
    "--interactive",
    is_flag=True,
    help="Pick an entry: branch there, label it, or replay up to it.",
)
@at_option
@leaf_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    only: str,
    interactive: bool,
    at: int | None,
    leaf: str | None,
    as_json: bool,
) -> None:
    """Draw every entry of a session; the path to the leaf is marked.

    The longest branch runs straight down, the others stand beside it where they begin. An entry
    is named by its position (#5), its id, or the beginning of the id that is shown. Forks stand
    below the entry from which they go on. With --only an entry hangs under the nearest ancestor
    that is shown.

    With -i the keys are: arrows, PgUp, PgDn, Home, End to move; letters to search; Ctrl-O to
    change the filter; Enter to choose what is done; Ctrl-B to branch there, Ctrl-L to label it,
    Ctrl-R to replay up to it; F1 or Ctrl-G for all keys; Escape to leave. A past state (--at) can
    only be looked at and replayed.
    """
    from .stores import open_sessions

    if interactive:
        if as_json:
            raise click.UsageError("-i asks a person, --json answers a program; give one of them")
        from .browsing import browse_tree

        browse_tree(database, session, only, at, leaf)
        return
    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        outline = read_outline(sessions, state, at, leaf)
    _print(outline, state, only, as_json)


def read_outline(sessions: Sessions, state: State, at: int | None, leaf: str | None) -> Outline:
    """The outline of a state, with the forks that left from it."""
    from dataclasses import replace

    from tapefold.domain.outline import PREVIEW, build_outline
    from tapefold.forks import forks_of

    from .paper import Paper

    chosen = chosen_leaf(sessions, state, leaf)
    outline = build_outline(state, sessions.tapes, chosen, max(Paper().width or 0, PREVIEW))
    return replace(outline, forks=forks_of(sessions, state.session_id, at))


def _print(outline: Outline, state: State, only: str, as_json: bool) -> None:
    from tapefold.domain.outline import narrow_outline

    total = None
    if only != FILTERS[0]:
        total = len(outline.nodes)
        outline = narrow_outline(outline, only)
    if as_json:
        from .jsontext import dump_json
        from .shapes import tree_shape

        click.echo(dump_json(tree_shape(outline)))
    else:
        from .drawing import fork_text, print_tree

        origin = state.origin
        parent = None if origin is None else origin.session_id
        position = None if origin is None else origin.position
        print_tree(outline, total=total, fork_of=fork_text(parent, position))
