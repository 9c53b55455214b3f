"""Content: the blocks that a message is made of.

A block's JSON shape is `{"type": …, fields…}`; fields that are absent have their default. What a
foreign block carries beside the known fields stands in `extra` and is kept exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from .errors import InvalidValue
from .jsonvalues import Json, JsonObject, MaybeText, Text, check_json
from .records import Record, made_by, once_a_class, what_does_not_fit


@once_a_class
def _defaults(cls: type[Block]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, field.default()) for name, field in cls.model_fields.items())


class Block(Record):
    """Base of the blocks."""

    TYPE: ClassVar[str] = ""

    extra: JsonObject = made_by(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The block's stored shape."""
        out: dict[str, Any] = {"type": self.TYPE}
        values = self.__dict__
        for name, default in _defaults(type(self)):
            value = values[name]
            if value is not default and value != default:
                out[name] = value
        return out


class TextBlock(Block):
    """Plain text."""

    TYPE: ClassVar[str] = "text"
    text: Text


class ThinkingBlock(Block):
    """Reasoning of a model; the signature is opaque and kept byte for byte."""

    TYPE: ClassVar[str] = "thinking"
    thinking: Text
    signature: MaybeText = None
    redacted: bool = False


class ImageBlock(Block):
    """An image, inline (base64) or by address."""

    TYPE: ClassVar[str] = "image"
    data: MaybeText = None
    mime_type: MaybeText = None
    url: MaybeText = None


class FileBlock(Block):
    """A file, inline (base64) or by address."""

    TYPE: ClassVar[str] = "file"
    name: MaybeText = None
    data: MaybeText = None
    mime_type: MaybeText = None
    url: MaybeText = None


class ToolCallBlock(Block):
    """A model asks for a tool. `call_id` is unique only inside its message."""

    TYPE: ClassVar[str] = "tool_call"
    call_id: Text
    name: Text
    arguments: Json = None


class OtherBlock(Block):
    """A block of a type that we do not know, kept as it came."""

    TYPE: ClassVar[str] = "other"
    value: Json


BLOCKS: dict[str, type[Block]] = {
    cls.TYPE: cls
    for cls in (TextBlock, ThinkingBlock, ImageBlock, FileBlock, ToolCallBlock, OtherBlock)
}

Content = tuple[Block, ...]
ContentLike = str | Block | Mapping[str, Any] | Iterable[Block | Mapping[str, Any] | str]


def parse_block(value: Block | Mapping[str, Any] | str) -> Block:
    """One block from a block, text, or a mapping in the stored shape.

    A mapping of an unknown `type` becomes an `OtherBlock`. Raises `InvalidValue`.
    """
    if isinstance(value, str):
        return TextBlock(text=value)
    if isinstance(value, Block):
        return value
    if not isinstance(value, Mapping):
        raise InvalidValue(f"a content block is text or an object, not {type(value).__name__}")
    cls = BLOCKS.get(str(value.get("type")))
    if cls is None:
        return OtherBlock(value=check_json(value, "content block"))
    try:
        return cls(**{k: v for k, v in value.items() if k != "type"})
    except ValueError as error:
        raise InvalidValue(f"{cls.TYPE} block: {what_does_not_fit(error)}") from None
    except TypeError as error:
        raise InvalidValue(f"{cls.TYPE} block: {error}") from None


def parse_content(value: ContentLike) -> Content:
    """Content from text, one block, or several. Raises `InvalidValue`."""
    if isinstance(value, str | Block | Mapping):
        return (parse_block(value),)
    if not isinstance(value, Iterable):
        raise InvalidValue(f"content is text or blocks, not {type(value).__name__}")
    return tuple(parse_block(item) for item in value)


def load_content(stored: object) -> Content:
    """Content out of a foreign record's own list, whatever it holds: what is no block that we
    know stands in an `OtherBlock`."""
    if isinstance(stored, str):
        return (TextBlock(text=stored),)
    blocks: list[Block] = []
    for item in stored if isinstance(stored, list | tuple) else ():
        try:
            blocks.append(parse_block(item))
        except InvalidValue:
            blocks.append(OtherBlock.model_construct(value=item, extra={}))
    return tuple(blocks)


def content_json(content: Content) -> list[dict[str, Any]]:
    """The stored shape of content."""
    return [block.to_json() for block in content]


def plain_text(content: Content) -> str:
    """The text of the text blocks, a line break between two."""
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))


def call_ids(content: Content) -> tuple[str, ...]:
    """The ids of the tool calls held, in order, each once."""
    ids = dict.fromkeys(block.call_id for block in content if isinstance(block, ToolCallBlock))
    return tuple(ids)
