"""Token estimates: characters / 4, rounded up, tool calls and reasoning counted."""

from __future__ import annotations

import json

from .content import Content, OtherBlock, TextBlock, ThinkingBlock, ToolCallBlock


def estimate_tokens(content: Content) -> int:
    """An estimate for one row. Unit: tokens. Inline images and files count by their data."""
    characters = 0
    for block in content:
        if isinstance(block, TextBlock):
            characters += len(block.text)
        elif isinstance(block, ThinkingBlock):
            characters += len(block.thinking)
        elif isinstance(block, ToolCallBlock):
            characters += len(block.name or "") + len(json.dumps(block.arguments))
        elif isinstance(block, OtherBlock):
            characters += len(json.dumps(block.value))
        else:
            characters += len(getattr(block, "data", None) or "")
    return -(-characters // 4)
