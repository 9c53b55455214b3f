"""Running a writing command, and what it answers: where the effect stands, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from .texts import WORDS

if TYPE_CHECKING:
    from tapefold import Session, Sessions
    from tapefold.domain.outcome import Outcome

F = TypeVar("F", bound=Callable[..., Any])


class Done(NamedTuple):
    """A command's outcome, the leaf after it, and the session that it was run on.

    The outcome of a repeated delivery may stand on an ancestor's tape.
    """

    outcome: Outcome
    leaf: str | None
    session_id: str


def key_option(function: F) -> F:
    """`--key`: safe to be repeated."""
    return click.option(
        "--key",
        metavar="KEY",
        type=WORDS,
        help="Name this delivery: the same again with the same key changes nothing.",
    )(function)


def reason_option(function: F) -> F:
    """`--reason`: why, kept on the tape."""
    said = "Why; it is kept on the tape."
    return click.option("--reason", metavar="TEXT", type=WORDS, help=said)(function)


def keep_summary_option(function: F) -> F:
    """`--keep-summary`: let a summary stand that tells of what changed."""
    return click.option(
        "--keep-summary",
        is_flag=True,
        help="Let the summary stand that tells of it.  [default: it is reset]",
    )(function)


def decide(sessions: Sessions, session_id: str, command: Callable[[Session], Outcome]) -> Done:
    """Run a command on the newest state and append what it triggers, all or nothing."""

    def both(session: Session) -> Done:
        outcome = command(session)
        return Done(outcome, session.state.leaf, session_id)

    return sessions.execute(session_id, both)


def print_answer(
    done: Done, as_json: bool, notes: Sequence[str] = (), more: dict[str, Any] | None = None
) -> None:
    """Print where the effect stands, `notes` on what changed, and the warnings.

    `more`: what the machine shape holds beside the outcome.
    """
    outcome = done.outcome
    if as_json:
        from .jsontext import dump_json
        from .shapes import outcome_shape

        click.echo(dump_json({**outcome_shape(outcome, done.leaf), **(more or {})}))
        return
    from .paper import Paper
    from .words import print_warnings

    paper = Paper()
    paper.block(_where(done))
    if outcome.hidden:
        paper.block("it does not show: the message is struck out", "  ", "warning")
    for note in notes if outcome.changed else ():
        paper.block(note, "  ", "dim")
    print_warnings(paper, outcome.warnings)


def _where(done: Done) -> str:
    outcome = done.outcome
    where = f"position {outcome.position}"
    if outcome.session_id != done.session_id:
        where += f" of {outcome.session_id}"
    if outcome.entry_id is not None:
        where += f", entry {outcome.entry_id}"
    return where if outcome.changed else f"nothing changed: {where}"
