"""What an export did: counts, and everything that the file does not hold as the session does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

MAX_LOSSES: Final = 10_000
"""Losses listed one by one; `reasons` counts all of them."""

LOSSES: Final[dict[str, str]] = {
    # Messages.
    "struck": "The message was struck out; it is left out, what hung under it hangs under its "
    "parent.",
    "draft": "The message is unfinished; it is left out, what hung under it hangs under its "
    "parent.",
    "older_version": "A later version of the message is written, at the message's place.",
    "retraction": "What was struck out is left out; that it was, and why, is not written.",
    "hidden_result": "The result's call was struck out or revised away; it is left out.",
    "paths_differ": "Branches say different things of the call or result; what the leaf's says "
    "is written.",
    "branches_unchecked": "There are too many branches to look at each; in the rest every result "
    "message is written, and a recorded result only where there is no doubt.",
    "order_number": "The message sorts by a number of its own; it is written where it hangs.",
    "other_branch": "It is not on the way to the leaf that was asked for.",
    # Calls.
    "call_fact": "The call was recorded beside the messages; it is written into its message.",
    "result_fact": "The result was recorded beside the messages; it is written as a message "
    "after its call's.",
    "fact_unwritten": "The fact adds nothing that the file could hold: the call or its result "
    "is written otherwise, or not shown.",
    "repeated_call_id": "Another message has a call with the same id; a tool that does not "
    "look at the message may pair the results otherwise.",
    "result_owner": "The result names its call's message, and does not follow it directly; the "
    "file names the call alone.",
    "interruption_text": "The result says that its call was interrupted; it is written in the "
    "tool's own words.",
    # What a message is made of.
    "block": "The tool has no such block; it is left out.",
    "arguments": 'The arguments are no object; they are written as `{"value": …}`, none as `{}`.',
    "status": "Only an assistant's message can have failed in the file.",
    "stop_reason": "The tool does not know this reason; it is written as `stop` or `toolUse`.",
    "usage": "The tool counts other things; what it has no place for is left out.",
    "field": "The file has no place for these fields.",
    "system_message": "The tool keeps no system messages of this kind in its context; it is "
    "written as custom data, or leaves the context with the next compaction.",
    "lone_surrogate": "The text holds half a character; the tool could not read it, it is "
    "written as U+FFFD.",
    "not_a_number": "NaN and the infinities have no place in JSON; they are written as null.",
    # Summaries and edits.
    "handoff": "The hand-off is written as a compaction.",
    "reset_summary": "A later reset undoes the summary; it is written as custom data.",
    "summary_reset": "The tool has no resets; it is written as custom data, and the summaries "
    "that it undoes too.",
    "reset_elsewhere": "The reset is on another branch than the leaf's, and a branch without it "
    "needs the summary; the tool applies it on both.",
    "replaced_one_by_one": "The summary replaces entries that stand apart; the tool keeps only "
    "what follows the last of them.",
    "cumulative": "The tool lets older summaries stand; here they are listed as replaced.",
    "older_summary": "The tool drops an older summary that the session keeps beside this one.",
    "dropped_stays_dropped": "The summary keeps messages that an older one dropped; in the tool "
    "they stay dropped.",
    "carried_messages": "The summary carries messages in itself; they are left out.",
    "boundary_lost": "The first kept entry is not in the file, nor any after it; the tool keeps "
    "only what follows the summary.",
    "empty_summary": "The tool would show a summary without text; it is written as custom data.",
    "edit_applied": "The tool has no edits of its context; the edited message is written as it "
    "is sent on the leaf's branch, on all branches.",
    "edit_left_out": "The edit has no effect in the session or cannot have one in the tool: its "
    "target is not in the file, has a later version, or is of a kind that the tool does not edit.",
    # Marks and the rest.
    "older_mark": "A later label, name or directory counts; the older one is not written.",
    "raw_text": "The record was not read whole; what was read of it is written.",
    "model": "The tool takes the model from elsewhere; a line at the end says the right one.",
    "leaf_move": "The tool opens the right leaf; how it came there is not written.",
    "leaf": "The tool opens the right leaf; imported again, the file has another one.",
    "label": "The label's entry is not in the file, or the tool takes the text for none.",
    "custom_data": 'The tool wants an object; the data is written as `{"value": …}`.',
    "foreign": "A record that was not understood is written as custom data.",
    "unreadable": "A line that could not be read is left out; the tool would refuse the file.",
    "old_leaf": "The older generation's leaf line is left out, as the newest writes none.",
    "usage_record": "The tool does not record what is spent outside of messages.",
    "receipt": "Receipts of forks, sub-agents and backfills are left out.",
    "trace": "Traces of model calls are left out.",
    "provenance": "The delivery's provenance key is not written.",
    "session_id": "The file has no place for the session's id.",
    "fork": "What the fork inherits is written out in full; that it is a fork is not written.",
    "time": "The entry has no time that can be read; it takes that of the entry before.",
    "info": "Other information on the session than its name and directory is left out.",
    # Markdown.
    "document": "A document for readers is no complete copy.",
}
"""Every reason of a report, with what it means."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the file does not hold as the session does."""

    session_id: str
    position: int | None
    reason: str
    entry_id: str | None = None
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """`{"session_id", "position", "entry_id", "reason", "detail"}`."""
        return {
            "session_id": self.session_id,
            "position": self.position,
            "entry_id": self.entry_id,
            "reason": self.reason,
            "detail": self.detail,
        }


@dataclass
class ExportReport:
    """What became of a session. `path` None: standard output, or an iterator of lines.

    `lines` and `size` (bytes) are what was written; `as_it_came`: every line is a record of the
    file that the session was imported from. `leaf` is where the tool opens the file.
    """

    session_id: str
    format: str
    path: str | None = None
    leaf: str | None = None
    lines: int = 0
    size: int = 0
    as_it_came: bool = False
    reasons: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)

    def add(
        self,
        reason: str,
        session_id: str | None = None,
        position: int | None = None,
        entry_id: str | None = None,
        detail: str = "",
    ) -> None:
        """Report something. Raises `KeyError` for a reason that is not declared."""
        LOSSES[reason]
        self.reasons[reason] += 1
        if len(self.losses) < MAX_LOSSES:
            self.losses.append(
                Loss(session_id or self.session_id, position, reason, entry_id, detail)
            )

    def to_json(self) -> dict[str, Any]:
        """The machine shape. `more` counts the losses that are not listed."""
        return {
            "session_id": self.session_id,
            "format": self.format,
            "path": self.path,
            "leaf": self.leaf,
            "lines": self.lines,
            "size": self.size,
            "as_it_came": self.as_it_came,
            "reasons": dict(sorted(self.reasons.items())),
            "losses": [loss.to_json() for loss in self.losses],
            "more": self.reasons.total() - len(self.losses),
        }
