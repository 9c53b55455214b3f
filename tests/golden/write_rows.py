"""Writes the golden rows: what the first release stores, kept for ever.

Run `python tests/golden/write_rows.py`. It appends the rows that are missing and never touches
one that is there: if an event below would now be stored in another way, it stops. So a new field
is shown by a further event, below the others of its class; a new class version makes further
rows of all of them, beside those of the old version.

The rows of events that are marked experimental stand in a file of their own, which may be deleted
and written anew until those events are frozen.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from eventsourcing.persistence import JSONTranscoder

from tapefold.domain import events as ev
from tapefold.domain.heads import Origin
from tapefold.persistence.mapper import TapeMapper

FOLDER = Path(__file__).resolve().parent
ROWS = FOLDER / "rows.jsonl"
EXPERIMENTAL_ROWS = FOLDER / "rows-experimental.jsonl"

SESSION = "0192f0c1-7f00-7000-8000-000000000001"
CHILD = f"{SESSION}::fork::try-2"
TIME = "2026-03-01T09:30:00.000000Z"
DIGEST = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
OTHER = "00112233445566778899aabbccddeeff"

# A little of everything that the fast codecs lose.
ODD: dict[str, Any] = {
    "nan": float("nan"),
    "inf": [float("inf"), float("-inf")],
    "big": 2**200,
    "small": -(2**63) - 1,
    "float": [1.0, -0.0, 1e16, 5e-324, 0.1],
    "half": "\ud800 and \udc00",
    "line": 'a\u2028b\u2029c\x00\x7f\r\n\t"\\/',
    "": {"empty key": [[], {}, "", None, True, False, 0]},
    "großes Maß 😀": "ñ",
}

# What every body may carry.
COMMON: dict[str, Any] = {
    "source": "live",
    "actor": "anna",
    "correlation_id": "corr-1",
    "causation_id": "cause-1",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "span_id": "00f067aa0ba902b7",
    "extra": {"note": "kept", "nested": {"a": [1, None]}},
}

# Every block, with all of its fields.
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "Hello, wörld", "extra": {"cache": True}},
    {"type": "thinking", "thinking": "hm", "signature": "c2ln==", "redacted": True},
    {"type": "image", "data": "aW1n", "mime_type": "image/png", "url": "https://e.example/i"},
    {"type": "file", "name": "a.txt", "data": "dGV4dA==", "mime_type": "text/plain", "url": "u"},
    {"type": "tool_call", "call_id": "c1", "name": "read", "arguments": {"path": "a.txt"}},
    {"type": "tool_call", "call_id": "c2", "name": "list"},
    {"type": "other", "value": {"type": "hologram", "of": ["x"]}},
]


class Rows:
    """Collects events. Those of one class stand at the positions 1, 2, 3 …, which name them."""

    def __init__(self) -> None:
        self.events: list[ev.Event] = []
        self._last: Counter[type[ev.Event]] = Counter()

    def add(
        self,
        cls: type[ev.Event],
        body: dict[str, Any] | None = None,
        *,
        session: str = SESSION,
        **head: Any,
    ) -> None:
        self._last[cls] += 1
        made = cls.BODY.build(**(body or {}))
        self.events.append(cls.make(session, self._last[cls], made, **head))


def messages(rows: Rows) -> None:
    rows.add(
        ev.MessageDrafted,
        {"content": "Let me", "model": "m-large", "provider": "acme", **COMMON},
        timestamp=TIME,
        entry_id="e10",
        parent_id="e9",
        takes_leaf=True,
        message_id="m10",
        role="assistant",
        status="pending",
        digest=DIGEST,
    )
    rows.add(
        ev.MessageDrafted,
        {"content": "Let me see", "stop_reason": "aborted"},
        message_id="m10",
        role="assistant",
        status="pending",
    )
    rows.add(
        ev.MessageFinalized,
        {
            "content": BLOCKS,
            "model": "m-large",
            "provider": "acme",
            "usage": {"input": 1200, "output": 88, "cost": {"total": 0.0125}},
            "stop_reason": "tool_use",
            "error": "rate limited, then retried",
            "name": "Bob",
            **COMMON,
        },
        timestamp=TIME,
        entry_id="e11",
        parent_id="e10",
        takes_leaf=True,
        message_id="m11",
        role="assistant",
        status="error",
        call_ids=("c1", "c2"),
        order_seq=7,
        digest=DIGEST,
        key="tau:42",
        request=OTHER,
        record=DIGEST,
        line=12,
    )
    rows.add(
        ev.MessageFinalized,
        {
            "content": [{"type": "text", "text": ""}],
            "tool_name": "read",
            "is_error": True,
            "custom_type": "note",
            "display": False,
            "details": ODD,
            "extra": ODD,
            "reason": "imported",
        },
        timestamp=1772357400123,
        entry_id="e12",
        parent_id="e11",
        message_id="m12",
        role="tool_result",
        status="sent",
        call_ids=("c1",),
        owner="m11",
        interruption=True,
        order_seq=2**70,
    )
    # A head that no fast codec can hold.
    rows.add(
        ev.MessageFinalized,
        {"content": "half \udfff of a pair"},
        timestamp=float("nan"),
        message_id="\ud83d lone",
        role="user",
        status="sent",
        key="k\u2028",
    )
    rows.add(ev.MessageFinalized, timestamp=1772357400.123456, message_id="m", role="système")
    rows.add(
        ev.MessageRevised,
        {"content": "Better", "reason": "a typo", "usage": [1, 2.5], "details": "text", **COMMON},
        timestamp=TIME,
        message_id="m11",
        role="assistant",
        status="sent",
        revives=True,
        digest=OTHER,
    )
    rows.add(ev.Retracted, {"reason": "sent by mistake", **COMMON}, targets=("m11", "m12"))
    rows.add(
        ev.ToolCallRecorded,
        {"name": "read", "arguments": {"path": "/tmp/ä", "lines": [1, 10]}, **COMMON},
        timestamp=TIME,
        call_ids=("c1",),
        owner="m11",
        status="pending",
    )
    rows.add(
        ev.ToolResultRecorded,
        {"name": "read", "content": BLOCKS[:3], "details": {"bytes": 12}, **COMMON},
        timestamp=TIME,
        call_ids=("c1",),
        owner="m11",
        status="success",
        digest=DIGEST,
    )


def anchors(rows: Rows) -> None:
    for cls, name in (
        (ev.CompactionAnchored, "compaction/manual"),
        (ev.SummaryReset, "summary/reset"),
        (ev.HandoffAnchored, "handoff/to-ops"),
    ):
        rows.add(
            cls,
            {
                "summary": "We spoke of gardens.",
                "state": {"open": ["bulbs"], "done": 3},
                "covered": ["e1", "e2"],
                "tokens_before": 120000,
                "tokens_after": 2100,
                "usage": {"input": 90000},
                "model": "m-small",
                "provider": "acme",
                "reason": "threshold",
                "details": {"files": ["a.txt"]},
                "kept": [{"role": "user", "content": "the last one"}],
                **COMMON,
            },
            timestamp=TIME,
            entry_id="e20",
            parent_id="e12",
            takes_leaf=True,
            name=name,
            first_kept="e5",
            replaces=("e1", "e2"),
            cumulative=True,
        )
    rows.add(ev.CompactionAnchored, {"summary": ""}, name="compaction/auto", replaces=())
    rows.add(
        ev.BranchSummarized,
        {
            "summary": "The other way failed.",
            "left": "e14",
            "covered": ["e13", "e14"],
            "usage": {"output": 70},
            "model": "m-small",
            "provider": "acme",
            "details": [1],
            **COMMON,
        },
        timestamp=TIME,
        entry_id="e21",
        parent_id="e12",
        takes_leaf=True,
    )
    edit = {"content": BLOCKS[:2], "reason": "shorter", **COMMON}
    rows.add(ev.ContextEdited, edit, entry_id="e22", parent_id="e21", targets=("e11",))
    rows.add(ev.ContextEdited, {"content": []}, entry_id="e23", targets=("e12",))
    rows.add(ev.ContextEdited, entry_id="e24", targets=("e12",), cleared=True)


def session(rows: Rows) -> None:
    rows.add(
        ev.SessionStarted,
        {
            "incarnation": "i-1",
            "directory": "/home/anna/garden",
            "title": "Bulbs",
            "owner": "anna",
            "imported_from": {"format": "tau", "version": 4},
            **COMMON,
        },
        timestamp=TIME,
        digest=DIGEST,
    )
    rows.add(
        ev.SessionStarted,
        session=CHILD,
        timestamp=TIME,
        origin=Origin(SESSION, 12, None, inherit=False),
    )
    rows.add(ev.SessionStarted, session=CHILD, origin=Origin("parent \ud800", 2**64, "e12"))
    fork = {"child": CHILD, "fork_id": "try-2", "position": 12, "leaf": "e12", "inherit": False}
    rows.add(ev.Forked, {**fork, **COMMON}, timestamp=TIME)
    rows.add(ev.LeafMoved, {"before": "m11", "reason": "again", **COMMON}, targets=("e9",))
    rows.add(ev.LeafMoved, timestamp=TIME)
    rows.add(ev.Labelled, {"label": "start here", **COMMON}, targets=("e9",), digest=DIGEST)
    # An imported mark with a node of its own.
    rows.add(ev.Labelled, entry_id="e30", parent_id="e29", stands_for="e9", cleared=True)
    info = {"title": "Tulips", "directory": "/home/anna", "data": {"colour": "red"}, **COMMON}
    rows.add(ev.SessionInfoChanged, info, timestamp=TIME, digest=OTHER)
    rows.add(ev.SessionInfoChanged, cleared=True)
    rows.add(
        ev.ModelChanged,
        {"model": "m-large", "provider": "acme", **COMMON},
        timestamp=TIME,
        entry_id="e31",
        parent_id="e30",
        takes_leaf=True,
    )
    rows.add(ev.ThinkingLevelChanged, {"level": "high", **COMMON}, entry_id="e32")
    rows.add(
        ev.UsageRecorded,
        {
            "usage": {"input": 5, "cost": 1e-9},
            "purpose": "title",
            "model": "m-small",
            "provider": "acme",
            "note": "free",
            **COMMON,
        },
        timestamp=TIME,
    )
    rows.add(ev.CustomRecorded, {"namespace": "ext.todo", "data": ODD, **COMMON}, entry_id="e33")
    rows.add(
        ev.ForeignRecorded,
        {
            "raw": '{"type":"?"',
            "value": {"type": "?"},
            "problem": "cut off",
            "start": 1024,
            "end": 1035,
            **COMMON,
        },
        timestamp="yesterday",
        line=40,
        record=OTHER,
    )
    rows.add(ev.ForeignRecorded, {"raw_base64": "/w==", "problem": "no text"}, entry_id="e34")


def experimental(rows: Rows) -> None:
    for cls in (ev.ForkMerged, ev.ForkDiscarded):
        merge = {"child": CHILD, "fork_id": "try-2", "position": 30, "count": 4, "data": [1]}
        rows.add(cls, {**merge, **COMMON}, timestamp=TIME)
    link = {"child": "sub-1", "position": 9, "run_id": "r1", "task_id": "t1", "outcome": "done"}
    rows.add(ev.SubagentLinked, {**link, "summary": "Found it.", "data": ODD, **COMMON})
    backfill = {"origin": "tau", "read": 10, "written": 8, "data": {"skipped": 2}}
    rows.add(ev.BackfillRecorded, {**backfill, **COMMON}, timestamp=TIME)
    rows.add(ev.ContextAssembled, {"request_id": "q1", "manifest": {"rows": []}, **COMMON})
    rows.add(
        ev.ModelCallCompleted,
        {
            "request_id": "q1",
            "attempt": 2,
            "status": "error",
            "model": "m-large",
            "provider": "acme",
            "usage": {"input": 1},
            "cost": {"usd": 0.002},
            "latency_ms": 812.5,
            "error": "timeout",
            "stop_reason": "length",
            **COMMON,
        },
        timestamp=TIME,
    )


def samples() -> list[ev.Event]:
    """The events of the golden rows, in their order."""
    rows = Rows()
    for part in (messages, anchors, session, experimental):
        part(rows)
    return rows.events


def row_of(event: ev.Event) -> dict[str, Any]:
    """The golden row of an event. The state is text; half pairs in it are escaped."""
    stored = TapeMapper(JSONTranscoder()).to_stored_event(event)  # type: ignore[arg-type]
    return {
        "topic": stored.topic,
        "originator_id": stored.originator_id,
        "originator_version": stored.originator_version,
        "state": stored.state.decode(),
    }


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; none if it does not exist."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def name_of(row: dict[str, Any]) -> tuple[str, int, int]:
    """What tells a row from all others: topic, class version, position."""
    version = json.loads(row["state"]).get("v", 1)
    return row["topic"], version, row["originator_version"]


def append_missing(path: Path, events: Iterable[ev.Event]) -> int:
    """Append the rows that a file lacks; how many. Exits if one that is there would change."""
    there = {name_of(row): row for row in read_rows(path)}
    missing = []
    for row in map(row_of, events):
        name = name_of(row)
        if name not in there:
            missing.append(row)
        elif there[name] != row:
            sys.exit(
                f"{path.name}: {name} is stored in another way now; golden rows are never "
                f"edited:\nrow: {there[name]['state']}\nnow: {row['state']}"
            )
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in missing)
    return len(missing)


def main() -> None:
    events = samples()
    for path, marked in ((ROWS, False), (EXPERIMENTAL_ROWS, True)):
        count = append_missing(path, [e for e in events if e.EXPERIMENTAL is marked])
        print(f"{path.name}: {count} rows appended")


if __name__ == "__main__":
    main()
