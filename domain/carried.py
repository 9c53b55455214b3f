"""Messages that a summary carries in itself. They follow it, paired as all others are; system
messages among them stand before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .calls import Unused
from .content import Content, ToolCallBlock, load_content
from .normalise import each_call_once, provider_role, sent_blocks


@dataclass(frozen=True, slots=True)
class Carried:
    """One row of these. `made_up`: the call has no result among them."""

    role: str
    content: Content
    call_id: str | None = None
    is_error: bool = False
    made_up: bool = False


def carried(kept: object) -> Iterator[Carried]:
    """The rows of an anchor's `kept`: a list of `{"role", "content", "call_id", "is_error"}`.

    It came out of a foreign record: whatever is no message is passed over, and so is a result
    that no call among them asked for.
    """
    messages = [m for m in kept if isinstance(m, dict)] if isinstance(kept, list) else []
    results: dict[str, Unused] = {}
    used: set[int] = set()
    for i, message in enumerate(messages):
        call_id = message.get("call_id")
        if message.get("role") == "tool_result" and isinstance(call_id, str):
            results.setdefault(call_id, Unused()).real.append(i)
    for i, message in enumerate(messages):
        role = str(message.get("role", "user"))
        if role == "tool_result":
            continue  # it stands beside its call
        content = each_call_once(sent_blocks(role, load_content(message.get("content", ()))))
        if not content:
            continue
        yield Carried(provider_role(role), content)
        for block in content:
            if isinstance(block, ToolCallBlock):
                waiting = results.get(block.call_id)
                found = None if waiting is None else waiting.take(i, used)
                if found is None:
                    yield Carried("tool_result", (), block.call_id, True, made_up=True)
                else:
                    used.add(found)
                    yield _result(messages[found], block.call_id)


def tells_system(kept: object) -> bool:
    """Whether an anchor's `kept` says what the system is told from there on: it stands for the
    system messages before the anchor then, those behind its boundary included."""
    return any(row.role == "system" for row in carried(kept))


def _result(message: dict[str, Any], call_id: str) -> Carried:
    content = load_content(message.get("content", ()))
    return Carried("tool_result", content, call_id, message.get("is_error") is True)
