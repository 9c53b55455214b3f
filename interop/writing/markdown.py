"""A session as a document that a person reads: who said what, when, with tools and summaries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...domain.content import (
    Content,
    FileBlock,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from ...domain.events import Event
from ...domain.instants import instant
from ...domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MODEL,
    RESET,
    THINKING,
    AnyNode,
    MessageNode,
)
from ...domain.normalise import bash_details
from ...domain.tree import children, path
from .answers import verdicts
from .family import Family
from .report import ExportReport
from .safe_text import code, fenced, inline, prose

_WHO: Final = {
    "user": "User",
    "assistant": "Assistant",
    "system": "System",
    "tool_result": "Tool result",
    "custom": "Extension",
    "bash_execution": "Shell command",
}


class Document:
    """The way to the leaf; with `every`, then the other branches, each where it goes off."""

    def __init__(self, family: Family, leaf: str | None, every: bool, report: ExportReport) -> None:
        self.family = family
        self.state = family.state
        self.leaf = leaf
        self.every = every
        self.report = report
        report.leaf = leaf
        report.add("document")
        self.below = children(self.state)
        self.way = path(self.state, leaf)
        tips = [key for key in self.state.entries if key not in self.below] if every else []
        self.found = verdicts(self.state, leaf, tips)
        labels = sorted((fact.seq, key) for key, fact in self.state.labels.items())
        self.labels = {
            key: str(family.event(seq).body.label or "")
            for seq, key in labels
            if not (fact := self.state.labels.get(key)) or not fact.cleared
        }

    def lines(self) -> Iterator[bytes]:
        """The lines, without their ends."""
        for line in self._lines():
            data = line.encode("utf-8", "replace")
            self.report.lines += 1
            self.report.size += len(data) + 1
            yield data

    def _lines(self) -> Iterator[str]:
        yield from self._title()
        for node in self.way:
            yield from self._node(node, 2)
        if self.every:
            yield from self._branches()

    def _title(self) -> Iterator[str]:
        first = self.family.event(self.state.offset + 1)
        name, info = self.state.name, self.state.info
        title = None if name is None or name.cleared else self.family.event(name.seq).body.title
        yield f"# {inline(title or self.state.session_id)}"
        yield ""
        yield f"- Session: {code(self.state.session_id)}"
        directory = None if info is None else self.family.event(info.seq).body.directory
        if directory:
            yield f"- Directory: {code(directory)}"
        origin = self.state.origin
        if origin is not None:
            yield f"- Forked from {code(origin.session_id)} at position {origin.position}"
        if _when(first):
            yield f"- Begun: {_when(first)}"
        yield ""

    def _branches(self) -> Iterator[str]:
        """Every node off the way, in runs: a run goes on while a node has but one child."""
        main = {node.entry_id for node in self.way}
        todo = list(reversed(self.below.get(None, [])))
        last: str | None = None
        number = 0
        while todo:
            key = todo.pop()
            todo.extend(reversed(self.below.get(key, [])))
            node = self.state.entries.get(key)
            if node is None or key in main:
                continue
            if last is None or node.parent_id != last:
                number += 1
                after = f" after {code(node.parent_id)}" if node.parent_id else ""
                yield f"## Branch {number}{after}"
                yield ""
            last = key
            yield from self._node(node, 3)

    # -- entries ---------------------------------------------------------------------------

    def _node(self, node: AnyNode, level: int) -> Iterator[str]:
        if isinstance(node, MessageNode):
            yield from self._message(node, level)
            return
        if node.kind not in ANCHORS | {BRANCH_SUMMARY, CONTEXT_EDIT, MODEL, THINKING}:
            return
        event = self.family.event(node.seq)
        body = event.body
        if node.kind == MODEL:
            provider = f" ({inline(body.provider)})" if body.provider else ""
            yield from _note(f"Model: {inline(body.model or 'none')}{provider}")
        elif node.kind == THINKING:
            yield from _note(f"Thinking level: {inline(body.level or 'none')}")
        elif node.kind == CONTEXT_EDIT:
            yield from self._edit(event)
        elif node.kind == RESET:
            yield from _note("The summaries before this do not count any more.")
        else:
            what = "Summary of a branch" if node.kind == BRANCH_SUMMARY else "Summary"
            named = f" ({inline(event.head.name)})" if event.head.name else ""
            yield from self._heading(f"{what}{named}", node, event, level)
            yield from prose(body.summary or "")
            yield ""

    def _edit(self, event: Event) -> Iterator[str]:
        target = ", ".join(code(one) for one in event.head.targets)
        if event.head.cleared or event.body.content is None:
            yield from _note(f"Left out of what the model is sent: {target}")
            return
        yield from _note(f"In place of {target} the model is sent:")
        yield from self._blocks(event.body.content)

    def _heading(self, who: str, node: AnyNode, event: Event, level: int) -> Iterator[str]:
        when = _when(event)
        yield f"{'#' * level} {who}{' · ' + when if when else ''}"
        yield ""
        label = self.labels.get(node.entry_id)
        if label:
            yield from _note(f"Label: {inline(label)}")

    def _message(self, node: MessageNode, level: int) -> Iterator[str]:
        message = self.state.message(node.message_id)
        if message is None or message.final is None:
            struck = message is not None and message.struck
            session_id, position = self.state.locate(node.born)
            self.report.add("struck" if struck else "draft", session_id, position, node.entry_id)
            return
        if node.message_id in self.found.hidden:
            session_id, position = self.state.locate(node.born)
            self.report.add("hidden_result", session_id, position, node.entry_id)
            return
        event = self.family.event(message.final.seq)
        body = event.body
        role = event.head.role or "user"
        who = _WHO.get(role, inline(role))
        named = body.model if role == "assistant" else body.tool_name or body.custom_type
        if named:
            who += f" ({inline(named)})"
        yield from self._heading(who, node, event, level)
        if role == "tool_result":
            yield from self._result(event.head.call_ids, body.is_error, body.content)
        elif role == "bash_execution":
            yield from self._shell(body)
        else:
            yield from self._blocks(body.content)
        for call_id in self.found.calls.get(node.message_id, ()):
            fact = self.state.facts.get((node.message_id, call_id))
            if fact is not None and fact.call_seq:
                said = self.family.event(fact.call_seq).body
                yield from _call(said.name, call_id, said.arguments)
        for call_id, seq in self.found.facts.get(node.message_id, ()):
            result = self.family.event(seq)
            failed = result.head.status == "error"
            yield from self._result((call_id,), failed, result.body.content)
        if event.head.status == "error" or body.error:
            yield from _note(f"Failed: {inline(body.error or body.stop_reason or 'unknown')}")

    def _result(self, call_ids: Iterable[str], is_error: bool, content: Content) -> Iterator[str]:
        what = "Error of" if is_error else "Result of"
        yield from _note(f"{what} call {', '.join(code(one) for one in call_ids)}")
        for block in content:
            if isinstance(block, TextBlock):
                yield from fenced(block.text)
                yield ""
            else:
                yield from self._blocks((block,))

    def _shell(self, body: Any) -> Iterator[str]:
        details = bash_details(body)
        yield from fenced(f"$ {details.get('command') or ''}", "console")
        yield ""
        for block in body.content:
            if isinstance(block, TextBlock):
                yield from fenced(block.text)
                yield ""
        if details.get("exit_code"):
            yield from _note(f"Exit code {inline(str(details['exit_code']))}")

    def _blocks(self, content: Content) -> Iterator[str]:
        for block in content:
            if isinstance(block, TextBlock):
                yield from prose(block.text)
                yield ""
            elif isinstance(block, ThinkingBlock):
                if block.thinking.strip():
                    yield from _note("Thinking:")
                    yield from fenced(block.thinking, "text")
                    yield ""
            elif isinstance(block, ToolCallBlock):
                yield from _call(block.name, block.call_id, block.arguments)
            elif isinstance(block, ImageBlock | FileBlock):
                kind = "Picture" if isinstance(block, ImageBlock) else "File"
                told = getattr(block, "name", None) or block.mime_type or block.url or ""
                yield from _note(f"{kind}: {inline(told)}")
            else:
                yield from _note(f"A block of another kind: {code(_json(block.to_json())[:200])}")


def _call(name: str, call_id: str, arguments: Any) -> Iterator[str]:
    yield f"**Call** {code(name)} ({code(call_id)})"
    yield ""
    if arguments is not None:
        yield from fenced(_json(arguments, indent=2), "json")
        yield ""


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _note(text: str) -> Iterator[str]:
    yield f"*{text}*"
    yield ""


def _when(event: Event) -> str:
    """The time in UTC, or as it was written."""
    moment = instant(event.timestamp)
    if moment is None:
        return "" if event.timestamp is None else inline(str(event.timestamp))
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
