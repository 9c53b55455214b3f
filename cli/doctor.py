"""`tapefold doctor`: is the store sound, and what to do if it is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from .options import complete_session, json_option

if TYPE_CHECKING:
    from tapefold.persistence.checkup import Checkup

    from .paper import Paper

STYLES = {"wrong": "bad", "risk": "warning", "note": "dim"}


@click.command("doctor")
@click.argument("session", required=False, shell_complete=complete_session)
@json_option
@click.pass_obj
def command(database: str | None, session: str | None, as_json: bool) -> None:
    """Check the store, or one SESSION and what it inherits, and say what to do.

    Looks at the file and its folder, at SQLite's own structures, and at every event: positions
    without gaps, heads against bodies, forks against the sessions that they come from. Changes
    nothing. Exits with 1 when something is wrong; risks and notes are only told.
    """
    from .group import FAILED
    from .jsontext import dump_json

    env = _settings(database)
    session_id = None if session is None else _find(env, session)
    checkup = _check(env, session_id)
    if as_json:
        click.echo(dump_json(checkup_shape(checkup, session_id)))
    else:
        from .paper import Paper

        _print(Paper(), checkup, session_id)
    if checkup.findings.wrong:
        raise click.exceptions.Exit(FAILED)


def checkup_shape(checkup: Checkup, session_id: str | None) -> dict[str, Any]:
    """What a check found, for programs."""
    findings = checkup.findings
    return {
        "store": checkup.store,
        "session_id": session_id,
        "sound": not findings.wrong,
        "bytes": checkup.bytes,
        "sessions": checkup.sessions,
        "events": checkup.events,
        "foreign_events": checkup.foreign,
        "counts": findings.counts,
        "findings": [
            {
                "code": found.code,
                "level": found.level,
                "session_id": found.session_id,
                "position": found.position,
                "text": found.text,
                "advice": found.advice,
            }
            for found in findings.listed
        ],
    }


# -- what is checked ---------------------------------------------------------------------------


def _settings(database: str | None) -> dict[str, str]:
    """What an application would open the store with."""
    from tapefold.settings import MEMORY, database_url, environment

    url = database_url(database)
    if url == MEMORY:
        raise click.UsageError("a store in memory has nothing to check; give --db with a file")
    return {**os.environ, **environment(url)}


def _find(env: dict[str, str], reference: str) -> str:
    """The id that a reference means; itself where the store is too damaged to look."""
    from tapefold.finding import find_session
    from tapefold.persistence.errors import StoreError, StoreMissing
    from tapefold.persistence.quiet import quiet_uri
    from tapefold.persistence.sqlite_address import parse_address
    from tapefold.sessions import Sessions

    name = env["SQLITE_DBNAME"]
    path = parse_address(name).path
    uri = name if path is None else quiet_uri(path)
    try:
        with Sessions(uri, env={"CREATE_TABLE": "no"}) as sessions:
            return find_session(sessions, reference)
    except StoreMissing:
        raise
    except StoreError:
        return reference


def _check(env: dict[str, str], session_id: str | None) -> Checkup:
    from tapefold.persistence.checkup import check_store

    with _progress() as tell:
        return check_store(env, session_id, tell)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """What shows how far a check is, if standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("checking {task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("the file", total=None)

        def tell(what: str, done: int, total: int) -> None:
            progress.update(task, description=f"the {what}", completed=done, total=total or None)

        yield tell


# -- for people --------------------------------------------------------------------------------


def _print(paper: Paper, checkup: Checkup, session_id: str | None) -> None:
    from .paper import Span
    from .words import count

    paper.line(Span(checkup.store, "bold"))
    told: set[tuple[str, str]] = set()
    for found in checkup.findings.listed:
        where = "" if found.session_id is None else f"session {found.session_id}"
        where += "" if found.position is None else f", position {found.position}"
        text = f"{where}: {found.text}" if where else found.text
        paper.block(text, " " * 8, STYLES[found.level], first=f"  {found.level:<5} ")
        if (found.code, found.advice) not in told:
            told.add((found.code, found.advice))
            paper.block(found.advice, " " * 10, first=f"        {paper.glyphs.arrow} ")
    unlisted = sum(checkup.findings.counts.values()) - len(checkup.findings.listed)
    if unlisted:
        paper.line(Span(f"  and {unlisted:,} more of these", "dim"))
    parts = [count(checkup.sessions, "session"), count(checkup.events, "event")]
    parts.append(f"{checkup.bytes:,} bytes")
    if checkup.foreign:
        parts.append(f"{count(checkup.foreign, 'event')} of other aggregates left alone")
    paper.line(Span(paper.glyphs.between.join(parts), "dim"))
    wrong = checkup.findings.wrong
    what = "store" if session_id is None else "session"
    if wrong:
        paper.line(Span(f"{count(wrong, 'thing')} wrong", "bad"))
    else:
        paper.line(Span(f"the {what} is sound", "good"))
