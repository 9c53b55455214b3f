"""`tapefold view`: what a session says, as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import at_option, full_option, json_option, leaf_option, session_argument

if TYPE_CHECKING:
    from tapefold import Sessions, View
    from tapefold.domain.kernel import State


@click.command("view")
@session_argument
@at_option
@leaf_option
@click.option("--pending", is_flag=True, help="Show unfinished messages too.")
@full_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    at: int | None,
    leaf: str | None,
    pending: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Print what a session says, at any leaf and any past position.

    Struck messages are marked in their place. Compactions hide nothing here; see `context`.
    """
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        view = read_view(sessions, session, at, leaf, pending)
    if as_json:
        from .jsontext import dump_json
        from .shapes import view_shape

        click.echo(dump_json(view_shape(view)))
    else:
        from .transcript import print_view

        print_view(view, full)


def read_view(
    sessions: Sessions, session: str, at: int | None, leaf: str | None, pending: bool = False
) -> View:
    """The view that the options of a command ask for."""
    from tapefold import build_view

    state = read_state(sessions, session, at)
    return build_view(state, sessions.tapes, chosen_leaf(sessions, state, leaf), pending)


def read_state(sessions: Sessions, session: str, at: int | None) -> State:
    """The state of the session that a reference means."""
    from tapefold.finding import find_session

    return sessions.state(find_session(sessions, session), at=at)


def chosen_leaf(sessions: Sessions, state: State, leaf: str | None) -> Any:
    """The leaf that `--leaf` means; left out: the session's own."""
    from tapefold import LEAF
    from tapefold.finding import find_entry

    return LEAF if leaf is None else find_entry(sessions, state, leaf, digits_are_ids=True)
