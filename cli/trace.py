"""`tapefold trace`: what was sent to models, what came back, which tools were called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import complete_entry, json_option, session_argument

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.projections.trace_index.reading import TraceReader


@click.command("trace")
@session_argument
@click.argument("request", required=False)
@click.option(
    "--entry",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="Which requests contained this entry, or left it out; those of forks too.",
)
@json_option
@click.pass_obj
def command(
    database: str | None, session: str, request: str | None, entry: str | None, as_json: bool
) -> None:
    """Print what a session sent to models, how each attempt ended, and its tool calls.

    With REQUEST (its position, #12, or its id): every entry that the request contained or left
    out, and why. Requests and attempts are there as far as whoever wrote the session recorded
    them.
    """
    from tapefold.finding import find_session
    from tapefold.projections.trace_index.projection import TraceIndex
    from tapefold.projections.trace_index.reading import TraceReader

    from .projected import projected
    from .stores import open_sessions

    if request is not None and entry is not None:
        raise click.UsageError("give REQUEST or --entry, not both")
    with open_sessions(database) as sessions:
        session_id = find_session(sessions, session)
        with projected(sessions, TraceIndex()) as build:
            if entry is None:
                build.warn_if_parked(session_id)
            reader = TraceReader(build.connection, build.log)
            if entry is not None:
                build.warn_if_any_parked()
                _entry(sessions, reader, session_id, entry, as_json)
            elif request is not None:
                _request(reader, session_id, request, as_json)
            else:
                _session(reader, session_id, as_json)


def _session(reader: TraceReader, session_id: str, as_json: bool) -> None:
    trace = reader.trace(session_id)
    if as_json:
        from .jsontext import dump_json
        from .traceshapes import trace_shape

        click.echo(dump_json(trace_shape(trace)))
        return
    from .tracing import print_trace

    print_trace(trace)


def _request(reader: TraceReader, session_id: str, reference: str, as_json: bool) -> None:
    request = reader.request(session_id, reference)
    references = reader.references(request)
    if as_json:
        from .jsontext import dump_json
        from .traceshapes import request_shape

        click.echo(dump_json(request_shape(request, references)))
        return
    from .tracing import print_request

    print_request(request, references, reader.first_words)


def _entry(
    sessions: Sessions, reader: TraceReader, session_id: str, entry: str, as_json: bool
) -> None:
    from tapefold.domain.tree import born

    from .named import named_entry

    state = sessions.state(session_id)
    node = named_entry(sessions, state, entry)
    home = state.locate(born(node))[0]
    found = reader.of_entry(home, node.entry_id)
    if as_json:
        from .jsontext import dump_json
        from .traceshapes import entry_shape

        click.echo(dump_json(entry_shape(home, node.entry_id, found)))
        return
    from .tracing import print_uses

    print_uses(node.entry_id, found)
