"""What a provider accepts of a message: no empty text, no hollow or foreign reasoning.

Reasoning is *hollow* when it has neither text nor signature, and *foreign* when another model
wrote it than the one that is asked now: its signature is refused there, and unsigned reasoning
of others is nothing that a model is sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .content import Block, Content, TextBlock, ThinkingBlock, ToolCallBlock
from .view import Message, Settings

PROVIDER_ROLES: Final = {
    "custom": "user",
    "bash_execution": "user",
}


def provider_role(role: str) -> str:
    """The role under which a model is sent a message."""
    return PROVIDER_ROLES.get(role, role)


def model_content(
    message: Message, content: Content, settings: Settings
) -> tuple[Content, str | None]:
    """The blocks that are sent; with none left, the reason: `reasoning_only` or `empty`."""
    if message.role == "bash_execution":
        return (TextBlock.model_construct(text=bash_text(message.body, content)),), None
    foreign = message.role == "assistant" and _is_foreign(message.body, settings)
    kept = sent_blocks(message.role, content, foreign)
    if kept:
        return kept, None
    reasoning = any(isinstance(block, ThinkingBlock) for block in content)
    return (), "reasoning_only" if reasoning else "empty"


def sent_blocks(role: str, content: Content, foreign: bool = False) -> Content:
    """The blocks that a provider accepts of a message; `foreign`: another model wrote it."""
    kept: list[Block] = []
    for block in content:
        if isinstance(block, TextBlock):
            if block.text.strip():
                kept.append(block)
        elif isinstance(block, ThinkingBlock):
            hollow = not block.thinking.strip() and not block.signature
            if not hollow and not foreign:
                kept.append(block)
        elif isinstance(block, ToolCallBlock) and role != "assistant":
            continue
        else:
            kept.append(block)
    if all(isinstance(block, ThinkingBlock) for block in kept):
        return ()
    return tuple(kept)


def each_call_once(content: Content) -> Content:
    """Call ids identify a call inside its message: the first block of an id is the call."""
    seen: set[str] = set()
    blocks = []
    for block in content:
        if isinstance(block, ToolCallBlock):
            if block.call_id in seen:
                continue
            seen.add(block.call_id)
        blocks.append(block)
    return tuple(blocks)


def _is_foreign(body: Any, settings: Settings) -> bool:
    asked = (settings.provider, settings.model)
    wrote = (body.provider, body.model)
    return any(a and w and w not in ("unknown", a) for a, w in zip(asked, wrote, strict=True))


def bash_details(body: Any) -> dict[str, Any]:
    """What a shell command's record says beside its output; empty for any other shape."""
    return body.details if isinstance(body.details, dict) else {}


def bash_line(role: str | None, details: object) -> str:
    """The command of a shell command's record on one line, after a `$`; empty for any other."""
    if role != "bash_execution" or not isinstance(details, Mapping):
        return ""
    command = details.get("command")
    line = " ".join(command.split()) if isinstance(command, str) else ""
    return f"$ {line}" if line else ""


def bash_text(body: Any, content: Content) -> str:
    """A shell command of the user's with its output, as text for the model."""
    details = bash_details(body)
    output = "\n".join(block.text for block in content if isinstance(block, TextBlock))
    parts = [f"Ran `{details.get('command') or ''}`"]
    runs = re.findall(r"`{3,}", output)
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])  # output must not end its own fence
    parts.append(f"{fence}\n{output}\n{fence}" if output else "(no output)")
    if details.get("cancelled"):
        parts.append("(command cancelled)")
    elif details.get("exit_code"):
        parts.append(f"Command exited with code {details['exit_code']}")
    if details.get("truncated") and details.get("full_output_path"):
        parts.append(f"Output cut; all of it: {details['full_output_path']}")
    return "\n".join(parts)
