"""`tapefold append`: say something at the leaf of a session, or elsewhere."""

from __future__ import annotations

import sys
from typing import IO

import click

from .options import json_option, session_argument

ROLES = ("user", "assistant", "system")
STDIN = "-"


@click.command("append")
@session_argument
@click.argument("text", required=False)
@click.option(
    "--file",
    "file",
    type=click.File("rb"),
    metavar="FILE",
    help="Take the text from a file; `-`: from standard input.",
)
@click.option(
    "--role", type=click.Choice(ROLES), default=ROLES[0], show_default=True, help="Who says it."
)
@click.option(
    "--under",
    metavar="ENTRY",
    help="The entry that it hangs under: an id, a position, or `none` for the root.  "
    "[default: the leaf; an assistant message has to say it]",
)
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    text: str | None,
    file: IO[bytes] | None,
    role: str,
    under: str | None,
    as_json: bool,
) -> None:
    """Append a message. TEXT may be `-`, or left out, to take it from standard input.

    It takes the leaf if it hangs under it, else it begins a branch.
    """
    from tapefold.domain.tree import LEAF, LeafRef
    from tapefold.finding import find_entry, find_session

    from .jsontext import dump_json
    from .shapes import outcome_shape
    from .stores import open_sessions

    if role == "assistant" and under is None:
        raise click.UsageError("an assistant message needs --under, the entry that it answers")
    said = read_text(text, file)
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        place: LeafRef = LEAF
        if under is not None:
            place = find_entry(sessions, sessions.state(session_id), under)
        outcome = sessions.execute(session_id, lambda s: s.finalize(role, said, under=place))
    if as_json:
        click.echo(dump_json(outcome_shape(outcome)))
    else:
        from .paper import Paper
        from .words import print_warnings

        paper = Paper()
        paper.line(f"position {outcome.position}, entry {outcome.entry_id}")
        print_warnings(paper, outcome.warnings)


def read_text(text: str | None, file: IO[bytes] | None) -> str:
    """The text from the argument, a file or standard input; it has to be UTF-8, and not empty.

    The line break at the end of a file is no part of it.
    """
    if text is not None and file is not None:
        raise click.UsageError("give TEXT or --file, not both")
    if file is None and (text is None or text == STDIN):
        if sys.stdin is None or (text is None and sys.stdin.isatty()):
            raise click.UsageError("there is no text; give TEXT, --file, or - for standard input")
        file = sys.stdin.buffer
    if file is not None:
        text = _decoded(file.read(), getattr(file, "name", "standard input"))
        text = text.removesuffix("\n").removesuffix("\r")
    assert text is not None
    _check(text)
    return text


def _decoded(data: bytes, name: object) -> str:
    from tapefold import InvalidValue

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = name if isinstance(name, str) else "standard input"
        raise InvalidValue(
            f"{where} is not UTF-8 (byte {error.start + 1} is {data[error.start]:#04x}); "
            "convert it first"
        ) from None


def _check(text: str) -> None:
    from tapefold import InvalidValue

    if any("\udc80" <= character <= "\udcff" for character in text):
        raise InvalidValue("the text is not UTF-8; convert it first")
    if not text.strip():
        raise click.UsageError("the text is empty")
