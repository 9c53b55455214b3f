"""Facts of tool calls and their results, recorded beside the messages."""

from __future__ import annotations

from typing import Any, Unpack

from ..aggregate import Aggregate, Meta
from ..bodies import BodyBase, ToolCallBody, ToolResultBody
from ..content import ContentLike
from ..digests import fact_digest
from ..errors import InvalidValue, WrongKind, shown
from ..events import Event, ToolCallRecorded, ToolResultRecorded
from ..heads import fact_rank
from ..outcome import Outcome
from ..tree import require_message


class CallDecisions(Aggregate):
    """A fact is owned by (message_id, call_id); the newest of each kind counts."""

    def record_call(
        self,
        message_id: str,
        call_id: str,
        name: str,
        arguments: Any = None,
        *,
        status: str = "success",
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Record that a message's call was made. `status`: success, error or pending."""
        self._check_usable()
        body = self._body(ToolCallBody, meta, name=name, arguments=arguments)
        return self._fact(ToolCallRecorded, message_id, call_id, status, body, meta)

    def record_result(
        self,
        message_id: str,
        call_id: str,
        content: ContentLike = (),
        *,
        name: str | None = None,
        details: Any = None,
        status: str = "success",
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Record what a message's call gave back. A result message takes precedence over it."""
        self._check_usable()
        body = self._body(ToolResultBody, meta, name=name, content=content, details=details)
        return self._fact(ToolResultRecorded, message_id, call_id, status, body, meta)

    def _fact(
        self,
        event: type[Event],
        message_id: str,
        call_id: str,
        status: str,
        body: BodyBase,
        meta: Meta,
    ) -> Outcome:
        owner = require_message(self.state, message_id)
        message_id = owner.latest.message_id
        if owner.latest.role != "assistant":
            raise WrongKind(
                f"session {self.id!r}: message {message_id!r} is a {owner.latest.role} message; "
                "only assistant messages call tools"
            )
        if not isinstance(call_id, str) or not call_id:
            raise InvalidValue("call_id is text, and not empty")
        if not fact_rank(status):
            raise InvalidValue(f"a fact is success, error or pending, not {shown(status)}")
        digest = fact_digest(event.KIND, status, body)
        identities = {"message_id": message_id, "call_id": call_id}
        repeated = self._repeated(event, meta, identities, digest)
        if repeated is not None:
            return repeated
        current = self.state.facts.get((message_id, call_id))
        if current is not None and meta.get("key") is None:
            is_call = event is ToolCallRecorded
            known = current.call_digest if is_call else current.result_digest
            if known == digest:
                seq = current.call_seq if is_call else current.result_seq
                return self._unchanged(owner.entry_id, message_id, seq)
        outcome = self._trigger(
            event,
            body,
            meta,
            identities,
            digest,
            owner=message_id,
            call_ids=(call_id,),
            status=status,
            digest=digest,
        )
        return Outcome(
            outcome.session_id, outcome.position, owner.entry_id, message_id, hidden=owner.struck
        )
