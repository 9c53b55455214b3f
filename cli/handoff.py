"""`tapefold handoff`: hand a conversation on."""

from __future__ import annotations

from typing import IO

import click

from .answers import decide, key_option, print_answer
from .options import complete_entry, json_option, session_argument
from .texts import WORDS, read_json, read_text, text_source


@click.command("handoff")
@session_argument
@text_source
@click.option(
    "--first-kept",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="The first entry that stays.  [default: none stays]",
)
@click.option("--name", type=WORDS, metavar="NAME", default="manual", help="Name it: handoff/NAME.")
@click.option(
    "--json-state",
    "given",
    type=click.File("rb"),
    metavar="FILE",
    help="A JSON file with a state of your own to be kept with it; `-`: from standard input.",
)
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    text: str | None,
    file: IO[bytes] | None,
    first_kept: str | None,
    name: str,
    given: IO[bytes] | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Hand a conversation on.

    The next model begins with TEXT, a summary. What lies before it is not sent any more; the
    view goes on showing it. What is unfinished stays, and all that follows it: a draft, or a call
    without a result if no user message came after it.
    """
    from .named import named_entry, named_session
    from .stores import open_sessions

    summary = read_text(text, file)
    own = None if given is None else read_json(given)
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        boundary = None
        if first_kept is not None:
            boundary = named_entry(sessions, state, first_kept).entry_id
        done = decide(
            sessions,
            session_id,
            lambda s: s.hand_off(summary, state=own, name=name, first_kept=boundary, key=key),
        )
    print_answer(done, as_json)
