"""A view costs the same for each message, however deep the tree is."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

from tapefold import Sessions

from .measuring import Bench, Figure, side_by_side, without_collector
from .stores import SESSION, filled


def measure(bench: Bench) -> Iterator[Figure]:
    """Views of two warm sessions that are one chain each."""
    deep, shallow = bench.size(50_000, 1_000), bench.size(5_000, 100)
    with (
        Sessions(filled(bench.folder, deep)) as deeps,
        Sessions(filled(bench.folder, shallow)) as shallows,
    ):

        def view_deep() -> None:
            assert len(deeps.view(SESSION).messages) == deep

        def view_shallow() -> None:
            assert len(shallows.view(SESSION).messages) == shallow

        view_deep()
        view_shallow()
        # The collector looks at all that a view makes, again and again while it grows; what is
        # asked here is whether the view's own steps grow with the depth.
        with without_collector():
            sides = side_by_side(
                (view_deep, view_shallow), rounds=bench.size(5, 1), times=1, clock=process_time
            )
    yield Figure(
        f"view of a chain, for each message, at {deep} : at {shallow}",
        sides.ratio(0, 1) * shallow / deep,
        limit=1.5,
        detail=sides.describe("deep", "shallow"),
    )
