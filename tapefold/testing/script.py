"""Short methods, one or two for each kind of event, to script a tape.

Methods that make an entry answer its id; methods that write a mark or a later version answer
its position. All take `**fields`: any further field of the event's head or body, such as `key`,
`timestamp`, `takes_leaf`, `parent_id`, `line`, `model` or `usage`. Nothing is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..domain import events as ev
from ..domain.bodies import BodyBase, MessageBody
from ..domain.content import Content, ContentLike, ToolCallBlock, call_ids, parse_content
from ..domain.digests import fact_digest, mark_digest, message_digest
from ..domain.heads import DIRECTORY, PENDING
from ..domain.tree import LEAF, LeafRef
from .recording import Recording, split_fields

Calls = Iterable[str] | Mapping[str, Any]
"""Ids of tool calls, or id to arguments. The tool is called `tool`."""


def with_calls(content: ContentLike, calls: Calls) -> Content:
    """Content followed by tool calls; empty text is no block."""
    blocks = () if content == "" else parse_content(content)
    given = calls if isinstance(calls, Mapping) else dict.fromkeys(calls)
    return (
        *blocks,
        *(ToolCallBlock(call_id=c, name="tool", arguments=a) for c, a in given.items()),
    )


class Script(Recording):
    """A recording with a method for each kind of event."""

    # -- messages --------------------------------------------------------------------------

    def message(
        self,
        role: str,
        content: ContentLike = "",
        *,
        id: str | None = None,
        under: LeafRef = LEAF,
        calls: Calls = (),
        event: type[ev.Event] | None = None,
        **fields: Any,
    ) -> str:
        """The first version of a message; a draft when `status="pending"`. `message_id` is the
        entry's id unless it is given."""
        status = fields.setdefault("status", "sent")
        cls = event or (ev.MessageDrafted if status == PENDING else ev.MessageFinalized)
        entry_id = self.new_id() if id is None else id
        fields.setdefault("message_id", entry_id)
        body, head = self._version(cls, role, with_calls(content, calls), fields)
        return self.add_entry(cls, entry_id, under, body, **head)

    def _version(
        self, event: type[ev.Event], role: str, content: Content, fields: dict[str, Any]
    ) -> tuple[MessageBody, dict[str, Any]]:
        head, values = split_fields(event, fields)
        body = MessageBody.build(content=content, **values)
        if role == "assistant":
            head.setdefault("call_ids", call_ids(content))
        answers = head.get("call_ids", ()) if role == "tool_result" else ()
        head.setdefault(
            "digest",
            message_digest(
                role,
                head.get("status"),
                body,
                head.get("order_seq"),
                answers[0] if answers else None,
                head.get("owner"),
                interruption=bool(head.get("interruption")),
            ),
        )
        return body, {"role": role, **head}

    def user(self, content: ContentLike = "", **fields: Any) -> str:
        """A user message."""
        return self.message("user", content, **fields)

    def assistant(self, content: ContentLike = "", **fields: Any) -> str:
        """An assistant message; `calls=["c1", "c2"]` adds tool calls."""
        return self.message("assistant", content, **fields)

    def system(self, content: ContentLike = "", **fields: Any) -> str:
        """A system message."""
        return self.message("system", content, **fields)

    def result(
        self, call_id: str, content: ContentLike = "", owner: str | None = None, **fields: Any
    ) -> str:
        """A tool result message; `owner` names the message that holds the call.

        `interruption=True`: it only says that the call was interrupted.
        """
        return self.message(
            "tool_result", content, **{"call_ids": (call_id,), "owner": owner, **fields}
        )

    def draft(self, content: ContentLike = "", *, role: str = "assistant", **fields: Any) -> str:
        """A message that is not finished."""
        return self.message(role, content, **{"status": PENDING, **fields})

    def version(
        self,
        message_id: str,
        content: ContentLike = "",
        *,
        calls: Calls = (),
        event: type[ev.Event] = ev.MessageRevised,
        **fields: Any,
    ) -> int:
        """A later version of a message. Role, and for a result what it answers, are those of
        the version before, unless they are given; `revives=True` brings a struck one back."""
        known = self._known.get(message_id)
        role = fields.pop("role", "assistant" if known is None else known.role)
        fields = {"message_id": message_id, "status": "sent", **fields}
        if known is not None and role == "tool_result":
            fields = {"call_ids": known.call_ids, "owner": known.owner, **fields}
        body, head = self._version(event, role, with_calls(content, calls), fields)
        return self.add(event, body, **head).position

    def redraft(self, message_id: str, content: ContentLike = "", **fields: Any) -> int:
        """A further unfinished version."""
        fields = {"event": ev.MessageDrafted, "status": PENDING, **fields}
        return self.version(message_id, content, **fields)

    def finalize(self, message_id: str, content: ContentLike = "", **fields: Any) -> int:
        """The final version of a draft."""
        return self.version(message_id, content, **{"event": ev.MessageFinalized, **fields})

    def revise(self, message_id: str, content: ContentLike = "", **fields: Any) -> int:
        """A later version, with a reason."""
        return self.version(message_id, content, **fields)

    def retract(self, *message_ids: str, **fields: Any) -> int:
        """Strike messages out."""
        return self.add_mark(ev.Retracted, **{"targets": message_ids, **fields})

    # -- facts -----------------------------------------------------------------------------

    def call_fact(self, owner: str, call_id: str, **fields: Any) -> int:
        """The fact that a message's call was made (`name`, `arguments`, `status`)."""
        fields = {"name": "tool", **fields}
        return self._fact(ev.ToolCallRecorded, owner, call_id, fields)

    def result_fact(
        self, owner: str, call_id: str, content: ContentLike = "", **fields: Any
    ) -> int:
        """The fact of what a message's call gave back."""
        return self._fact(ev.ToolResultRecorded, owner, call_id, {"content": content, **fields})

    def _fact(self, event: type[ev.Event], owner: str, call_id: str, fields: dict[str, Any]) -> int:
        status = fields.setdefault("status", "success")
        head, values = split_fields(event, fields)
        body = event.BODY.build(**values)
        head = {
            "owner": owner,
            "call_ids": (call_id,),
            "digest": fact_digest(event.KIND, status, body),
            **head,
        }
        return self.add(event, body, **head).position

    # -- anchors, summaries, edits ---------------------------------------------------------

    def compact(
        self, summary: str | None = "summary", *, keep: str | None = None, **fields: Any
    ) -> str:
        """A compaction that keeps what follows from the entry `keep` on; None: nothing.

        `replaces=("e1", …)` and `cumulative=True` are the older shapes.
        """
        fields = {"name": "compaction/manual", "first_kept": keep, **fields}
        return self._said_entry(ev.CompactionAnchored, {"summary": summary, **fields})

    def hand_off(
        self, summary: str | None = "summary", *, keep: str | None = None, **fields: Any
    ) -> str:
        """A hand-off (`state=` is the caller's)."""
        fields = {"name": "handoff/manual", "first_kept": keep, **fields}
        return self._said_entry(ev.HandoffAnchored, {"summary": summary, **fields})

    def reset(self, **fields: Any) -> str:
        """No anchor before it on the path rules."""
        fields = {"name": "summary/reset", **fields}
        return self.add_entry(ev.SummaryReset, **{"body": None, **fields})

    def branch_summary(self, left: str | None = None, summary: str = "", **fields: Any) -> str:
        """What was learnt on the branch that ended at `left`."""
        fields = {"targets": () if left is None else (left,), **fields}
        return self._said_entry(ev.BranchSummarized, {"summary": summary, "left": left, **fields})

    def edit(self, target: str, content: ContentLike | None = None, **fields: Any) -> str:
        """A context edit; without content its target is left out."""
        fields = {"targets": (target,), "cleared": content is None, **fields}
        return self._said_entry(ev.ContextEdited, {"content": content, **fields})

    # -- settings and extensions -----------------------------------------------------------

    def model(self, model: str | None, provider: str | None = None, **fields: Any) -> str:
        """A change of model."""
        return self._said_entry(ev.ModelChanged, {"model": model, "provider": provider, **fields})

    def thinking(self, level: str | None, **fields: Any) -> str:
        """A change of the thinking level."""
        return self._said_entry(ev.ThinkingLevelChanged, {"level": level, **fields})

    def custom(self, namespace: str = "test", data: Any = None, **fields: Any) -> str:
        """State of an extension."""
        return self._said_entry(ev.CustomRecorded, {"namespace": namespace, "data": data, **fields})

    def foreign(self, raw: str = "?", **fields: Any) -> str:
        """A foreign record that is an entry."""
        return self._said_entry(ev.ForeignRecorded, {"raw": raw, **fields})

    def foreign_mark(self, raw: str = "?", **fields: Any) -> int:
        """A foreign record without an id."""
        return self.add_mark(ev.ForeignRecorded, **{"raw": raw, **fields})

    def _said_entry(self, event: type[ev.Event], fields: dict[str, Any]) -> str:
        entry_id, under = fields.pop("id", None), fields.pop("under", LEAF)
        head, values = split_fields(event, fields)
        body: BodyBase = event.BODY.build(**values)
        return self.add_entry(event, entry_id, under, body, **{"digest": mark_digest(body), **head})

    # -- marks -----------------------------------------------------------------------------

    def move_leaf(self, to: str | None, **fields: Any) -> int:
        """The leaf moves to an entry, or to none."""
        targets = () if to is None else (to,)
        return self.add_mark(ev.LeafMoved, **{"targets": targets, "takes_leaf": True, **fields})

    def label(self, target: str, text: str | None, **fields: Any) -> int:
        """An entry gets a label; None takes it away."""
        body = ev.Labelled.BODY.build(label=text)
        fields = {"targets": (target,), "cleared": text is None, **fields}
        return self.add(ev.Labelled, body, digest=mark_digest(body), **fields).position

    def title(self, title: str | None, **fields: Any) -> int:
        """The session's name changes; None takes it away."""
        body = ev.SessionInfoChanged.BODY.build(title=title)
        fields = {"digest": mark_digest(body), "cleared": title is None, **fields}
        return self.add(ev.SessionInfoChanged, body, **fields).position

    def info(self, **fields: Any) -> int:
        """Other information on the session: `directory`, `data`."""
        if fields.get("directory") is not None:
            fields.setdefault("name", DIRECTORY)
        return self.add_mark(ev.SessionInfoChanged, **fields)

    def usage(self, usage: Any = None, **fields: Any) -> int:
        """Something was spent outside the messages."""
        return self.add_mark(ev.UsageRecorded, **{"usage": usage, **fields})

    # -- receipts and traces ---------------------------------------------------------------

    def forked(self, child: str, position: int, **fields: Any) -> int:
        """The receipt of a fork alone; `Tape.fork` makes the child, too."""
        return self.add_mark(
            ev.Forked, **{"child": child, "position": position, "targets": (child,), **fields}
        )

    def merged(self, child: str, **fields: Any) -> int:
        """The receipt of a merge."""
        return self.add_mark(ev.ForkMerged, **{"child": child, "targets": (child,), **fields})

    def discarded(self, child: str, **fields: Any) -> int:
        """The receipt of a fork that was given up."""
        return self.add_mark(ev.ForkDiscarded, **{"child": child, "targets": (child,), **fields})

    def linked(self, child: str, position: int = 1, **fields: Any) -> int:
        """The receipt of a sub-agent's tape."""
        return self.add_mark(ev.SubagentLinked, **{"child": child, "position": position, **fields})

    def backfilled(self, **fields: Any) -> int:
        """What a backfill run did."""
        return self.add_mark(ev.BackfillRecorded, **fields)

    def context_assembled(self, manifest: Any = None, **fields: Any) -> int:
        """What was sent to the model."""
        return self.add_mark(ev.ContextAssembled, **{"manifest": manifest, **fields})

    def model_call(self, **fields: Any) -> int:
        """How one attempt to call the model ended."""
        return self.add_mark(ev.ModelCallCompleted, **fields)
