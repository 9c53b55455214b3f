"""`tapefold thinking`: how much the model thinks from here on."""

from __future__ import annotations

import click

from .answers import decide, key_option, print_answer
from .options import json_option, session_argument
from .texts import WORDS


@click.command("thinking")
@session_argument
@click.argument("level", required=False, type=WORDS)
@click.option("--clear", is_flag=True, help="No level is set from here on.")
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    level: str | None,
    clear: bool,
    key: str | None,
    as_json: bool,
) -> None:
    """Record another LEVEL of thinking.

    From the leaf on, on this path. A level is a word of the model's provider, such as low,
    medium or high.
    """
    from .named import named_session
    from .stores import open_sessions

    if clear == (level is not None):
        raise click.UsageError("give a LEVEL or --clear")
    if level is not None and not level.strip():
        raise click.UsageError("the level is empty; --clear takes it away")
    with open_sessions(database) as sessions:
        session_id, _ = named_session(sessions, session)
        done = decide(sessions, session_id, lambda s: s.set_thinking_level(level, key=key))
    print_answer(done, as_json, [f"thinking level {level or 'unset'}"])
