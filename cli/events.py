"""`tapefold events`: what events a store holds, and whether this program can read them all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from .options import json_option

if TYPE_CHECKING:
    from tapefold.projections.event_checks import EventCheck, EventStats


@click.group("events")
def command() -> None:
    """Count the events of a store by type and version, and check that all can be read.

    Before and after an update: docs/schema-evolution.md.
    """


@command.command("stats")
@json_option
@click.pass_obj
def stats(database: str | None, as_json: bool) -> None:
    """Count the events by type and class version: which upcasters are still needed."""
    from tapefold.projections.event_checks import event_stats

    from .stores import open_sessions

    with open_sessions(database) as sessions, _progress() as tell:
        found = event_stats(sessions.recorder, sessions.mapper, tell)
    if as_json:
        from .jsontext import dump_json

        click.echo(dump_json(found.to_json()))
    else:
        _print_stats(found)


@command.command("check")
@json_option
@click.pass_obj
def check(database: str | None, as_json: bool) -> None:
    """Decode and upcast every event with its body, strictly. Changes nothing.

    Names the failures by session and position, and exits with 1 if there are any.
    """
    from tapefold.projections.event_checks import check_events

    from .group import FAILED
    from .stores import open_sessions

    with open_sessions(database) as sessions, _progress() as tell:
        found = check_events(sessions.recorder, sessions.mapper, tell)
    if as_json:
        from .jsontext import dump_json

        click.echo(dump_json(found.to_json()))
    else:
        _print_check(found)
    if found.failed:
        raise click.exceptions.Exit(FAILED)


def _print_stats(found: EventStats) -> None:
    from tapefold.projections.event_checks import known_version

    from .paper import Paper, Span
    from .words import count

    paper = Paper()
    for (topic, version), number in sorted(found.counts.items()):
        known = known_version(topic)
        note = ""
        if known is None:
            note = "  unknown to this program"
        elif version < known:
            note = f"  upcast to version {known}"
        elif version > known:
            note = f"  newer than this program, which knows version {known}"
        style = "dim" if known is not None and version < known else "bad"
        paper.line(f"{number:>12,}  {topic}, version {version}", Span(note, style))
    for topic, number in sorted(found.foreign.items()):
        paper.line(Span(f"{number:>12,}  {topic}, not ours", "dim"))
    if found.unreadable:
        paper.line(Span(f"{count(found.unreadable, 'event')} unreadable", "bad"))
    if not (found.counts or found.foreign or found.unreadable):
        paper.line("no events")


def _print_check(found: EventCheck) -> None:
    from .paper import Paper, Span
    from .words import count

    paper = Paper()
    for one in found.failures:
        paper.block(
            f"session {one.session_id}, position {one.position} ({one.topic}): {one.error}",
            "    ",
            "bad",
            first="  ",
        )
    if found.failed > len(found.failures):
        paper.line(Span(f"  and {found.failed - len(found.failures):,} more of these", "dim"))
    parts = [f"{count(found.events, 'event')} read", f"{found.upcast:,} of an older version"]
    if found.foreign:
        parts.append(f"{found.foreign:,} of other aggregates left alone")
    parts.append(f"{found.failed:,} failed")
    paper.line(Span(paper.glyphs.between.join(parts), "bad" if found.failed else "good"))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("events", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
