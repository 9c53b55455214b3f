"""The machine shapes of `search --json` and `trace --json`. Keys stay, and stay in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tapefold.projections.trace_index.reading import Reference, Request, Trace
    from tapefold.projections.trace_text.searching import Hit, Query

Shape = dict[str, Any]


def search_shape(query: Query, hits: Sequence[Hit]) -> Shape:
    """`search --json`."""
    return {
        "query": query.text,
        "mode": query.mode,
        "session_id": query.session_id,
        "hits": [
            {
                "session_id": hit.session_id,
                "position": hit.position,
                "entry_id": hit.entry_id,
                "kind": hit.kind,
                "role": hit.role,
                "status": hit.status,
                "name": hit.name,
                "call_id": hit.call_id,
                "timestamp": hit.timestamp,
                "score": hit.score,
                "at": hit.at,
                "text": hit.text,
            }
            for hit in hits
        ],
    }


def trace_shape(trace: Trace) -> Shape:
    """`trace SESSION --json`."""
    return {
        "session_id": trace.session_id,
        "requests": [asdict(request) for request in trace.requests],
        "attempts_without_request": [asdict(attempt) for attempt in trace.loose],
        "calls": [asdict(call) for call in trace.calls],
    }


def request_shape(request: Request, references: Iterable[Reference]) -> Shape:
    """`trace SESSION REQUEST --json`."""
    found = [asdict(reference) for reference in references]
    return {
        "request": asdict(request),
        "included": [one for one in found if one["part"] == "included"],
        "excluded": [one for one in found if one["part"] == "excluded"],
    }


def entry_shape(
    session_id: str, entry_id: str, found: Iterable[tuple[Request, Reference]]
) -> Shape:
    """`trace SESSION --entry ENTRY --json`; `session_id` is the session in which it began."""
    return {
        "session_id": session_id,
        "entry_id": entry_id,
        "requests": [
            {
                "session_id": request.session_id,
                "position": request.position,
                "request_id": request.request_id,
                "timestamp": request.timestamp,
                "reference": asdict(reference),
            }
            for request, reference in found
        ],
    }
