"""`tapefold forks`: what was forked off a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import json_option, session_argument

if TYPE_CHECKING:
    from .family import Family, Fork
    from .paper import Paper


@click.command("forks")
@session_argument
@json_option
@click.pass_obj
def command(database: str | None, session: str, as_json: bool) -> None:
    """List the forks of a session, and theirs, as a tree."""
    from tapefold.finding import find_session

    from .family import family_of
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        family = family_of(sessions, find_session(sessions, session))
    if as_json:
        from .jsontext import dump_json
        from .shapes import forks_shape

        click.echo(dump_json(forks_shape(family)))
    else:
        _print(family)


def _print(family: Family) -> None:
    from .paper import Paper, Span

    paper = Paper()
    origin = ""
    if family.parent is not None:
        origin = f"  forked from {family.parent} at {family.parent_position}"
    paper.cut_line(Span(family.session_id, "bold"), Span(origin, "dim"))
    last = _last_ones(family.forks)
    lines: list[str] = []
    for fork, is_last in zip(family.forks, last, strict=True):
        del lines[fork.depth - 1 :]
        glyphs = paper.glyphs
        indent = "".join(f"{line} " for line in lines)
        _line(paper, fork, indent + (glyphs.elbow if is_last else glyphs.branch))
        lines.append("  " if is_last else glyphs.down)
    if not family.forks:
        paper.line(Span("no forks", "dim"))


def _last_ones(forks: tuple[Fork, ...]) -> list[bool]:
    """Whether each is the last child of its parent; one walk from the end."""
    last: list[bool] = []
    open_depths: set[int] = set()
    for fork in reversed(forks):
        last.append(fork.depth not in open_depths)
        open_depths = {depth for depth in open_depths if depth < fork.depth} | {fork.depth}
    last.reverse()
    return last


def _line(paper: Paper, fork: Fork, indent: str) -> None:
    from .moments import day_and_time
    from .paper import Span
    from .words import count

    info = fork.info
    if info is None:
        paper.cut_line(indent, " ", fork.told.session_id, Span("  not in this store", "warning"))
        return
    begins = f"at {fork.told.position}" if fork.told.inherits else "empty"
    facts = [begins, count(info.messages, "own message"), info.title or ""]
    facts.append(day_and_time(info.last_activity))
    said = paper.glyphs.between.join(fact for fact in facts if fact)
    paper.cut_line(indent, " ", Span(info.session_id, "bold"), Span(f"  {said}", "dim"))
