"""`tapefold sessions`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import json_option

if TYPE_CHECKING:
    from .listing import Listed
    from .paper import Paper

NARROW = 70
"""Below this many columns a session takes two lines."""


@click.command("sessions")
@json_option
@click.pass_obj
def command(database: str | None, as_json: bool) -> None:
    """List the sessions of the store, the newest first."""
    from .listing import listed_sessions
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        listed = list(listed_sessions(sessions))
    if as_json:
        from .jsontext import dump_json
        from .shapes import sessions_shape

        click.echo(dump_json(sessions_shape(listed)))
    elif not listed:
        click.echo("no sessions yet; `tapefold import FILE` brings some in")
    else:
        _print(listed)


def _print(listed: list[Listed]) -> None:
    from .paper import Paper, Span, cell_len, pad
    from .visible import one_line

    paper = Paper()
    if paper.width is not None and paper.width < NARROW:
        for one in listed:
            paper.cut_line(Span(_title(one), "bold"))
            paper.cut_line("  ", Span(_facts(paper, one), "dim"))
        return
    rows = [("SESSION", "MESSAGES", "LAST ACTIVITY", "TITLE OR FIRST WORDS", "WHERE")]
    rows.extend(_row(one) for one in listed)
    rows = [
        (one_line(row[0]), row[1], one_line(row[2]), one_line(row[3]), one_line(row[4]))
        for row in rows
    ]
    if paper.width is not None:
        widest = max(paper.width // 4, 16)
        rows = [
            (_from_the_end(paper, row[0], widest), row[1], row[2], row[3], row[4]) for row in rows
        ]
        title = max(paper.width * 2 // 5, 16)
        rows = [(row[0], row[1], row[2], paper.cut(row[3], title), row[4]) for row in rows]
    widths = [max(cell_len(row[n]) for row in rows) for n in range(4)]
    for n, row in enumerate(rows):
        style = "bold" if n == 0 else ""
        paper.cut_line(
            Span(pad(row[0], widths[0]), style or "mark"),
            "  ",
            Span(row[1].rjust(widths[1]), style),
            "  ",
            Span(pad(row[2], widths[2]), style or "dim"),
            "  ",
            Span(pad(row[3], widths[3]), style),
            "  ",
            Span(row[4], style or "dim"),
        )


def _row(one: Listed) -> tuple[str, str, str, str, str]:
    from .moments import day_and_time

    info = one.info
    where = info.directory or ""
    if info.parent is not None:
        where = f"fork of {info.parent} at {info.parent_position}" + (where and f", {where}")
    return (
        info.session_id,
        f"{info.messages:,}",
        day_and_time(info.last_activity),
        _title(one),
        where,
    )


def _title(one: Listed) -> str:
    return one.info.title or one.first_words or "(no words yet)"


def _facts(paper: Paper, one: Listed) -> str:
    from .moments import day_and_time
    from .words import count

    facts = [
        _from_the_end(paper, one.info.session_id, max((paper.width or 40) // 2, 8)),
        count(one.info.messages, "message"),
        day_and_time(one.info.last_activity),
    ]
    return paper.glyphs.between.join(facts)


def _from_the_end(paper: Paper, session_id: str, width: int) -> str:
    """An id that is too long, by its end: ids that were made one after the other begin alike,
    and an end names a session as well as a beginning does."""
    if len(session_id) <= width:
        return session_id
    mark = paper.glyphs.ellipsis
    return mark + session_id[len(mark) - width :]
