"""`tapefold compact`: a summary in the place of what lies before it, for the model alone."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from .answers import Done, decide, print_answer
from .options import complete_entry, json_option, session_argument
from .summaries import Summary, print_covered, summary_options

if TYPE_CHECKING:
    from tapefold import Context, Sessions
    from tapefold.domain.kernel import State

    from .covered import Covered


@click.command("compact")
@session_argument
@click.option(
    "--first-kept",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="The first entry that stays.",
)
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    metavar="N",
    help="How many messages stay, the last ones; 0: none.",
)
@summary_options
@click.option("--show-covered", is_flag=True, help="Only print what the summary should cover.")
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    first_kept: str | None,
    keep: int | None,
    summary: str | None,
    file: IO[bytes] | None,
    asked: str | None,
    made_at: int | None,
    show_covered: bool,
    as_json: bool,
) -> None:
    """Let a summary stand for what lies before.

    The model is sent the summary instead, and what follows the boundary. The view goes on
    showing everything. The boundary never splits a call from its result: it is moved back, and
    that is said. `reset-summary` takes the summary's rule away.
    """
    from .named import named_session
    from .stores import open_sessions
    from .words import count

    told = Summary(summary, file, asked, made_at)
    if (first_kept is None) == (keep is None):
        raise click.UsageError("say what stays: --first-kept ENTRY or --keep N")
    with open_sessions(database) as sessions:
        session_id, now = named_session(sessions, session)
        state = now if made_at is None else sessions.state(session_id, at=made_at)
        context, covered, boundary = _cover(sessions, state, first_kept, keep)
        if show_covered:
            told.alone()
            print_covered(covered, as_json)
            return
        if not told:
            raise click.UsageError("a compaction needs --summary, --file or --with")
        text = told.written(covered)
        at = told.stood_at(covered)
        done = decide(
            sessions,
            session_id,
            lambda s: s.compact(
                text,
                first_kept=boundary,
                expected_position=at,
                tokens_before=context.manifest["tokens"],
            ),
        )
        kept, rows = _written(sessions, done, context)
    stands = f"the summary stands for {count(rows, 'row')} of the context"
    stays = "nothing before it stays" if kept is None else f"what stays begins at {kept}"
    print_answer(done, as_json, [f"{stands}; {stays}"], {"first_kept_entry_id": kept})


def _cover(
    sessions: Sessions, state: State, first_kept: str | None, keep: int | None
) -> tuple[Context, Covered, str | None]:
    """The context, what a compaction covers of it, and the boundary that is asked for."""
    from tapefold import Session

    from .covered import Covered, first_of_last, rows_of
    from .named import named_entry

    session = Session.of_state(state, None, tapes=sessions.tapes)
    context = session.context()
    if first_kept is not None:
        boundary: str | None = named_entry(sessions, state, first_kept).entry_id
    else:
        boundary = first_of_last(context, state, keep or 0)
    coverage = session.coverage(boundary)
    rows = rows_of(context, coverage.covered)
    covered = Covered(
        state.session_id, state.position, state.leaf, rows, coverage.boundary, coverage.moved
    )
    return context, covered, boundary


def _written(sessions: Sessions, done: Done, context: Context) -> tuple[str | None, int]:
    """The boundary as it was written, and how many rows of the context the summary covers: what
    is empty is covered, and makes no row."""
    from .covered import rows_of

    (event,) = sessions.tapes.events_at(done.outcome.session_id, [done.outcome.position])
    return event.head.first_kept, len(rows_of(context, event.body.covered))
