"""Striking messages out, and showing them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Unpack

from ..aggregate import Aggregate, Meta
from ..bodies import BodyBase, MessageBody, RetractionBody
from ..digests import mark_digest
from ..errors import InvalidValue, WrongKind
from ..events import MessageRevised, Retracted
from ..nodes import MessageNode, MessageState
from ..outcome import Outcome
from ..tree import is_on_path, require_message, require_node, upwards
from .covering import Covering

_SAID = MessageBody.model_fields.keys() - BodyBase.model_fields.keys() - {"reason"}
"""What a version says, without the circumstances in which it was said."""


class RetractionDecisions(Covering, Aggregate):
    """A retraction strikes what lies before it, on every branch; a restore copies the newest."""

    def retract(
        self,
        message_ids: str | Iterable[str],
        *,
        reason: str | None = None,
        keep_summary: bool = False,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Strike messages out, on every branch. What is struck already changes nothing.

        Below the ruling boundary a `SummaryReset` is written with it, unless `keep_summary`.
        """
        if not isinstance(message_ids, Iterable):
            raise InvalidValue("retract takes a message id, or several")
        given = [message_ids] if isinstance(message_ids, str) else list(message_ids)
        self._check_usable()
        states = [require_message(self.state, message_id) for message_id in given]
        identities = {"messages": sorted({s.latest.message_id for s in states})}
        return self._strike(lambda: states, identities, reason, keep_summary, meta)

    def retract_from(
        self,
        entry_id: str,
        *,
        reason: str | None = None,
        keep_summary: bool = False,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Strike out the messages from an entry on, down to the leaf.

        Raises `WrongKind` when the entry is not on the path to the leaf.
        """
        self._check_usable()
        require_node(self.state, entry_id)
        return self._strike(
            lambda: self._messages_from(entry_id), {"from": entry_id}, reason, keep_summary, meta
        )

    def _messages_from(self, entry_id: str) -> list[MessageState]:
        """The messages on the path from an entry down to the leaf."""
        if not is_on_path(self.state, entry_id, self.state.leaf):
            raise WrongKind(
                f"session {self.id!r}: entry {entry_id!r} is not on the path to the leaf; "
                "move the leaf to its branch first, or retract messages by id"
            )
        found = []
        for node in upwards(self.state, self.state.leaf):
            if isinstance(node, MessageNode):
                found.append(require_message(self.state, node.message_id))
            if node.entry_id == entry_id:
                break
        found.reverse()
        return found

    def _strike(
        self,
        meant: Callable[[], list[MessageState]],
        identities: dict[str, Any],
        reason: str | None,
        keep_summary: bool,
        meta: Meta,
    ) -> Outcome:
        """Strike out the messages that are meant; which, is only asked of a new delivery."""
        body = self._body(RetractionBody, meta, reason=reason)
        said = mark_digest(body)
        repeated = self._repeated(Retracted, meta, identities, said)
        states = meant() if repeated is None or "messages" in identities else []
        only = states[0] if len(states) == 1 else None
        entry_id, message_id = (only.entry_id, only.latest.message_id) if only else (None, None)
        if repeated is not None:
            return replace(repeated, entry_id=entry_id, message_id=message_id)
        standing = {s.latest.message_id: s.entry_id for s in states if not s.struck}
        if not standing and meta.get("key") is None:
            return self._unchanged(entry_id, message_id)
        below = not keep_summary and self._is_below_boundary(standing.values())
        reset_id = self._new_entry_id(None) if below else None
        outcome = self._trigger(
            Retracted,
            body,
            meta,
            identities,
            said,
            targets=tuple(standing) or tuple(s.latest.message_id for s in states),
            digest=said,
        )
        outcome = replace(outcome, message_id=message_id)
        return self._with_reset(outcome, entry_id, list(standing.values()), reset_id, meta)

    def restore(
        self, message_id: str, *, reason: str | None = "restored", **meta: Unpack[Meta]
    ) -> Outcome:
        """Show a struck message again: its newest version, copied. Never a no-op.

        Raises `WrongKind` when it is not struck.
        """
        self._check_usable()
        old = require_message(self.state, message_id)
        latest = old.latest
        identities = {"message_id": latest.message_id}
        repeated = self._repeated(MessageRevised, meta, identities, "restore")
        if repeated is not None:
            return repeated
        if not old.struck:
            raise WrongKind(
                f"session {self.id!r}: message {latest.message_id!r} is not struck out; "
                "there is nothing to restore"
            )
        copied = self._event_at(latest.seq).body
        # The content is copied; who acts, and the trace it belongs to, is this restore's.
        circumstances: Meta = {"extra": dict(copied.extra), **meta}
        body = self._body(MessageBody, circumstances, reason=reason).model_copy(
            update={name: getattr(copied, name) for name in _SAID}
        )
        outcome = self._trigger(
            MessageRevised,
            body,
            meta,
            identities,
            "restore",
            message_id=latest.message_id,
            role=latest.role,
            status=latest.status,
            call_ids=latest.call_ids,
            owner=latest.owner,
            interruption=latest.interruption,
            digest=latest.digest,
            revives=True,
        )
        return replace(outcome, entry_id=old.entry_id)
