"""Content blocks of Tau and Pi, which share one shape, to our blocks and back, exactly.

What a block has no place for stays in its `extra`; a block that we do not know, or whose fields
have another type than they should, is kept whole as an `OtherBlock`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..domain.content import (
    Block,
    Content,
    FileBlock,
    ImageBlock,
    OtherBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from .making import make


def text_block(text: str) -> TextBlock:
    """A block of plain text."""
    return make(TextBlock, text=text)


def read_blocks(raw: Iterable[Any]) -> Content:
    """Our blocks for a list of theirs."""
    return tuple(read_block(item) for item in raw)


def read_block(raw: Any) -> Block:
    """Our block for one of theirs. Checks types itself: the value came from a JSON decoder."""
    if isinstance(raw, dict):
        kind = raw.get("type")
        read = _READERS.get(kind) if isinstance(kind, str) else None
        block = None if read is None else read(raw)
        if block is not None:
            return block
    return make(OtherBlock, value=raw)


def write_blocks(content: Iterable[Block]) -> list[Any]:
    """Their list for our blocks."""
    return [write_block(block) for block in content]


def write_block(block: Block) -> Any:
    """Their block for one of ours: the inverse of `read_block`."""
    if isinstance(block, OtherBlock):
        return block.value
    if isinstance(block, TextBlock):
        out: dict[str, Any] = {"type": "text", "text": block.text}
    elif isinstance(block, ThinkingBlock):
        out = {"type": "thinking", "thinking": block.thinking}
        if block.signature is not None:
            out["thinkingSignature"] = block.signature
        if block.redacted:
            out["redacted"] = True
    elif isinstance(block, ToolCallBlock):
        out = {"type": "toolCall", "id": block.call_id, "name": block.name}
        if block.arguments is not None:
            out["arguments"] = block.arguments
    elif isinstance(block, ImageBlock):
        out = {"type": "image"}
        _add(out, data=block.data, mimeType=block.mime_type, url=block.url)
    elif isinstance(block, FileBlock):
        out = {"type": "file"}
        _add(out, name=block.name, data=block.data, mimeType=block.mime_type, url=block.url)
    else:
        return block.to_json()
    out.update(block.extra)
    return out


def _add(out: dict[str, Any], **values: Any) -> None:
    out.update({key: value for key, value in values.items() if value is not None})


def _rest(raw: dict[str, Any], *taken: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key != "type" and key not in taken}


def _text(raw: dict[str, Any]) -> Block | None:
    text = raw.get("text")
    if not isinstance(text, str):
        return None
    if len(raw) == 2:
        return make(TextBlock, text=text)
    return make(TextBlock, text=text, extra=_rest(raw, "text"))


def _thinking(raw: dict[str, Any]) -> Block | None:
    thinking = raw.get("thinking")
    if not isinstance(thinking, str):
        return None
    values: dict[str, Any] = {"thinking": thinking}
    taken = ["thinking"]
    signature = raw.get("thinkingSignature")
    if isinstance(signature, str):
        values["signature"] = signature
        taken.append("thinkingSignature")
    if raw.get("redacted") is True:
        values["redacted"] = True
        taken.append("redacted")
    return make(ThinkingBlock, **values, extra=_rest(raw, *taken))


def _image(raw: dict[str, Any]) -> Block | None:
    data, mime_type = raw.get("data"), raw.get("mimeType")
    if not isinstance(data, str) or not isinstance(mime_type, str):
        return None
    return make(ImageBlock, data=data, mime_type=mime_type, extra=_rest(raw, "data", "mimeType"))


def _tool_call(raw: dict[str, Any]) -> Block | None:
    call_id, name = raw.get("id"), raw.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        return None
    arguments = raw.get("arguments")
    taken = ("id", "name") if arguments is None else ("id", "name", "arguments")
    return make(
        ToolCallBlock, call_id=call_id, name=name, arguments=arguments, extra=_rest(raw, *taken)
    )


_READERS = {"text": _text, "thinking": _thinking, "image": _image, "toolCall": _tool_call}
