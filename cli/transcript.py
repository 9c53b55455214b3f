"""A view as a conversation that a person reads from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapefold.domain.content import TextBlock, ThinkingBlock, ToolCallBlock
from tapefold.domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MODEL,
    RESET,
    THINKING,
    MessageNode,
)
from tapefold.domain.normalise import bash_details, bash_line
from tapefold.domain.order import sort_rows
from tapefold.domain.view import Call, Item, Message, View

from .moments import day_and_time
from .paper import Paper, Span
from .words import (
    arguments_text,
    block_text,
    content_lines,
    count,
    few_lines,
    first_line,
    print_warnings,
    shortened,
)

INDENT = "  "
LONG_COMMAND = 300
"""Longest shell command that is printed whole without --full. Unit: characters."""


def print_view(view: View, full: bool) -> None:
    """Print a view: who said what, each result under its call, warnings at the end."""
    paper = Paper()
    print_heading(paper, view)
    for item in _in_reading_order(view):
        print_item(paper, view, item, full)
    paper.line()
    _ending(paper, view)
    print_warnings(paper, view.warnings)


def print_item(paper: Paper, view: View, item: Item, full: bool) -> None:
    """Print one entry of a view's path as it is read; a result that stands under its call, and
    what says nothing to a reader, prints nothing."""
    message = item.message
    if message is None:
        _other(paper, view, item)
    elif message.role != "tool_result" or message.message_id not in view.pairing.owner_of:
        paper.line()
        _message(paper, view, message, full)


def print_heading(paper: Paper, view: View) -> None:
    """Name, id, position and leaf."""
    if view.name:
        paper.cut_line(Span(view.name, "bold"))
    between = paper.glyphs.between
    facts = [f"position {view.position}", f"leaf {view.leaf or 'none'}"]
    if paper.width is None or len(view.session_id) + 40 <= paper.width:
        paper.cut_line(Span(between.join([view.session_id, *facts]), "dim"))
    else:
        paper.block(view.session_id, style="dim")
        paper.block(between.join(facts), style="dim")


def _in_reading_order(view: View) -> list[Item]:
    """The path as it is read: messages with order numbers by these, the rest where it stands."""

    def key(item: Item) -> tuple[int, str] | None:
        message = item.message
        if message is None or message.order_seq is None:
            return None
        return message.order_seq, message.message_id

    return sort_rows(view.items, key)


def _message(paper: Paper, view: View, message: Message, full: bool) -> None:
    paper.cut_line(*_header(paper, view, message))
    command = bash_line(message.role, message.body.details)
    if command:
        paper.block(command if full else first_line(command, LONG_COMMAND), INDENT, "call")
    for block in message.content:
        if isinstance(block, ThinkingBlock):
            _thinking(paper, block, full)
        elif isinstance(block, TextBlock):
            text, said = shortened(block.text, full)
            if text.strip():
                paper.block(text.rstrip(), INDENT)
            if said:
                paper.block(said, INDENT, "dim")
        elif not isinstance(block, ToolCallBlock):
            paper.block(block_text(block), INDENT, "dim")
    if message.body.error:
        paper.block(message.body.error, INDENT, "bad", first=f"{INDENT}error: ")
    for call in message.calls:
        print_call(paper, call, full)


def _header(paper: Paper, view: View, message: Message) -> Iterator[Span | str]:
    body = message.body
    yield Span(message.role, message.role)
    if message.role == "tool_result":
        yield f" {body.tool_name or ''}".rstrip()
    yield Span(f"  #{message.position}", "dim")
    if message.session_id != view.session_id:
        yield Span(" inherited", "dim")
    moment = day_and_time(message.timestamp)
    facts = [moment, body.model or ""]
    if message.role == "custom" and body.custom_type:
        facts.append(body.custom_type)
    yield Span("".join(f"{paper.glyphs.between}{fact}" for fact in facts if fact), "dim")
    label = view.labels.get(message.entry_id)
    if label is not None:
        yield Span(f"  [{label}]", "label")
    if message.status == "pending":
        yield Span("  (unfinished)", "warning")
    elif message.status == "error":
        yield Span("  (error)", "bad")
    if message.role == "tool_result":
        yield Span("  (answers no call that shows)", "warning")
    elif message.role == "bash_execution" and bash_details(body).get("exclude_from_context"):
        yield Span("  (not in the context)", "warning")


def _thinking(paper: Paper, block: ThinkingBlock, full: bool) -> None:
    if block.thinking.strip():
        text, said = few_lines(block.thinking, full)
        paper.block(text, f"{INDENT}{paper.glyphs.quote} ", "dim")
        if said:
            paper.block(said, f"{INDENT}{paper.glyphs.quote} ", "dim")
    elif block.redacted or block.signature:
        paper.block("(thinking that is not readable)", INDENT, "dim")


def print_call(paper: Paper, call: Call, full: bool) -> None:
    """A tool call with its result under it."""
    glyphs = paper.glyphs
    mark, style = {
        "success": (glyphs.check, "good"),
        "error": (glyphs.cross, "bad"),
        "interrupted": (glyphs.cross, "warning"),
    }.get(call.status, (glyphs.ring, "warning"))
    name = first_line(call.name or "unknown", 80)
    arguments = arguments_text(call.arguments)
    if full or paper.width is not None:
        text = f"{name}({arguments})"
        text = text if full else paper.cut(text, max(paper.width or 0, 20) * 2 - 10)
    else:
        text = f"{name}({first_line(arguments, 300)})"
    paper.block(text, INDENT * 3, "call", first=f"{INDENT}{mark} ")
    result = call.result
    if result is None:
        paper.block("no result yet", INDENT * 3, style)
        return
    if call.status in ("error", "interrupted"):
        paper.block(call.status, INDENT * 3, style)
    text, said = few_lines(content_lines(result.content), full)
    if text.strip():
        paper.block(text, f"{INDENT * 2}{glyphs.quote} ", "dim")
    if said:
        paper.block(said, f"{INDENT * 2}{glyphs.quote} ", "dim")


def _other(paper: Paper, view: View, item: Item) -> None:
    """A node that is no message that shows: what a reader should know of it."""
    event = item.event
    if isinstance(item.node, MessageNode):
        _unseen_message(paper, view, item)
    elif item.kind in ANCHORS and event is not None:
        paper.line()
        name = event.head.name or item.kind
        paper.rule(Span(name, "mark"), Span(f"  #{event.position}", "dim"))
        if event.body.summary and item.kind != RESET:
            paper.block(event.body.summary, f"{INDENT}{paper.glyphs.quote} ", "mark")
    elif item.kind == BRANCH_SUMMARY and event is not None:
        paper.line()
        paper.rule(Span("branch summary", "mark"), Span(f"  #{event.position}", "dim"))
        paper.block(event.body.summary, f"{INDENT}{paper.glyphs.quote} ", "mark")
    elif item.kind == MODEL and event is not None:
        said = " ".join(part for part in (event.body.provider, event.body.model) if part)
        _note(paper, f"model: {said or 'unset'}")
    elif item.kind == THINKING and event is not None:
        _note(paper, f"thinking level: {event.body.level or 'unset'}")
    elif item.kind == CONTEXT_EDIT and event is not None:
        target = event.head.targets[0] if event.head.targets else "?"
        done = "left out of" if event.body.content is None else "replaced in"
        _note(paper, f"{target} is {done} the context from here on")


def _unseen_message(paper: Paper, view: View, item: Item) -> None:
    node: Any = item.node
    message = None if view.state is None else view.state.message(node.message_id)
    if message is None:
        return
    role = message.latest.role or "message"
    if message.struck:
        _note(paper, f"{paper.glyphs.cross} {role} {item.entry_id} was struck out")
    elif message.final is None and message.pending is not None:
        _note(paper, f"{paper.glyphs.ring} {role} {item.entry_id} is unfinished (--pending)")


def _note(paper: Paper, text: str) -> None:
    paper.line()
    paper.block(text, style="dim")


def _ending(paper: Paper, view: View) -> None:
    between = paper.glyphs.between
    settings = view.settings
    facts = [count(len(view.messages), "message")]
    if settings.model:
        provider = f" ({settings.provider})" if settings.provider else ""
        facts.append(f"model {settings.model}{provider}")
    if settings.thinking_level:
        facts.append(f"thinking {settings.thinking_level}")
    paper.block(between.join(facts), style="dim")
