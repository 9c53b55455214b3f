"""`tapefold context`: what a model is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import at_option, full_option, json_option, leaf_option, session_argument
from .view import chosen_leaf, read_state

if TYPE_CHECKING:
    from tapefold.domain.kernel import State

POLICIES = ("anchored", "full")
PEERS = ("tau", "pi")


@click.command("context")
@session_argument
@at_option
@leaf_option
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default=POLICIES[0],
    show_default=True,
    help="Apply the summary that rules, or none.",
)
@click.option(
    "--as",
    "peer",
    type=click.Choice(PEERS),
    help="What that tool itself would send, by its own rules (always JSON).",
)
@full_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    at: int | None,
    leaf: str | None,
    policy: str,
    peer: str | None,
    full: bool,
    as_json: bool,
) -> None:
    """Print what a model is sent at a leaf: the rows, and what is left out and why."""
    from tapefold import build_context, build_view

    from .jsontext import dump_json
    from .shapes import context_shape
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        start = chosen_leaf(sessions, state, leaf)
        context = build_context(build_view(state, sessions.tapes, start), policy)
        replayed = None if peer is None else replay_as(peer, state, sessions.tapes, start)
    if as_json or replayed is not None:
        click.echo(dump_json({**context_shape(context), **(replayed or {})}))
    else:
        from .prompt import print_context

        print_context(context, full)


def replay_as(peer: str, state: State, tapes: Any, leaf: Any) -> dict[str, Any]:
    """What `--as` adds: `messages` and `state`, in that tool's own shape and by its rules."""
    if peer == "tau":
        from tapefold.interop.tau_replay import as_tau

        return as_tau(state, tapes, leaf)
    from tapefold.interop.pi_replay import as_pi

    return as_pi(state, tapes, leaf)
