"""The leaf, branch summaries and context edits."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

from ..aggregate import Aggregate, Meta, place_said
from ..bodies import BranchSummaryBody, EditBody, LeafBody
from ..content import ContentLike, plain_text
from ..digests import mark_digest
from ..errors import InvalidValue, WrongKind
from ..events import BranchSummarized, ContextEdited, LeafMoved
from ..outcome import Outcome
from ..tree import (
    LEAF,
    LeafRef,
    entry_of,
    require_entry,
    require_message,
    require_node,
    require_target,
)


class TreeDecisions(Aggregate):
    """Where the session stands, and what the context leaves out on a path."""

    def move_leaf(
        self, to: str | None, *, reason: str | None = None, **meta: Unpack[Meta]
    ) -> Outcome:
        """Move the leaf to an entry (a mark: the entry that it stands for), or to None: no leaf.

        The next entry hangs under it. Moving it to where it is changes nothing.
        """
        self._check_usable()
        target = None if to is None else entry_of(require_node(self.state, to))
        return self._move(target, LeafBody.build(reason=reason), meta)

    def move_leaf_before(
        self, message_id: str, *, reason: str | None = None, **meta: Unpack[Meta]
    ) -> Outcome:
        """Move the leaf in front of a user message, to ask it anew.

        The answer's `text` is the message's text. Raises `WrongKind` for other messages.
        """
        self._check_usable()
        message = require_message(self.state, message_id)
        if message.latest.role != "user":
            raise WrongKind(
                f"session {self.id!r}: {message_id!r} is no user message; "
                "move_leaf() goes to any entry"
            )
        node = require_node(self.state, message.entry_id)
        parent = node.parent_id
        if parent is not None and self.state.entries.get(parent) is not None:
            parent = entry_of(require_node(self.state, parent))
        else:
            parent = None
        version = message.winner(include_pending=True) or message.latest
        text = plain_text(self._event_at(version.seq).body.content)
        body = LeafBody.build(before=message.latest.message_id, reason=reason)
        moved = self._move(parent, body, meta)
        return Outcome(
            moved.session_id,
            moved.position,
            parent,
            message.latest.message_id,
            moved.changed,
            text=text,
        )

    def _move(self, target: str | None, body: LeafBody, meta: Meta) -> Outcome:
        identities = {"leaf": target}
        repeated = self._repeated(LeafMoved, meta, identities, mark_digest(body))
        if repeated is not None:
            return replace(repeated, entry_id=target)
        if target == self.state.leaf and meta.get("key") is None:
            return self._unchanged(target)
        outcome = self._trigger(
            LeafMoved,
            self._body(LeafBody, meta, before=body.before, reason=body.reason),
            meta,
            identities,
            mark_digest(body),
            takes_leaf=True,
            targets=() if target is None else (target,),
        )
        return Outcome(outcome.session_id, outcome.position, target)

    def summarize_branch(
        self,
        left: str,
        summary: str,
        *,
        under: LeafRef = LEAF,
        entry_id: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        usage: object = None,
        details: object = None,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Record what was learnt on the branch that ends at `left`. It hides nothing.

        Raises `InvalidValue` for an empty summary.
        """
        self._check_usable()
        if not isinstance(summary, str) or not summary.strip():
            raise InvalidValue("a branch summary needs text")
        tip = require_entry(self.state, left).entry_id
        body = self._body(
            BranchSummaryBody,
            meta,
            summary=summary,
            left=tip,
            model=model,
            provider=provider,
            usage=usage,
            details=details,
        )
        digest = mark_digest(body)
        identities = {"entry_id": entry_id, "left": tip, "under": place_said(under)}
        repeated = self._repeated(BranchSummarized, meta, identities, digest)
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        return self._trigger(
            BranchSummarized,
            body,
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(entry_id),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            targets=(tip,),
            digest=digest,
        )

    def edit_context(
        self,
        target: str,
        content: ContentLike | None,
        *,
        reason: str | None = None,
        under: LeafRef = LEAF,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Replace an entry in the context on this path, or (content None) leave it out.

        The tape and the view keep the entry as it is. `target`: an entry id or message id.
        """
        self._check_usable()
        entry_id = require_target(self.state, target)
        body = self._body(EditBody, meta, content=content, reason=reason)
        digest = mark_digest(body)
        identities = {"target": entry_id, "under": place_said(under)}
        repeated = self._repeated(ContextEdited, meta, identities, digest)
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        return self._trigger(
            ContextEdited,
            body,
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            targets=(entry_id,),
            cleared=content is None,
            digest=digest,
        )
