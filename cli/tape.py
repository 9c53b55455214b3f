"""`tapefold tape`: what was written, an event a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import POSITION, json_option, session_argument

if TYPE_CHECKING:
    from tapefold import Event, Sessions

    from .paper import Paper


@click.command("tape")
@session_argument
@click.option("--from", "first", type=POSITION, metavar="POSITION", help="Begin here.")
@click.option("--to", "last", type=POSITION, metavar="POSITION", help="End here, included.")
@click.option("--at", type=POSITION, metavar="POSITION", help="The same as --to.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    first: int | None,
    last: int | None,
    at: int | None,
    as_json: bool,
) -> None:
    """Print a session's own tape, one event a line, exactly as it was written.

    What a fork inherits stands on its parent's tape; the first line names it.
    """
    from tapefold.finding import find_session

    from .jsontext import dump_json
    from .paper import Paper
    from .shapes import event_shape
    from .stores import open_sessions

    if at is not None and last is not None:
        raise click.UsageError("--at says the same as --to; give one of them")
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        gt, lte = chosen_range(sessions, session_id, first, last if at is None else at)
        paper = Paper()
        for event in sessions.tape(session_id, gt=gt, lte=lte):
            if as_json:
                click.echo(dump_json(event_shape(event), exact=True))
            else:
                _print(paper, event)


def chosen_range(
    sessions: Sessions,
    session_id: str,
    first: int | None,
    last: int | None,
    *,
    follow: bool = False,
) -> tuple[int, int | None]:
    """What `--from` and `--to` mean: after which position, up to which.

    `follow`: it may begin with the event that comes next. Raises `PositionOutOfRange` for a
    position that the tape does not have, `UsageError` for an end before the begin.
    """
    from tapefold import PositionOutOfRange

    for position in (first, last):
        if position is not None:
            end = sessions.recorder.stream_version(session_id) or 0
            if not 1 <= position <= end + follow:
                raise PositionOutOfRange(session_id, position, end)
    if first is not None and last is not None and first > last:
        raise click.UsageError(f"--from {first} comes after --to {last}")
    return (0 if first is None else first - 1), last


def _print(paper: Paper, event: Event) -> None:
    from tapefold.domain.outline import preview_of

    from .moments import time_of_day
    from .paper import Span
    from .words import first_line

    head, body = event.head, event.body
    what = [head.role or head.name or "", head.status if head.status not in (None, "sent") else ""]
    parts = [f" {part}" for part in what if part]
    ids = head.entry_id or head.message_id or ""
    preview = first_line(preview_of(event))
    if not preview:
        preview = first_line(
            str(getattr(body, "title", None) or getattr(body, "label", None) or "")
        )
    paper.cut_line(
        Span(f"{event.position:>6}", "bold"),
        Span(f"  {time_of_day(event.timestamp):<8}  ", "dim"),
        Span(type(event).__name__, "mark"),
        Span("".join(parts), head.role or ""),
        Span(f"  {ids}" if ids else "", "dim"),
        f"  {preview}",
    )
