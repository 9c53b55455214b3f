"""Digests: what makes two versions, facts, marks or deliveries the same.

A version's digest covers what it says: role, status, content, model, usage, error and the like.
Times, source, actor and trace ids are circumstances and stay outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .bodies import BodyBase, MessageBody
from .jsonvalues import digest

_CIRCUMSTANCES = frozenset(BodyBase.model_fields) | {"reason"}


def message_digest(
    role: str | None,
    status: str | None,
    body: MessageBody,
    order_seq: int | None = None,
    call_id: str | None = None,
    owner: str | None = None,
    stored: Mapping[str, Any] | None = None,
    interruption: bool = False,
) -> str:
    """Digest of one version of a message. `stored`: the body's JSON, where it is at hand."""
    said: dict[str, Any] = {"role": role, "status": status, "order_seq": order_seq}
    if call_id is not None or owner is not None:
        said["answers"] = [owner, call_id]
    if interruption:
        said["interruption"] = True
    said.update(_said(body, stored))
    return digest(said)


def fact_digest(kind: str, status: str | None, body: BodyBase) -> str:
    """Digest of a call or result fact; `kind` is the event's."""
    return digest({"kind": kind, "status": status, **_said(body)})


def mark_digest(body: BodyBase) -> str:
    """Digest of a mark or any other event: all that it says."""
    return digest(_said(body))


def request_digest(kind: str, identities: dict[str, Any], content: str) -> str:
    """Digest of a delivery: the event's kind, the identities that the caller gave, the content."""
    return digest([kind, identities, content])


def _said(body: BodyBase, stored: Mapping[str, Any] | None = None) -> dict[str, Any]:
    known = body.to_json() if stored is None else stored
    return {name: value for name, value in known.items() if name not in _CIRCUMSTANCES}
