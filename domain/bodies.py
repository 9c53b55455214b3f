"""The bodies of the events: everything that the fold does not need.

`build` validates what a caller gives. A body that is read from a store is only checked for its
shape: an absent field takes its default, a field that we do not know goes to `extra`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from .content import Content, content_json, parse_content
from .errors import InvalidValue
from .jsonvalues import Json, JsonObject, MaybeText, Text
from .records import Check, Record, made_by, once_a_class, what_does_not_fit

Source = Literal["live", "backfill", "import", "repair", "merge"]

_Content = Annotated[Content, Check(parse_content)]


@once_a_class
def _defaults(cls: type[BodyBase]) -> dict[str, tuple[int, Any]]:
    """Place and default of each field."""
    return {
        name: (place, field.default())
        for place, (name, field) in enumerate(cls.model_fields.items())
    }


class BodyBase(Record):
    """What every event may carry: where it comes from, who acted, what it belongs to."""

    source: Source | None = None
    actor: MaybeText = None
    correlation_id: MaybeText = None
    causation_id: MaybeText = None
    trace_id: MaybeText = None
    span_id: MaybeText = None
    extra: JsonObject = made_by(default_factory=dict)

    @classmethod
    def build(cls, **values: Any) -> Self:
        """A body from a caller's values. Raises `InvalidValue` that names the field."""
        try:
            return cls(**values)
        except ValueError as error:
            raise InvalidValue(what_does_not_fit(error)) from None

    def to_json(self) -> dict[str, Any]:
        """The stored shape: the fields that differ from their defaults, or have none, in order."""
        fields, values = _defaults(type(self)), self.__dict__
        # Few fields of many were given; the others hold their defaults.
        given = sorted(self.model_fields_set, key=fields.__getitem__)
        return {
            name: content_json(values[name]) if name == "content" else values[name]
            for name in given
            if values[name] != fields[name][1]
        }


def title_line(title: object) -> str | None:
    """A session's title as it is stored: one line, None for blank text. Raises `InvalidValue`."""
    if title is not None and not isinstance(title, str):
        raise InvalidValue("a title is text, or None to take it away")
    return " ".join((title or "").split()) or None


class StartBody(BodyBase):
    """`incarnation` tells a tape from an earlier one under the same id."""

    incarnation: MaybeText = None
    directory: MaybeText = None
    title: MaybeText = None
    owner: MaybeText = None
    imported_from: JsonObject | None = None


class MessageBody(BodyBase):
    """One version of a message.

    `usage` is the provider's own count, kept as it came. `details` holds what a role has beside
    its content: a tool's structured result, a custom message's data, a shell command
    (`command`, `exit_code`, `cancelled`, `truncated`, `full_output_path`,
    `exclude_from_context`). `display` is false for a message that only the model sees.
    """

    content: _Content = ()
    model: MaybeText = None
    provider: MaybeText = None
    usage: Json = None
    stop_reason: MaybeText = None
    error: MaybeText = None
    tool_name: MaybeText = None
    is_error: bool = False
    custom_type: MaybeText = None
    display: bool = True
    details: Json = None
    name: MaybeText = None
    reason: MaybeText = None


class RetractionBody(BodyBase):
    """Why messages are struck out."""

    reason: MaybeText = None


class ToolCallBody(BodyBase):
    """The call as it was made."""

    name: Text
    arguments: Json = None


class ToolResultBody(BodyBase):
    """What the tool gave back."""

    name: MaybeText = None
    content: _Content = ()
    details: Json = None


class AnchorBody(BodyBase):
    """A summary, with what it covers. Token counts are the writer's estimate.

    `kept` holds messages that a foreign summary carries in itself and that follow it; system
    messages among them stand before it.
    """

    summary: MaybeText = None
    state: Json = None
    covered: tuple[str, ...] = ()
    tokens_before: int | None = None
    tokens_after: int | None = None
    usage: Json = None
    model: MaybeText = None
    provider: MaybeText = None
    reason: MaybeText = None
    details: Json = None
    kept: Json = None


class BranchSummaryBody(BodyBase):
    """What was learnt on the branch that ended at `left`."""

    summary: Text
    left: MaybeText = None
    covered: tuple[str, ...] = ()
    usage: Json = None
    model: MaybeText = None
    provider: MaybeText = None
    details: Json = None


class EditBody(BodyBase):
    """What stands in the context instead; None leaves the entry out."""

    content: _Content | None = None
    reason: MaybeText = None


class ForkBody(BodyBase):
    """The child, and the point of the parent's tape that it inherits."""

    child: Text
    fork_id: MaybeText = None
    position: int
    leaf: MaybeText = None
    inherit: bool = True


class MergeBody(BodyBase):
    """How a fork ended."""

    child: Text
    fork_id: MaybeText = None
    position: int | None = None
    count: int | None = None
    data: Json = None


class LinkBody(BodyBase):
    """A sub-agent's tape, up to a position, with the task that it did."""

    child: Text
    position: int
    run_id: MaybeText = None
    task_id: MaybeText = None
    outcome: MaybeText = None
    summary: MaybeText = None
    data: Json = None


class LeafBody(BodyBase):
    """Why the leaf moves; `before` names the message that is to be asked anew."""

    before: MaybeText = None
    reason: MaybeText = None


class LabelBody(BodyBase):
    """The label's text; None clears it."""

    label: MaybeText = None


class InfoBody(BodyBase):
    """The new name (None clears it, when the head says so), and other information."""

    title: MaybeText = None
    directory: MaybeText = None
    data: Json = None


class ModelBody(BodyBase):
    """The model from here on; an absent provider leaves the one before."""

    model: MaybeText = None
    provider: MaybeText = None


class ThinkingBody(BodyBase):
    """The thinking level from here on; None: unset."""

    level: MaybeText = None


class UsageBody(BodyBase):
    """What was spent, and on what."""

    usage: Json = None
    purpose: MaybeText = None
    model: MaybeText = None
    provider: MaybeText = None
    note: MaybeText = None


class CustomBody(BodyBase):
    """Data of an extension, under its namespace."""

    namespace: Text
    data: Json = None


class ForeignBody(BodyBase):
    """A record that we cannot read: as text, or base64 where the bytes are no text.

    `start` and `end` are its byte range in the file, `problem` says why it is foreign.
    """

    raw: MaybeText = None
    raw_base64: MaybeText = None
    value: Json = None
    problem: MaybeText = None
    start: int | None = None
    end: int | None = None


class BackfillBody(BodyBase):
    """What a backfill run read and wrote."""

    origin: MaybeText = None
    read: int | None = None
    written: int | None = None
    data: Json = None


class ContextBody(BodyBase):
    """A manifest: what a request contained and left out, and why. No text."""

    request_id: MaybeText = None
    manifest: Json = None


class ModelCallBody(BodyBase):
    """One attempt: how it ended, what it cost."""

    request_id: MaybeText = None
    attempt: int | None = None
    status: MaybeText = None
    model: MaybeText = None
    provider: MaybeText = None
    usage: Json = None
    cost: Json = None
    latency_ms: float | None = None
    error: MaybeText = None
    stop_reason: MaybeText = None
