"""Which fields of an event a record of the other tool has a place for."""

from __future__ import annotations

from typing import Final

_MESSAGE: Final = frozenset(
    {
        "model",
        "provider",
        "usage",
        "stop_reason",
        "error",
        "tool_name",
        "is_error",
        "custom_type",
        "display",
        "details",
    }
)


def held_fields(summary: frozenset[str]) -> dict[str, frozenset[str]]:
    """By the kind of an event, what both tools hold; `summary`: of any summary."""
    return {
        "message_finalized": _MESSAGE,
        "message_revised": _MESSAGE,
        "compaction_anchored": summary | {"tokens_before", "kept"},
        "handoff_anchored": summary | {"tokens_before", "state"},
        "summary_reset": frozenset({"reason"}),
        "branch_summarized": summary,
        "model_changed": frozenset({"model", "provider"}),
        "thinking_level_changed": frozenset({"level"}),
        "custom_recorded": frozenset({"namespace", "data"}),
        "foreign_recorded": frozenset({"raw", "raw_base64", "value", "problem", "start", "end"}),
    }
