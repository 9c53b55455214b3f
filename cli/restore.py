"""`tapefold restore`: show a struck message again."""

from __future__ import annotations

import click

from .answers import decide, print_answer
from .options import entry_argument, json_option, session_argument
from .texts import WORDS


@click.command("restore")
@session_argument
@entry_argument
@click.option(
    "--reason",
    type=WORDS,
    metavar="TEXT",
    default="restored",
    show_default=True,
    help="Why; it is kept on the tape.",
)
@json_option
@click.pass_obj
def command(database: str | None, session: str, entry: str, reason: str, as_json: bool) -> None:
    """Show a struck message again.

    Its newest version is copied, so that it stands on the tape when it came back.
    """
    from .named import named_message, named_session
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        message_id = named_message(sessions, state, entry)
        done = decide(sessions, session_id, lambda s: s.restore(message_id, reason=reason))
    print_answer(done, as_json)
