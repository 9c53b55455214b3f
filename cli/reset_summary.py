"""`tapefold reset-summary`: make the context whole again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .answers import decide, key_option, print_answer, reason_option
from .options import json_option, session_argument

if TYPE_CHECKING:
    from tapefold import Session
    from tapefold.domain.kernel import State
    from tapefold.domain.outcome import Outcome


@click.command("reset-summary")
@session_argument
@reason_option
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None, session: str, reason: str | None, key: str | None, as_json: bool
) -> None:
    """Send the model everything again.

    The summary at the leaf rules no more. It stays on the tape, and so does what it told of.
    """
    from tapefold.domain.errors import WrongKind

    from .named import named_session
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        session_id, _ = named_session(sessions, session)

        def reset(now: Session) -> Outcome:
            is_ruled = _is_ruled(now.state)
            outcome = now.reset_summary(reason=reason, key=key)
            if outcome.changed and not is_ruled:  # the same delivery again is none of these
                raise WrongKind(
                    f"session {session_id!r}: no summary rules at the leaf, so there is nothing "
                    "to reset; nothing was written"
                )
            return outcome

        done = decide(sessions, session_id, reset)
    print_answer(done, as_json)


def _is_ruled(state: State) -> bool:
    """Whether a summary or hand-off rules the context at the leaf."""
    from tapefold.domain.selection import select
    from tapefold.domain.tree import path
    from tapefold.domain.view import Item

    items = [Item(n, node) for n, node in enumerate(path(state, state.leaf))]
    return select(state, items, True).ruling is not None
