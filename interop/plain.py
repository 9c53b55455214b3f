"""Messages as the tools nearly always write them, made into events without detours.

An import is as fast as this module. It does for the plain record what `messages.py`, `blocks.py`,
`placing.py` and `records.py` do for any, and writes the stored texts of head and body at once,
with neither between. Both ways give the same bytes; the tests compare them. Whatever is not plain
is left to the careful way: the answer is None then, and nothing has changed.

That a record is given back exactly need not be tried here, record by record: each field of the
message either goes to the one place from which `give` and `write_blocks` take it, or stays in the
rest, which they put back as it is; none is dropped, and none changes its type.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ..domain.drafts import Draft
from ..domain.events import MessageFinalized
from .jsontext import Plain, text_of
from .messages import INTERRUPTED, sections_text
from .placing import LONGEST_ID, Placer, usable_id
from .records import RecordFormat

_Fields = dict[str, Any]
_Calls = tuple[str, ...]

_SENT: Final = "sent"


class PlainWay:
    """The quick way of one reading."""

    def __init__(self, form: RecordFormat, placer: Placer) -> None:
        self._tool = form.NAME
        self._parent = form.PARENT
        self._is_time = form.is_time
        self._message = form.plain_message
        self._null_parent = form.NULL_PARENT
        self._placer = placer
        self._known = placer.known_ids
        self._native = placer.native_ids
        self._given = placer.given_ids
        self._minute = ""

    def draft(self, plain: Plain, line: int) -> Draft | None:
        """The event of a new message about which there is nothing to report: its record has the
        common fields and no other, its id is new, its time readable, and its parent is known or
        it says, as its tool does, that it is a root. None otherwise.
        """
        record = plain.value
        get = record.get
        if get("type") != "message":
            return None
        own_id, parent, time = get("id"), get(self._parent), get("timestamp")
        known, common = self._known, 5
        if type(own_id) is not str or own_id in known or own_id in self._native:
            return None
        if not self._can_be_read(time):
            return None
        if parent is None:
            if (self._parent in record) is not self._null_parent:
                return None
            common = 5 if self._null_parent else 4
        elif type(parent) is not str or parent not in known or parent in self._given:
            return None
        if len(record) != common:
            return None
        if not (len(own_id) <= LONGEST_ID and own_id.isalnum()) and not usable_id(own_id):
            return None
        taken = take_plain(self._message(plain))
        if taken is None:
            return None
        role, status, calls, interruption, fields, own = taken
        digest = plain.digest()
        owner, takes_leaf = self._placer.put(own_id, parent, time, digest, role, calls)
        head: _Fields = {"kind": _KIND, "timestamp": time, "entry_id": own_id}
        if parent is not None:
            head["parent_id"] = parent
        if takes_leaf:
            head["takes_leaf"] = True
        head["message_id"] = own_id
        head["role"] = role
        head["status"] = status
        said: _Fields = {"role": role, "status": status, "order_seq": None}
        if calls:
            head["call_ids"] = calls
            if role == "tool_result":
                said["answers"] = (owner, calls[0])
                if owner is not None:
                    head["owner"] = owner
                if interruption:
                    said["interruption"] = head["interruption"] = True
        said.update(fields)
        head["digest"] = plain.digest_of(said)
        head["record"] = digest
        head["line"] = line
        body = {"source": "import", "extra": {self._tool: own}, **fields}
        return Draft(MessageFinalized, texts=(text_of(head), text_of(body)))

    def _can_be_read(self, time: Any) -> bool:
        """Whether a time is one. What was one once, but for the seconds, is one again."""
        if type(time) is str and time[:_MINUTE] == self._minute and _SECONDS(time, _MINUTE):
            return True
        if not self._is_time(time):
            return False
        if type(time) is str and _SECONDS(time, _MINUTE):
            self._minute = time[:_MINUTE]
        return True


_KIND: Final = MessageFinalized.KIND
_MINUTE: Final = len("2026-03-01T09:30")
_SECONDS: Final = re.compile(r":[0-5][0-9]\.[0-9]{3}Z").fullmatch

PlainMessage = tuple[str, str, _Calls, bool, _Fields, _Fields]
"""Role, status, call ids, whether it only says that the call was interrupted; then the fields of
the stored body, in their order, and what the body's `extra` holds for the tool."""


def take_plain(message: Any) -> PlainMessage | None:
    """Take a message apart; None for what is not plain."""
    if type(message) is not dict:
        return None
    rest = message.copy()
    role, content = rest.pop("role", None), rest.pop("content", None)
    take = _TAKERS.get(role) if type(role) is str else None
    if take is None:
        return None
    fields: _Fields = {}
    calls: _Calls = ()
    own: _Fields = {}
    if type(content) is list:
        if content:
            fields["content"], calls = _blocks(content)
        taken = take(fields, rest, calls)
        if rest:
            own["message"] = rest
    elif type(content) is str:
        if content:
            fields["content"] = [{"type": "text", "text": content}]
        taken = take(fields, rest, calls)
        if rest:
            own["message"] = rest
        own["text"] = True
    else:
        return None
    if role == "system" and "sections" in rest:
        said = sections_text(rest)
        if said:
            fields["content"] = [*fields.get("content", ()), {"type": "text", "text": said}]
            own["sections"] = True
    return None if taken is None else (*taken, fields, own)


_Facts = tuple[str, str, _Calls, bool]


def _asked(fields: _Fields, rest: _Fields, calls: _Calls) -> _Facts:
    return "user", _SENT, (), False


def _instructed(fields: _Fields, rest: _Fields, calls: _Calls) -> _Facts:
    return "system", _SENT, (), False


def _answered(fields: _Fields, rest: _Fields, calls: _Calls) -> _Facts:
    status = _SENT
    if type(rest.get("model")) is str:
        fields["model"] = rest.pop("model")
    if type(rest.get("provider")) is str:
        fields["provider"] = rest.pop("provider")
    if rest.get("usage") is not None:
        fields["usage"] = rest.pop("usage")
    if type(rest.get("stopReason")) is str:
        fields["stop_reason"] = reason = rest.pop("stopReason")
        if reason in ("error", "aborted"):
            status = "error"
    if type(rest.get("errorMessage")) is str:
        fields["error"] = rest.pop("errorMessage")
    return "assistant", status, calls, False


def _returned(fields: _Fields, rest: _Fields, calls: _Calls) -> _Facts | None:
    is_error, call_id = rest.pop("isError", None), rest.pop("toolCallId", None)
    if type(is_error) is not bool or type(call_id) is not str:
        return None
    if rest.get("usage") is not None:
        fields["usage"] = rest.pop("usage")
    if type(rest.get("toolName")) is str:
        fields["tool_name"] = rest.pop("toolName")
    interruption = False
    if is_error:
        fields["is_error"] = True
        content = fields.get("content", ())
        interruption = len(content) == 1 and content[0].get("text") == INTERRUPTED
    if rest.get("details") is not None:
        fields["details"] = rest.pop("details")
    return "tool_result", _SENT, (call_id,), interruption


_TAKERS: Final[dict[str, Callable[[_Fields, _Fields, _Calls], _Facts | None]]] = {
    "user": _asked,
    "system": _instructed,
    "assistant": _answered,
    "toolResult": _returned,
}


# -- blocks ------------------------------------------------------------------------------------


def _blocks(content: list[Any]) -> tuple[list[_Fields], tuple[str, ...]]:
    """The stored shape of blocks, and the ids of the calls among them, each once."""
    blocks: list[_Fields] = []
    calls: dict[str, None] = {}
    for raw in content:
        block = None
        if type(raw) is dict:
            name = raw.get("type")
            if name == "text":
                block = _text(raw)
            elif name == "toolCall":
                block = _call(raw)
                if block is not None:
                    calls[block["call_id"]] = None
            elif name == "thinking":
                block = _thinking(raw)
            elif name == "image":
                block = _image(raw)
        blocks.append({"type": "other", "value": raw} if block is None else block)
    return blocks, tuple(calls)


def _with_rest(name: str, rest: _Fields) -> _Fields:
    return {"type": name, "extra": rest} if rest else {"type": name}


def _text(raw: _Fields) -> _Fields | None:
    text = raw.get("text")
    if type(text) is not str:
        return None
    if len(raw) == 2:
        return {"type": "text", "text": text}
    rest = raw.copy()
    del rest["type"], rest["text"]
    return {"type": "text", "extra": rest, "text": text}


def _thinking(raw: _Fields) -> _Fields | None:
    thinking = raw.get("thinking")
    if type(thinking) is not str:
        return None
    rest = raw.copy()
    del rest["type"], rest["thinking"]
    signature, redacted = rest.get("thinkingSignature"), rest.get("redacted")
    if type(signature) is str:
        del rest["thinkingSignature"]
    if redacted is True:
        del rest["redacted"]
    block = _with_rest("thinking", rest)
    block["thinking"] = thinking
    if type(signature) is str:
        block["signature"] = signature
    if redacted is True:
        block["redacted"] = True
    return block


def _call(raw: _Fields) -> _Fields | None:
    call_id, name = raw.get("id"), raw.get("name")
    if type(call_id) is not str or type(name) is not str:
        return None
    arguments = raw.get("arguments")
    if len(raw) == 4 and arguments is not None:
        return {"type": "tool_call", "call_id": call_id, "name": name, "arguments": arguments}
    rest = raw.copy()
    del rest["type"], rest["id"], rest["name"]
    if arguments is not None:
        del rest["arguments"]
    block = _with_rest("tool_call", rest)
    block["call_id"] = call_id
    block["name"] = name
    if arguments is not None:
        block["arguments"] = arguments
    return block


def _image(raw: _Fields) -> _Fields | None:
    data, mime_type = raw.get("data"), raw.get("mimeType")
    if type(data) is not str or type(mime_type) is not str:
        return None
    rest = raw.copy()
    del rest["type"], rest["data"], rest["mimeType"]
    block = _with_rest("image", rest)
    block["data"] = data
    block["mime_type"] = mime_type
    return block
