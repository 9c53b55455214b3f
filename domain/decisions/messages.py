"""Messages: draft, finalize, revise, retract, restore."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..aggregate import Aggregate, Meta
from ..bodies import MessageBody
from ..content import ContentLike, call_ids
from ..digests import message_digest
from ..errors import DuplicateId, InvalidValue, MessageStruck, UnderRequired, WrongKind
from ..events import MessageDrafted, MessageFinalized, MessageRevised
from ..heads import FINAL_RANK, PENDING
from ..identifiers import check_id
from ..nodes import MessageNode, MessageState, Version
from ..outcome import Outcome
from ..tree import LEAF, LeafRef, require_message, require_node, upwards
from .asked import Asked
from .checks import check_final_status, check_order_seq, check_version
from .covering import Covering

_META = frozenset(Meta.__annotations__)


class MessageDecisions(Covering, Aggregate):
    """What can be done with messages."""

    def draft(
        self,
        role: str = "assistant",
        content: ContentLike = (),
        *,
        message_id: str | None = None,
        entry_id: str | None = None,
        under: LeafRef = LEAF,
        order_seq: int | None = None,
        **fields: Any,
    ) -> Outcome:
        """An unfinished version of a message; again with its `message_id`: the next one.

        A draft holds the message's place in the tree, so an answer that is drafted when it
        begins stays on the path. `fields`: as for `finalize`. Raises `WrongKind` when the
        message is final already.
        """
        meta, values = _split(fields)
        body = self._body(MessageBody, meta, content=content, **values)
        return self._version(
            Asked(MessageDrafted, role, PENDING, body, meta, message_id, entry_id, under, order_seq)
        )

    def finalize(
        self,
        role: str,
        content: ContentLike = (),
        *,
        message_id: str | None = None,
        entry_id: str | None = None,
        under: LeafRef = LEAF,
        status: str = "sent",
        order_seq: int | None = None,
        for_call: str | None = None,
        for_message_id: str | None = None,
        interruption: bool = False,
        **fields: Any,
    ) -> Outcome:
        """The first final version of a message: a new one, or the end of a draft.

        `role`: user, assistant, system, tool_result, custom, bash_execution. `under`: the entry
        that the message hangs under (left out: the leaf; None: the root). A tool result names
        its call (`for_call`); `for_message_id`, the message that holds the call, is found on
        the path when it is left out; the result goes under the leaf while its call is on the
        leaf's path, else under its call's message; `interruption` says that the call has no
        real result. Other `fields` are those of `MessageBody` (model, provider, usage,
        stop_reason, error …) and of `Meta`.

        Raises `UnderRequired` for an assistant message without `under=` in `execute`,
        `DuplicateId` when the message is final already with other content (use `revise`).
        """
        meta, values = _split(fields)
        body = self._body(MessageBody, meta, content=content, **values)
        return self._version(
            Asked(
                MessageFinalized,
                role,
                status,
                body,
                meta,
                message_id,
                entry_id,
                under,
                order_seq,
                for_call,
                for_message_id,
                interruption,
            )
        )

    def revise(
        self,
        message_id: str,
        content: ContentLike,
        *,
        reason: str | None = None,
        status: str = "sent",
        order_seq: int | None = None,
        keep_summary: bool = False,
        **fields: Any,
    ) -> Outcome:
        """A later version of a message: all of it, not a patch.

        Below the ruling boundary a `SummaryReset` is written with it, unless `keep_summary`.
        Raises `MessageStruck` (restore it first), `WrongKind` for an unfinished draft.
        """
        meta, values = _split(fields)
        self._check_usable()
        old = require_message(self.state, message_id)
        message_id = old.latest.message_id
        check_order_seq(order_seq)
        check_final_status(status, "a revision")
        latest = old.latest
        body = self._body(MessageBody, meta, content=content, reason=reason, **values)
        digest = _digest(latest, status, body, self._order_of(old, order_seq))
        said = _digest(latest, status, body, order_seq)
        identities = {"message_id": message_id}
        repeated = self._repeated(MessageRevised, meta, identities, said)
        if repeated is not None:
            return repeated
        if old.struck:
            raise MessageStruck(self.id, message_id)
        if old.final is None:
            raise WrongKind(
                f"session {self.id!r}: message {message_id!r} is an unfinished draft; finalize it"
            )
        if old.final.digest == digest and meta.get("key") is None:
            return self._unchanged(old.entry_id, message_id, old.final.seq)
        below = not keep_summary and self._is_below_boundary([old.entry_id])
        # An id that cannot be made must fail before the first of the two events.
        reset_id = self._new_entry_id(None) if below else None
        outcome = self._trigger(
            MessageRevised,
            body,
            meta,
            identities,
            said,
            message_id=message_id,
            role=latest.role,
            status=status,
            call_ids=call_ids(body.content) if latest.role == "assistant" else latest.call_ids,
            owner=latest.owner,
            order_seq=order_seq,
            digest=digest,
        )
        return self._with_reset(outcome, old.entry_id, [old.entry_id], reset_id, meta)

    # -- how ---------------------------------------------------------------------------------

    def _version(self, asked: Asked) -> Outcome:
        self._check_usable()
        check_version(asked)
        # A delivery is known by what the caller said, before the state adds to it.
        said = asked.digest(asked.order_seq)
        identities = asked.identities()
        if identities is not None:
            repeated = self._repeated(asked.event, asked.meta, identities, said)
            if repeated is not None:
                return repeated
        if asked.role == "tool_result":
            asked = replace(asked, owner=self._owner_of(asked.call_id or "", asked.owner))
        old = None if asked.message_id is None else self.state.message(asked.message_id)
        if old is not None:
            return self._next_version(asked, old, said)
        return self._first_version(asked, said)

    def _next_version(self, asked: Asked, old: MessageState, said: str) -> Outcome:
        """A further draft, or the end of a draft. A struck draft may still be finalized."""
        latest = old.latest
        message_id = latest.message_id
        if asked.role != latest.role:
            raise WrongKind(
                f"session {self.id!r}: message {message_id!r} has the role {latest.role}, "
                f"not {asked.role}"
            )
        self._check_place(asked, old)
        digest = asked.digest(self._order_of(old, asked.order_seq))
        current = latest if old.struck else (old.final or old.pending)
        same = current is not None and current.digest == digest
        if same and asked.meta.get("key") is None and current is not None:
            return self._unchanged(old.entry_id, message_id, current.seq)
        if latest.rank == FINAL_RANK and not same:
            if old.struck:
                raise MessageStruck(self.id, message_id)
            if asked.event is MessageDrafted:
                raise WrongKind(
                    f"session {self.id!r}: message {message_id!r} is final already; "
                    "revise it instead of drafting"
                )
            raise DuplicateId(self.id, "final message (revise() makes a later version)", message_id)
        outcome = self._trigger(
            asked.event,
            asked.body,
            asked.meta,
            asked.identities(),
            said,
            asked.stored_body,
            message_id=message_id,
            order_seq=asked.order_seq,
            digest=digest,
            **asked.head(),
        )
        return replace(outcome, entry_id=old.entry_id, hidden=old.struck)

    def _check_place(self, asked: Asked, old: MessageState) -> None:
        """A message stays where its first version hangs. Raises `InvalidValue`."""
        moved = asked.entry_id is not None and asked.entry_id != old.entry_id
        if not asked.under_left_out and not moved:
            node = require_node(self.state, old.entry_id)
            moved = self._place(asked.under)[0] != node.parent_id
        if moved:
            raise InvalidValue(
                f"session {self.id!r}: message {asked.message_id!r} has its place already, as "
                f"entry {old.entry_id!r}; leave entry_id= and under= out"
            )

    def _first_version(self, asked: Asked, said: str) -> Outcome:
        if asked.role == "assistant" and asked.under_left_out and self._under_required:
            raise UnderRequired(self.id)
        message_id, entry_id, under = asked.message_id, asked.entry_id, asked.under
        if message_id is not None:
            check_id(message_id, "message_id")
            if message_id in self.state.entries:
                raise DuplicateId(self.id, "entry id", message_id)
            if entry_id is None:
                entry_id = message_id
        entry_id = self._new_entry_id(entry_id)
        if asked.role == "tool_result" and asked.under_left_out:
            owner = require_message(self.state, asked.owner or "")
            if not self._is_above_leaf(owner.entry_id):
                under = owner.entry_id
        parent_id, takes_leaf = self._place(under)
        order_seq = self._order_of(None, asked.order_seq)
        return self._trigger(
            asked.event,
            asked.body,
            asked.meta,
            asked.identities(),
            said,
            asked.stored_body,
            entry_id=entry_id,
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            message_id=entry_id if message_id is None else message_id,
            order_seq=order_seq,
            digest=said if order_seq is None and not asked.owner else asked.digest(order_seq),
            **asked.head(),
        )

    def _is_above_leaf(self, entry_id: str) -> bool:
        """Whether an entry is on the leaf's path. It is asked for each of a message's results in
        turn, so the walk ends where the last one found it."""
        known = self._above.get(entry_id)
        above = any(n.entry_id in (entry_id, known) for n in upwards(self.state, self.state.leaf))
        self._above = {entry_id: self.state.leaf} if above else {}
        return above

    def _order_of(self, old: MessageState | None, given: int | None) -> int | None:
        """Once a tape carries order numbers, new messages get the next; versions keep theirs."""
        if given is not None:
            return given
        if old is not None:
            return old.latest.order_seq
        last = self.state.max_order_seq
        return None if last is None else last + 1

    def _owner_of(self, call_id: str, message_id: str | None) -> str:
        """The message whose call a result answers. Raises `InvalidValue` when nobody called."""
        if message_id is not None:
            owner = require_message(self.state, message_id).latest
            if owner.role != "assistant":
                raise WrongKind(
                    f"session {self.id!r}: message {message_id!r} is a {owner.role} message; "
                    "only assistant messages call tools"
                )
            return owner.message_id
        for node in upwards(self.state, self.state.leaf):
            if isinstance(node, MessageNode) and self._holds(node.message_id, call_id):
                return node.message_id
        raise InvalidValue(
            f"session {self.id!r}: no message on the path holds the call {call_id!r}; "
            "name the message with for_message_id="
        )

    def _holds(self, message_id: str, call_id: str) -> bool:
        message = self.state.message(message_id)
        if message is None or message.latest.role != "assistant":
            return False
        winner = message.winner(include_pending=True) or message.latest
        return call_id in winner.call_ids or (message_id, call_id) in self.state.facts


def _split(fields: dict[str, Any]) -> tuple[Meta, dict[str, Any]]:
    """Separate what every command takes from the fields of a message body."""
    meta: Meta = {}
    if _META.isdisjoint(fields):
        return meta, fields
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _META:
            meta[name] = value  # type: ignore[literal-required]
        else:
            values[name] = value
    return meta, values


def _digest(latest: Version, status: str, body: MessageBody, order_seq: int | None) -> str:
    answers = latest.call_ids[0] if latest.role == "tool_result" and latest.call_ids else None
    return message_digest(latest.role, status, body, order_seq, answers, latest.owner)
