"""`tapefold show`: one entry whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from .options import at_option, entry_argument, json_option, session_argument
from .view import read_state

if TYPE_CHECKING:
    from tapefold import Event, Sessions
    from tapefold.domain.kernel import State

    from .entries import Entry
    from .paper import Paper


@click.command("show")
@session_argument
@entry_argument
@at_option
@click.option("--raw", is_flag=True, help="Print its events as they are stored, one a line.")
@json_option
@click.pass_obj
def command(
    database: str | None, session: str, entry: str, at: int | None, raw: bool, as_json: bool
) -> None:
    """Print one entry whole.

    All versions of it, its calls with their results, and the marks about it. ENTRY may also be
    the position of a mark, such as a label or a retraction.
    """
    from .jsontext import dump_json
    from .shapes import entry_shape, event_shape
    from .stores import open_sessions

    with open_sessions(database) as sessions:
        state = read_state(sessions, session, at)
        whole, mark = find_node_or_mark(sessions, state, entry)
    if raw:
        for event in (mark,) if whole is None else whole.events:
            click.echo(dump_json(event_shape(event), exact=True))
    elif as_json:
        if whole is None:
            click.echo(dump_json({"kind": "mark", "event": event_shape(mark)}))
        else:
            click.echo(dump_json(entry_shape(whole)))
    elif whole is None:
        from .paper import Paper

        _event(Paper(), mark, "")
    else:
        _print(whole)


def find_node_or_mark(
    sessions: Sessions, state: State, reference: str
) -> tuple[Entry | None, Event | Any]:
    """The entry that a reference means, or else (None and) the mark at that position."""
    from tapefold.domain.errors import WrongKind
    from tapefold.domain.tree import require_node
    from tapefold.finding import find_entry, position_of

    from .entries import whole_entry

    try:
        found = find_entry(sessions, state, reference)
    except WrongKind:
        position = position_of(reference)
        if position is None:
            raise
        (mark,) = sessions.tapes.events_at(state.session_id, [position])
        return None, mark
    if found is None:
        raise WrongKind(
            f"session {state.session_id!r}: {reference!r} is the root, before any entry; "
            "name an entry, as the tree shows it"
        )
    return whole_entry(sessions, state, require_node(state, found)), None


# -- for people ----------------------------------------------------------------------------------


def _print(entry: Entry) -> None:
    from .paper import Paper, Span
    from .transcript import print_call

    paper = Paper()
    session_id, position = entry.where
    kind = entry.node.kind.replace("_", " ")
    role = getattr(entry.node, "role", None)
    paper.cut_line(Span(entry.node.entry_id, "bold"), "  ", Span(role or kind, role or "mark"))
    paper.block(paper.glyphs.between.join(_facts(entry, session_id, position)), style="dim")
    many = len(entry.events) > 1
    for number, event in enumerate(entry.events):
        paper.line()
        said = f"version {number + 1} of {len(entry.events)}" if many else ""
        _event(paper, event, said, wins=many and number == entry.wins)
    if entry.message is not None and entry.message.calls:
        paper.line()
        paper.line(Span("calls", "bold"))
        for call in entry.message.calls:
            print_call(paper, call, full=True)
    if entry.marks:
        paper.line()
        paper.line(Span("marks", "bold"))
        for mark in entry.marks:
            _event(paper, mark, "", indent="  ")


def _facts(entry: Entry, session_id: str, position: int) -> list[str]:
    """Where an entry stands, and how."""
    inherited = session_id != entry.state.session_id
    facts = [f"position {position}" + (f" of {session_id} (inherited)" if inherited else "")]
    facts.append(f"under {entry.parent_id or 'the root'}")
    if entry.stands_for is not None:
        facts.append(f"a mark, stands for {entry.stands_for}")
    facts.append("on the path" if entry.on_path else "beside the path")
    if entry.label is not None:
        facts.append(f"label [{entry.label}]")
    if entry.struck:
        facts.append("struck out")
    if entry.children:
        facts.append(f"before {', '.join(entry.children)}")
    return facts


_BESIDE = frozenset({"kind", "timestamp", "entry_id", "parent_id", "message_id", "role", "status"})
"""What of a head stands in the line above, or tells a reader nothing."""
_DIGESTS = frozenset({"digest", "request", "record", "call_ids", "takes_leaf"})
_LONG = ("summary", "error", "raw", "reason")
"""Texts of a body that get lines of their own."""


def _event(paper: Paper, event: Event, said: str, *, wins: bool = False, indent: str = "") -> None:
    """One event: what it is, then all that it says."""
    from tapefold.domain.content import ThinkingBlock, ToolCallBlock

    from .moments import day_and_time
    from .paper import Span
    from .words import arguments_text, content_lines

    head, body = event.head, event.body.to_json()
    parts = [said, type(event).__name__, f"#{event.position}", day_and_time(event.timestamp)]
    parts.append(head.status or "")
    paper.cut_line(
        indent,
        Span(paper.glyphs.between.join(part for part in parts if part), "mark"),
        Span("  shows" if wins else "", "good"),
    )
    inner = indent + "  "
    for block in getattr(event.body, "content", None) or ():
        if isinstance(block, ThinkingBlock):
            text = block.thinking if block.thinking.strip() else "(thinking that is not readable)"
            paper.block(text, f"{inner}{paper.glyphs.quote} ", "dim")
        elif isinstance(block, ToolCallBlock):
            text = f"{block.name}({arguments_text(block.arguments)})  {block.call_id}"
            paper.block(text, inner + "  ", "call", first=f"{inner}{paper.glyphs.arrow} ")
        else:
            paper.block(content_lines((block,)), inner)
    body.pop("content", None)
    rest = {k: v for k, v in head.to_json().items() if k not in _BESIDE | _DIGESTS}
    for name, value in {**rest, **body}.items():
        _field(paper, name, value, inner)


def _field(paper: Paper, name: str, value: Any, indent: str) -> None:
    from .visible import one_line

    if name in _LONG and isinstance(value, str):
        paper.block(value, f"{indent}{paper.glyphs.quote} ", first=f"{indent}{name}: ")
        return
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    paper.block(f"{name}: {one_line(text)}", indent + "  ", "dim", first=indent)
