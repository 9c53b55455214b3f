"""`tapefold retract`: strike messages out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .answers import Done, decide, keep_summary_option, print_answer, reason_option
from .options import complete_entry, json_option, session_argument

if TYPE_CHECKING:
    from tapefold import Sessions


@click.command("retract")
@session_argument
@click.argument("entries", nargs=-1, metavar="[ENTRY]...", shell_complete=complete_entry)
@click.option(
    "--from",
    "first",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="All messages from this entry on, down to the leaf.",
)
@reason_option
@keep_summary_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    entries: tuple[str, ...],
    first: str | None,
    reason: str | None,
    keep_summary: bool,
    as_json: bool,
) -> None:
    """Strike messages out, on every branch.

    They stay on the tape; `restore` shows one again.
    """
    from .named import named_entry, named_message, named_session
    from .stores import open_sessions

    if bool(entries) == (first is not None):
        raise click.UsageError("give the ENTRY to strike out, or --from ENTRY")
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        how: dict[str, Any] = {"reason": reason, "keep_summary": keep_summary}
        if first is None:
            ids = [named_message(sessions, state, entry) for entry in entries]
            done = decide(sessions, session_id, lambda s: s.retract(ids, **how))
        else:
            start = named_entry(sessions, state, first).entry_id
            done = decide(sessions, session_id, lambda s: s.retract_from(start, **how))
        struck = struck_by(sessions, done)
    from .words import count, some_ids

    said = f"struck out: {count(len(struck), 'message')} ({some_ids(struck, {}, most=8)})"
    print_answer(done, as_json, [said], {"struck": struck})


def struck_by(sessions: Sessions, done: Done) -> list[str]:
    """The message ids that a retraction struck out; none where it changed nothing."""
    outcome = done.outcome
    if not outcome.changed:
        return []
    (event,) = sessions.tapes.events_at(outcome.session_id, [outcome.position])
    return list(event.head.targets)
