"""`tapefold search`: what was said, in every session."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from .options import complete_session, json_option
from .since import Since
from .texts import WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tapefold import Sessions
    from tapefold.projections.trace_text.searching import Hit, Query

KINDS = (
    "message",
    "thinking",
    "call",
    "result",
    "summary",
    "branch_summary",
    "custom",
    "foreign",
)
ROLES = ("user", "assistant", "system", "tool_result", "custom", "bash_execution")
LIMIT = 20
MOST = 100
AROUND = 40
"""How much is shown in front of what was found. Unit: characters."""
LENGTH = 240


@click.command("search")
@click.argument("query", type=WORDS)
@click.option(
    "--session",
    "session",
    metavar="SESSION",
    shell_complete=complete_session,
    help="In this session alone; a fork with what it inherits.",
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these texts.")
@click.option(
    "--role", "roles", multiple=True, type=click.Choice(ROLES), help="Only messages of these roles."
)
@click.option("--since", type=Since(), metavar="WHEN", help="Said since: a day, 3h, 2 days.")
@click.option("--until", type=Since(), metavar="WHEN", help="Said until then.")
@click.option("--words", "mode", flag_value="words", help="Whole words only, best match first.")
@click.option(
    "--literal",
    "mode",
    flag_value="literal",
    help="QUERY as it stands, in the middle of words too, newest first.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=LIMIT,
    show_default=True,
    metavar="N",
    help="No more than N texts.",
)
@json_option
@click.pass_obj
def command(
    database: str | None,
    query: str,
    session: str | None,
    kinds: tuple[str, ...],
    roles: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    mode: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Search what was said, asked of tools and given back, in every session.

    Texts with all the words of QUERY come first, best match first; then those that hold each part
    of it somewhere. Letter case does not count, and no character has a meaning of its own. Drafts
    are found too; what was struck out or revised is not.

    The first search builds an index beside the store; `tapefold projections run trace_text`
    keeps it up.
    """
    from tapefold.projections.trace_text.searching import BOTH, Query

    from .stores import open_sessions

    with open_sessions(database) as sessions:
        asked = Query(
            query,
            mode or BOTH,
            _session_id(sessions, session),
            kinds=kinds,
            roles=roles,
            since=None if since is None else since.timestamp(),
            until=None if until is None else until.timestamp(),
            limit=limit,
        )
        hits = find(sessions, asked)
    if as_json:
        from .jsontext import dump_json
        from .traceshapes import search_shape

        click.echo(dump_json(search_shape(asked, hits)))
    else:
        _print(asked, hits)


def _session_id(sessions: Sessions, reference: str | None) -> str | None:
    from tapefold.finding import find_session

    return None if reference is None else find_session(sessions, reference)


def find(sessions: Sessions, query: Query) -> list[Hit]:
    """Search the store. Says on standard error what the answer may lack."""
    from tapefold.projections.trace_text.projection import TraceText
    from tapefold.projections.trace_text.searching import TextSearch

    from .projected import projected

    if not query.text.strip():
        return []
    with projected(sessions, TraceText()) as build:
        if query.session_id is not None:
            build.warn_if_parked(query.session_id)
        else:
            build.warn_if_any_parked()
        return TextSearch(build.connection, build.log).search(query)


def _print(query: Query, hits: Sequence[Hit]) -> None:
    from .moments import day_and_time
    from .paper import Paper, Span
    from .visible import one_line
    from .words import count

    paper = Paper()
    if not hits:
        paper.line("nothing was found")
        return
    between = paper.glyphs.between
    for hit in hits:
        what = hit.role if hit.kind == "message" else hit.kind
        facts = [f"#{hit.position}", (what or hit.kind).replace("_", " ")]
        if hit.kind in ("call", "result") and hit.name:
            facts[1] += f" {one_line(hit.name)}"
        if hit.status == "pending":
            facts.append("unfinished")
        facts.append(day_and_time(hit.timestamp))
        said = between.join(fact for fact in facts if fact)
        paper.cut_line(Span(hit.session_id, "mark"), Span(between + said, "dim"))
        before, found, after = _around(query, hit)
        paper.cut_line("  ", before, Span(found, "bold"), after)
    if len(hits) == query.limit:
        paper.line(Span(f"the first {count(len(hits), 'text')}; --limit N shows more", "dim"))


def _around(query: Query, hit: Hit) -> tuple[str, str, str]:
    """The surroundings of what was found: before it, itself, behind it."""
    start = max(hit.at - AROUND, 0)
    words = [query.text] if query.mode == "literal" else query.text.split()
    end = min(hit.at + len(words[0]), len(hit.text))
    last = start + LENGTH
    before = ("…" if start else "") + hit.text[start : hit.at]
    return (
        before,
        hit.text[hit.at : end],
        hit.text[end:last] + ("…" if last < len(hit.text) else ""),
    )
