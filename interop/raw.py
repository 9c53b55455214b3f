"""Bytes that could not be read, or not whole, as they are stored in a body."""

from __future__ import annotations

import base64
from typing import Any

from ..domain.bodies import BodyBase, ForeignBody
from ..domain.digests import mark_digest
from ..domain.drafts import Draft
from ..domain.events import ForeignRecorded
from ..domain.heads import Head
from ..domain.jsonvalues import digest
from .line import Line
from .making import make


def record_digest(value: Any, raw: bytes | None = None) -> str:
    """The digest by which a record is known again: of its value, or, where that is not all,
    of its bytes."""
    return digest(value) if raw is None else digest(raw.hex())


def line_digest(line: Line) -> str:
    """The same for a line that has a value, faster where that is plain."""
    plain = line.plain
    if plain is not None and plain.value is line.value:
        return plain.digest()
    return record_digest(line.value, line.raw)


def raw_text(raw: bytes) -> dict[str, Any]:
    """Bytes as they can stand in a body: text, or base64 where they are none."""
    try:
        return {"raw": raw.decode()}
    except UnicodeDecodeError:
        return {"raw_base64": base64.b64encode(raw).decode("ascii")}


def raw_of(body: BodyBase, name: str) -> bytes | None:
    """The text of a record that was not read whole; None where its value is all of it."""
    own = body.extra.get(name)
    holder: Any = own if isinstance(own, dict) else {}
    if isinstance(body, ForeignBody):
        holder = {"raw": body.raw, "raw_base64": body.raw_base64}
    if holder.get("raw") is not None:
        return str(holder["raw"]).encode("utf-8", "surrogatepass")
    if holder.get("raw_base64") is not None:
        return base64.b64decode(holder["raw_base64"])
    return None


def unreadable(line: int, start: int, end: int, raw: bytes, problem: str) -> Draft:
    """What a line becomes that holds no JSON: a mark with its bytes."""
    body = make(
        ForeignBody, source="import", problem=problem, start=start, end=end, **raw_text(raw)
    )
    head = Head(
        kind=ForeignRecorded.KIND,
        digest=mark_digest(body),
        record=record_digest(None, raw),
        line=line,
    )
    return Draft(ForeignRecorded, head, body)
