"""The context: what a model is sent. One normaliser, deterministic, never writing.

It selects on path order, sorts what it kept, sets every result beside its call, and says of each
message that it left out why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from .calls import DUPLICATE
from .carried import Carried, carried, tells_system
from .content import Content, TextBlock, ToolCallBlock, content_json, plain_text
from .events import Event
from .jsonvalues import sha256_hex
from .nodes import BRANCH_SUMMARY, COMPACTION, CONTEXT_EDIT, HANDOFF, MESSAGE
from .normalise import bash_details, each_call_once, model_content, provider_role
from .order import sort_rows
from .policies import Policy, policy_named
from .selection import Selection, select
from .tokens import estimate_tokens
from .view import Call, Item, Message, View, Warning, order_key

BUILDER_VERSION: Final = 1

INTERRUPTED: Final = "interrupted"
"""Text of the synthetic result of a call that has none."""

REASONS: Final = (
    "before_boundary",
    "call_summarised",
    "call_left_out",
    "no_call",
    "duplicate_result",
    "edited_out",
    "superseded",
    "excluded_by_record",
    "reasoning_only",
    "empty",
)
"""Why a message of the view is not in the context; each is produced and tested."""


@dataclass(frozen=True)
class Row:
    """One row of the context. `kind`: message, summary, branch_summary, handoff, synthetic.

    (session_id, position) is the event that the content comes from; a synthetic row has none.
    `call_id` and `is_error` are set on results.
    """

    kind: str
    entry_id: str | None
    role: str
    content: Content
    session_id: str | None = None
    position: int | None = None
    message_id: str | None = None
    call_id: str | None = None
    is_error: bool = False
    reason: str = "on_path"


@dataclass(frozen=True)
class Excluded:
    """A message, summary or edit that has no part in the context, with the reason."""

    entry_id: str
    reason: str
    session_id: str
    position: int


@dataclass(frozen=True)
class Context:
    """What a model is sent, and the manifest that says how it came about."""

    session_id: str
    position: int
    leaf: str | None
    policy: Policy
    rows: tuple[Row, ...]
    excluded: tuple[Excluded, ...]
    manifest: dict[str, Any]
    warnings: tuple[Warning, ...]


@dataclass(frozen=True)
class _Edit:
    content: Content | None


def build_context(view: View, policy: Policy | str = "anchored") -> Context:
    """The context of a view by a policy. Raises `InvalidValue` for an unknown policy."""
    chosen = policy_named(policy)
    assert view.state is not None
    selection = select(view.state, view.items, chosen.anchored)
    builder = _Builder(view, selection, chosen.anchored)
    builder.build()
    rows = tuple(builder.rows)
    return Context(
        session_id=view.session_id,
        position=view.position,
        leaf=view.leaf,
        policy=chosen,
        rows=rows,
        excluded=tuple(builder.excluded),
        manifest=_manifest(view, chosen, rows, builder.excluded),
        warnings=(*view.warnings, *builder.warnings),
    )


class _Builder:
    def __init__(self, view: View, selection: Selection, anchored: bool) -> None:
        assert view.state is not None
        self.view = view
        self.state = view.state
        self.selection = selection
        self.anchored = anchored
        self.rows: list[Row] = []
        self.excluded: list[Excluded] = []
        self.warnings: list[Warning] = []
        self.edits = self._edits()
        self.by_message = {i.message.message_id: i.message for i in view.items if i.message}
        self.kept = {i.entry_id for i in selection.kept}
        self.called: set[tuple[str, str]] = set()
        """Calls that a row of the context holds."""
        self.answered_late: dict[str, int] = {}
        """Messages behind the boundary, with the order number of a result that is kept."""

    def build(self) -> None:
        # A summary in front stays in front: rows without a number lead, or stay where they are.
        ordered = sort_rows(self.selection.kept, order_key)
        anew = self._system_told_anew()
        for item in ordered:
            if item.entry_id in self.selection.summaries:
                self._summary(item)
            elif item.kind == BRANCH_SUMMARY:
                self._branch_summary(item)
            elif item.kind == MESSAGE and item.message is not None:
                if item.message.role == "system" and item.index < anew:
                    self._exclude(item.message, "superseded")
                else:
                    self._message(item.message)
        # A result behind the boundary may answer a call that is kept.
        told = {row.entry_id for row in self.rows} | {left.entry_id for left in self.excluded}
        told |= self.kept
        for item in self.view.items:
            if item.entry_id in told:
                continue
            if item.message is not None:
                self._exclude(item.message, "before_boundary")
            elif item.kind == BRANCH_SUMMARY:
                self._exclude_node(item, "before_boundary")
            elif item.kind in (COMPACTION, HANDOFF) and self.anchored:
                self._exclude_node(item, "superseded")
        for item in ordered:
            if item.message is not None and item.message.role == "tool_result":
                self._result_left_out(item.message)
        self._warn()

    # -- edits -----------------------------------------------------------------------------

    def _edits(self) -> dict[str, _Edit]:
        """The last edit of each target on the path, unless a later version superseded it."""
        edits: dict[str, tuple[Item, Event]] = {}
        for item in self.view.items:
            if item.kind == CONTEXT_EDIT and item.event is not None and item.event.head.targets:
                edits[item.event.head.targets[0]] = (item, item.event)
        said = {item.entry_id: item.message for item in self.view.items if item.message}
        found = {}
        for target, (item, event) in edits.items():
            message = said.get(target)
            content: Content | None = event.body.content
            if content is not None and message is not None and message.seq > item.node.seq:
                self._exclude_node(item, "superseded")
                self.warnings.append(
                    Warning(
                        "superseded",
                        f"the edit {item.entry_id} of {target} is superseded by a later version",
                        (item.entry_id, target),
                    )
                )
            else:
                found[target] = _Edit(content)
        return found

    def _edited(self, entry_id: str, content: Content) -> Content | None:
        """The content after the edits; None: left out."""
        edit = self.edits.get(entry_id)
        return content if edit is None else edit.content

    # -- rows ------------------------------------------------------------------------------

    def _system_told_anew(self) -> int:
        """The place on the path before which no system message counts: the ruling anchor's, if
        it carries what the system is told. 0: all count."""
        ruling = self.selection.ruling
        if ruling is None or ruling.event is None or not tells_system(ruling.event.body.kept):
            return 0
        return ruling.index

    def _summary(self, item: Item) -> None:
        assert item.event is not None
        body = item.event.body
        text: Content = (TextBlock.model_construct(text=body.summary or ""),)
        content = self._edited(item.entry_id, text)
        if content is None:
            self._exclude_node(item, "edited_out")
            return
        kind = HANDOFF if item.kind == HANDOFF else "summary"
        session_id, position = self.state.locate(item.node.seq)
        told = list(carried(body.kept))
        self._carried(item, [row for row in told if row.role == "system"])
        if plain_text(content).strip():  # providers refuse a message of empty text
            self.rows.append(
                Row(kind, item.entry_id, "user", content, session_id, position, reason="anchor")
            )
        else:
            self._exclude_node(item, "empty")
        self._carried(item, [row for row in told if row.role != "system"])

    def _carried(self, item: Item, rows: Sequence[Carried]) -> None:
        session_id, position = self.state.locate(item.node.seq)
        for told in rows:
            if told.made_up:
                self._interrupted(told.call_id)
                continue
            self.rows.append(
                Row(
                    MESSAGE,
                    item.entry_id,
                    told.role,
                    told.content,
                    session_id,
                    position,
                    call_id=told.call_id,
                    is_error=told.is_error,
                    reason="kept_in_anchor",
                )
            )

    def _branch_summary(self, item: Item) -> None:
        assert item.event is not None
        text: Content = (TextBlock.model_construct(text=item.event.body.summary),)
        content = self._edited(item.entry_id, text)
        if content is None or not plain_text(content).strip():
            self._exclude_node(item, "edited_out" if content is None else "empty")
            return
        session_id, position = self.state.locate(item.node.seq)
        self.rows.append(Row(BRANCH_SUMMARY, item.entry_id, "user", content, session_id, position))

    def _message(self, message: Message) -> None:
        if message.role == "tool_result":
            return  # it stands beside its call
        content = self._edited(message.entry_id, message.content)
        if content is None:
            self._exclude(message, "edited_out")
            return
        if message.role == "bash_execution" and bash_details(message.body).get(
            "exclude_from_context"
        ):
            self._exclude(message, "excluded_by_record")
            return
        settings = self.view.settings
        edited = content is not message.content and content != message.content
        content, reason = model_content(message, content, settings)
        calls = self._calls_of(message, content, edited)
        facts = [c for c in calls if not c.in_content]
        if not content and not facts:
            self._exclude(message, reason or "empty")
            return
        blocks = list(each_call_once(content))
        blocks.extend(
            ToolCallBlock.model_construct(
                call_id=c.call_id, name=c.name or "unknown", arguments=c.arguments
            )
            for c in facts
        )
        self.rows.append(
            Row(
                MESSAGE,
                message.entry_id,
                provider_role(message.role),
                tuple(blocks),
                message.session_id,
                message.position,
                message.message_id,
                reason="edited" if edited else "on_path",
            )
        )
        for call in calls:
            self._result(message, call)

    def _calls_of(self, message: Message, content: Content, edited: bool) -> list[Call]:
        """The calls of a row, in its order. A call that only an edit holds has no result."""
        if not edited:
            return list(message.calls)
        known = {call.call_id: call for call in message.calls}
        return [
            known.get(b.call_id) or Call(b.call_id, b.name, b.arguments, "pending", None, True)
            for b in each_call_once(content)
            if isinstance(b, ToolCallBlock)
        ]

    def _result(self, message: Message, call: Call) -> None:
        self.called.add((message.message_id, call.call_id))
        result = call.result
        if result is None:
            self._interrupted(call.call_id)
            return
        if result.message_id is None:
            self.rows.append(
                Row(
                    "synthetic",
                    None,
                    "tool_result",
                    result.content,
                    result.session_id,
                    result.position,
                    None,
                    call.call_id,
                    result.is_error,
                    "result_fact",
                )
            )
            return
        row = self.by_message[result.message_id]
        content = self._edited(row.entry_id, row.content)
        if content is None:
            self._exclude(row, "edited_out")
            self._interrupted(call.call_id)
            return
        self.rows.append(
            Row(
                MESSAGE,
                row.entry_id,
                "tool_result",
                content,
                row.session_id,
                row.position,
                row.message_id,
                call.call_id,
                result.is_error,
                "on_path" if content == row.content else "edited",
            )
        )

    def _interrupted(self, call_id: str | None) -> None:
        text = TextBlock.model_construct(text=INTERRUPTED)
        self.rows.append(
            Row(
                "synthetic",
                None,
                "tool_result",
                (text,),
                call_id=call_id,
                is_error=True,
                reason=INTERRUPTED,
            )
        )

    # -- what is left out ------------------------------------------------------------------

    def _exclude(self, message: Message, reason: str) -> None:
        self.excluded.append(
            Excluded(message.entry_id, reason, message.session_id, message.position)
        )

    def _exclude_node(self, item: Item, reason: str) -> None:
        session_id, position = self.state.locate(item.node.seq)
        self.excluded.append(Excluded(item.entry_id, reason, session_id, position))

    def _result_left_out(self, message: Message) -> None:
        """Say why a kept result message has no row, if it has none."""
        owned = self.view.pairing.owner_of.get(message.message_id)
        if owned is None:
            left = self.view.pairing.left_over.get(message.message_id)
            self._exclude(message, "duplicate_result" if left == DUPLICATE else "no_call")
            return
        if owned in self.called:
            return
        caller = self.by_message.get(owned[0])
        behind = caller is not None and caller.entry_id not in self.kept
        self._exclude(message, "call_summarised" if behind else "call_left_out")
        if behind and caller is not None:
            self.answered_late[caller.entry_id] = message.seq

    def _changed(self, item: Item) -> int:
        """Order number of the last that was said about a message: of its late result, too."""
        changed = self.state.changed(getattr(item.node, "message_id", ""))
        return max(changed, self.answered_late.get(item.entry_id, 0))

    def _warn(self) -> None:
        ruling = self.selection.ruling
        if ruling is None:
            return
        if self.selection.missing:
            self.warnings.append(
                Warning(
                    "boundary_missing",
                    f"the boundary of {ruling.entry_id} is not on the path before it; "
                    "only what follows it is kept",
                    (ruling.entry_id,),
                )
            )
        stale = [
            item.entry_id
            for item in self.view.items[: ruling.index]
            if item.kind == MESSAGE
            and item.entry_id not in self.kept
            and self._changed(item) > ruling.node.seq
        ]
        if stale:
            self.warnings.append(
                Warning(
                    "stale_summary",
                    f"{len(stale)} message(s) that the summary {ruling.entry_id} covers changed "
                    "after it was written; compact again or reset the summary",
                    tuple(stale),
                )
            )


def row_json(row: Row) -> dict[str, Any]:
    """The part of a row that a model is sent."""
    out: dict[str, Any] = {"role": row.role, "content": content_json(row.content)}
    if row.call_id is not None:
        out["call_id"] = row.call_id
        out["is_error"] = row.is_error
    return out


def _manifest(
    view: View, policy: Policy, rows: Sequence[Row], excluded: Sequence[Excluded]
) -> dict[str, Any]:
    """How the rows came about: references, reasons, estimates and digests; no prompt text.

    `rows_hash` covers what the tape gives, `prompt_hash` what is sent, made-up results included.
    """
    prompt = [row_json(row) for row in rows]
    tape = [sent for row, sent in zip(rows, prompt, strict=True) if row.position is not None]
    included = [
        {
            "session_id": row.session_id,
            "position": row.position,
            "entry_id": row.entry_id,
            "kind": row.kind,
            "reason": row.reason,
            "tokens": estimate_tokens(row.content),
        }
        for row in rows
    ]
    return {
        "policy": policy.name,
        "policy_version": policy.version,
        "builder_version": BUILDER_VERSION,
        "session_id": view.session_id,
        "position": view.position,
        "leaf": view.leaf,
        "included": included,
        "excluded": [
            {
                "session_id": left.session_id,
                "position": left.position,
                "entry_id": left.entry_id,
                "reason": left.reason,
            }
            for left in excluded
        ],
        "tokens": sum(estimate_tokens(row.content) for row in rows),
        "rows_hash": sha256_hex(tape),
        "prompt_hash": sha256_hex(prompt),
    }
