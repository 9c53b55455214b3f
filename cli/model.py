"""`tapefold model`: which model answers from here on."""

from __future__ import annotations

import click

from .answers import decide, key_option, print_answer
from .options import json_option, session_argument
from .texts import WORDS


@click.command("model")
@session_argument
@click.argument("model", type=WORDS)
@click.option(
    "--provider",
    type=WORDS,
    metavar="NAME",
    help="Who serves it.  [default: the provider stays as it was]",
)
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    model: str,
    provider: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Record that another MODEL answers now.

    From the leaf on, on this path. The provider stays, unless --provider names another.
    """
    from .named import named_session
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        session_id, _ = named_session(sessions, session)
        done = decide(sessions, session_id, lambda s: s.set_model(model, provider, key=key))
    print_answer(done, as_json, [f"model {model}" + (f" ({provider})" if provider else "")])
