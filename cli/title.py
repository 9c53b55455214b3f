"""`tapefold title`: name a session."""

from __future__ import annotations

from typing import IO

import click

from .answers import decide, print_answer
from .options import json_option, session_argument
from .texts import read_cleared_or_text, text_source
from .visible import one_line


@click.command("title")
@session_argument
@text_source
@click.option("--clear", is_flag=True, help="Take the title away.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    text: str | None,
    file: IO[bytes] | None,
    clear: bool,
    as_json: bool,
) -> None:
    """Name a session. A title that it has is replaced; line breaks become spaces."""
    from .named import named_session
    from .stores import open_sessions

    said = read_cleared_or_text(clear, text, file)
    with open_sessions(database) as sessions:
        session_id, _ = named_session(sessions, session)
        done = decide(sessions, session_id, lambda s: s.set_title(said))
    print_answer(done, as_json, ["its title is taken away" if said is None else one_line(said)])
