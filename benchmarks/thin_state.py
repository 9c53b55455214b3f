"""The memory that the kernel's state of a session takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

from tapefold import Sessions
from tapefold.loading import load_state

from .measuring import Bench, Figure, without_collector
from .stores import SESSION, filled


def measure(bench: Bench) -> Iterator[Figure]:
    """Bytes that stay allocated by folding a session, for each of its entries."""
    entries = bench.size(20_000, 500)
    with Sessions(filled(bench.folder, entries)) as sessions, without_collector():
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        state = load_state(sessions.tapes, SESSION)
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(state.entries) == entries
    yield Figure(
        f"thin state of {entries} messages", (after - before) / entries, "bytes/entry", limit=400
    )
