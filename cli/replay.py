"""`tapefold replay`: the tape event by event, with what each did to the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .options import POSITION, json_option, session_argument

if TYPE_CHECKING:
    from tapefold import Event, Sessions

    from .effects import Effect
    from .follower import Follower


@click.command("replay")
@session_argument
@click.option("--from", "first", type=POSITION, metavar="POSITION", help="Begin here.")
@click.option("--to", "last", type=POSITION, metavar="POSITION", help="End here, included.")
@click.option("--at", type=POSITION, metavar="POSITION", help="This one event.")
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
    """Replay a session: each event of its tape, and what it did to the view.

    What was added, revised, struck out, restored, hidden by an anchor or left with its branch;
    which call was answered, where the leaf went. With --json an object a line.
    """
    from tapefold.finding import find_session

    from .jsontext import dump_json
    from .replaying import Screen
    from .shapes import step_shape
    from .stores import open_sessions
    from .tape import chosen_range

    if at is not None and (first is not None or last is not None):
        raise click.UsageError("--at is one event; it does not go with --from or --to")
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        gt, lte = chosen_range(
            sessions, session_id, at if first is None else first, at if last is None else last
        )
        screen = None if as_json else Screen(session_id)
        for event, effects, follower in steps(sessions, session_id, gt, lte):
            if screen is not None:
                screen.show(event, effects, follower)
            else:
                click.echo(dump_json(step_shape(event, effects, follower)))
        if screen is not None:
            screen.end()


def steps(
    sessions: Sessions, session_id: str, gt: int, lte: int | None
) -> Iterator[tuple[Event, list[Effect], Follower]]:
    """The events after `gt` up to `lte`, each with its effects, and who follows them.

    The follower goes on with the next step: ask it before that.
    """
    from .effects import mark_effect
    from .follower import Follower

    follower = Follower(sessions.state(session_id, at=max(gt, 1)))
    for event in sessions.tape(session_id, gt=gt, lte=lte):
        # The first event makes the state that everything else is compared with.
        effects = [mark_effect(event)] if event.position == 1 else follower.step(event)
        yield event, effects, follower
