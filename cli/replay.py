"""`tapefold replay`: the tape event by event, with what each did to the view."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
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
@click.option(
    "--at", type=POSITION, metavar="POSITION", help="This one event; with --step: begin here."
)
@click.option(
    "--step",
    is_flag=True,
    help="Go through it by keys, forward and back; where there is no full terminal, by prompts.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Go on with what other processes append, until Ctrl-C.",
)
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    first: int | None,
    last: int | None,
    at: int | None,
    step: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Replay a session: each event of its tape, and what it did to the view.

    What was added, revised, struck out, restored, hidden by an anchor or left with its branch;
    which call was answered, where the leaf went. With --json an object a line.
    """
    from tapefold.finding import find_session

    from .stores import open_sessions

    _check_use(first, last, at, step, follow, as_json)
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        if step:
            _step(sessions, session_id, at, follow)
        else:
            _replay(
                sessions,
                session_id,
                at if first is None else first,
                at if last is None else last,
                follow,
                as_json,
            )


def _check_use(
    first: int | None,
    last: int | None,
    at: int | None,
    step: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Raise `UsageError` for options that say nothing together."""
    if step and as_json:
        raise click.UsageError("--step is for people; it does not go with --json")
    if step and (first is not None or last is not None):
        raise click.UsageError("--step goes through the whole tape; --at says where it begins")
    if at is not None and (first is not None or last is not None):
        raise click.UsageError("--at is one event; it does not go with --from or --to")
    if follow and (last is not None or (at is not None and not step)):
        raise click.UsageError("--follow has no end; it does not go with --to or --at")


def _replay(
    sessions: Sessions,
    session_id: str,
    first: int | None,
    last: int | None,
    follow: bool,
    as_json: bool,
) -> None:
    from .jsontext import dump_json
    from .known import Known
    from .replaying import Screen
    from .shapes import step_shape
    from .tape import chosen_range

    gt, lte = chosen_range(sessions, session_id, first, last, follow=follow)
    follower = begin(sessions, session_id, gt)
    screen = None if as_json else Screen(session_id, Known(follower.state, sessions.tapes))
    for event, effects in steps(_events(sessions, session_id, gt, lte, follow), follower):
        if screen is not None:
            screen.show(event, effects, follower)
        else:
            click.echo(dump_json(step_shape(event, effects, follower)))
    if screen is not None and not follow:
        screen.end()


def begin(sessions: Sessions, session_id: str, gt: int) -> Follower:
    """Who follows the events after `gt`."""
    from .follower import Follower

    return Follower(sessions.state(session_id, at=max(gt, 1)))


def steps(events: Iterable[Event], follower: Follower) -> Iterator[tuple[Event, list[Effect]]]:
    """Events, each with its effects. The follower has gone up to the event that came last."""
    from .effects import mark_effect

    for event in events:
        # The first event makes the state that everything else is compared with.
        yield event, [mark_effect(event)] if event.position == 1 else follower.step(event)


def _events(
    sessions: Sessions, session_id: str, gt: int, lte: int | None, follow: bool
) -> Iterator[Event]:
    if not follow:
        yield from sessions.tape(session_id, gt=gt, lte=lte)
        return
    from .tailing import news

    for found in news(sessions, session_id, gt):
        yield from found
        # What is there is seen now, also where the output is a file or a pipe.
        if sys.stdout is not None:
            sys.stdout.flush()


def _step(sessions: Sessions, session_id: str, at: int | None, follow: bool) -> None:
    from .stepping import Stepper
    from .tape import chosen_range
    from .terminal import has_full_terminal

    chosen_range(sessions, session_id, at, None)
    stepper = Stepper(sessions, session_id, 1 if at is None else at)
    if has_full_terminal():
        from .stepscreen import StepScreen

        StepScreen(stepper, follows=follow).run()
    else:
        from .stepprompts import StepPrompts

        StepPrompts(stepper, follows=follow).run()
