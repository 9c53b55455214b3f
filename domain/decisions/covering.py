"""What summaries cover: the ruling anchor, its boundary, and the summaries about a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..aggregate import Aggregate, Meta
from ..bodies import AnchorBody
from ..events import SummaryReset
from ..nodes import ANCHORS, RESET, Anchor, AnyNode, Node
from ..outcome import Outcome
from ..tree import path, upwards
from ..view import Warning


class Covering(Aggregate):
    """Questions about anchors that several decisions ask."""

    def _ruling(self) -> Anchor | None:
        """The anchor that rules at the leaf; None where there is none, or a reset rules."""
        if not self.state.anchors:
            return None
        for node in upwards(self.state, self.state.leaf):
            if node.kind in ANCHORS:
                anchor = self.state.anchors.get(node.entry_id)
                return None if anchor is None or anchor.kind == RESET else anchor
        return None

    def _is_below_boundary(self, entry_ids: Collection[str]) -> bool:
        """Whether the ruling summary stands for one of these entries."""
        anchor = self._ruling()
        if anchor is None:
            return False
        wanted = set(entry_ids)
        if anchor.replaces is not None:
            return not wanted.isdisjoint(anchor.replaces)
        nodes = path(self.state, anchor.entry_id)
        return any(n.entry_id in wanted for n in nodes[: first_kept_index(nodes, anchor)])

    def _summaries_about(self, entry_ids: Sequence[str]) -> Iterable[Warning]:
        """A warning for each branch summary that tells of one of these entries."""
        wanted = set(entry_ids)
        for summary_id in self.state.branch_summaries:
            node = self.state.entries.get(summary_id)
            if not isinstance(node, Node):
                continue
            told = {n.entry_id for n in upwards(self.state, node.target)} & wanted
            if told:
                told -= {n.entry_id for n in upwards(self.state, node.parent_id)}
            if told:
                yield Warning(
                    "branch_summary_covers",
                    f"the branch summary {summary_id} still tells of what changed",
                    (summary_id, *(e for e in entry_ids if e in told)),
                )

    def _reset(self, meta: Meta, reason: str | None) -> Outcome:
        """Write a summary reset under the leaf."""
        rest: Meta = {**meta, "key": None}
        body = self._body(AnchorBody, rest, reason=reason)
        return self._trigger(
            SummaryReset,
            body,
            rest,
            entry_id=self._new_entry_id(None),
            parent_id=self.state.leaf,
            takes_leaf=True,
            name="summary/reset",
        )


def first_kept_index(nodes: Sequence[AnyNode], anchor: Anchor) -> int:
    """Index of the first kept node on the anchor's own path; the anchor's where none is kept."""
    end = next(i for i, node in enumerate(nodes) if node.entry_id == anchor.entry_id)
    for i, node in enumerate(nodes[:end]):
        if node.entry_id == anchor.first_kept:
            return i
    return end
