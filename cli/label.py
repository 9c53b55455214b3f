"""`tapefold label`: give an entry a name of its own."""

from __future__ import annotations

from typing import IO

import click

from .answers import decide, print_answer
from .options import entry_argument, json_option, session_argument
from .texts import read_cleared_or_text, text_source


@click.command("label")
@session_argument
@entry_argument
@text_source
@click.option("--clear", is_flag=True, help="Take the label away.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    entry: str,
    text: str | None,
    file: IO[bytes] | None,
    clear: bool,
    as_json: bool,
) -> None:
    """Label an entry, on whatever branch. A label that it has is replaced."""
    from .named import named_entry, named_session
    from .stores import open_sessions

    said = read_cleared_or_text(clear, text, file)
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        target = named_entry(sessions, state, entry).entry_id
        done = decide(sessions, session_id, lambda s: s.label(target, said))
    print_answer(done, as_json, ["its label is taken away" if said is None else f"[{said}]"])
