"""`tapefold diff`: what differs between two views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import (
    complete_entry,
    complete_session,
    full_option,
    json_option,
    session_argument,
)

if TYPE_CHECKING:
    from tapefold import Sessions, View


@click.command("diff")
@session_argument
@click.argument("a", metavar="[A]", required=False, shell_complete=complete_entry)
@click.argument("b", metavar="[B]", required=False, shell_complete=complete_entry)
@click.option(
    "--with",
    "other",
    metavar="OTHER",
    shell_complete=complete_session,
    help="Compare with another session: B is read there.",
)
@full_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    a: str | None,
    b: str | None,
    other: str | None,
    full: bool,
    as_json: bool,
) -> None:
    """Show what differs in the view from A to B.

    A and B are each a position (6 or #6: the session as it was when that was the last) or an
    entry (the conversation that ends there, as it is now; `none`: the empty path). Left out: the
    session as it is now. So `diff S 6` tells what came after position 6, `diff S 6 9` compares
    two positions, `diff S LEAF LEAF` two branches, and `diff S --with OTHER` two sessions.

    Messages that only one side has are marked - and +, revised ones ~ with the words that
    changed, [-taken away-] and {+added+}; struck out ones x. What both have is counted.
    """
    from tapefold.domain.comparison import compare_views
    from tapefold.finding import find_session

    from .stores import open_sessions

    if a is None and other is None:
        raise click.UsageError("name A (a position or an entry) or another session (--with)")
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        other_id = session_id if other is None else find_session(sessions, other)
        comparison = compare_views(_side(sessions, session_id, a), _side(sessions, other_id, b))
    if as_json:
        from .jsontext import dump_json
        from .shapes import diff_shape

        click.echo(dump_json(diff_shape(comparison)))
    else:
        from .differences import print_comparison
        from .paper import Paper

        print_comparison(Paper(), comparison, full)


def _side(sessions: Sessions, session_id: str, reference: str | None) -> View:
    """The view that A or B means."""
    from tapefold.domain.view import build_view
    from tapefold.finding import find_entry, position_of

    if reference is None:
        return sessions.view(session_id)
    position = position_of(reference)
    if position is not None:
        return sessions.view(session_id, at=position)
    state = sessions.state(session_id)
    return build_view(state, sessions.tapes, find_entry(sessions, state, reference))
