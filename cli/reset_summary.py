"""`tapefold reset-summary`: make the context whole again."""

from __future__ import annotations

import click

from .answers import decide, key_option, print_answer, reason_option
from .options import json_option, session_argument


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
    from .named import named_session
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        session_id, _ = named_session(sessions, session)
        done = decide(sessions, session_id, lambda s: s.reset_summary(reason=reason, key=key))
    print_answer(done, as_json)
