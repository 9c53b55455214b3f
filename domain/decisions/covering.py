"""What summaries cover: the ruling anchor, its boundary, and the summaries about a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ..aggregate import Aggregate, Meta
from ..bodies import AnchorBody
from ..events import SummaryReset
from ..nodes import Node
from ..outcome import Outcome
from ..selection import select
from ..tree import Marked, path
from ..view import Item, Warning


class Covering(Aggregate):
    """Questions about anchors that several decisions ask."""

    def _is_below_boundary(self, entry_ids: Collection[str]) -> bool:
        """Whether a summary stands for one of these entries in the context at the leaf.

        Asked of the context's own selection, so that both always agree.
        """
        if not self.state.anchors:
            return False
        nodes = path(self.state, self.state.leaf)
        selection = select(self.state, [Item(i, node) for i, node in enumerate(nodes)], True)
        kept = {item.entry_id for item in selection.kept}
        wanted = set(entry_ids) - kept
        return bool(selection.summaries) and any(node.entry_id in wanted for node in nodes)

    def _summaries_about(self, entry_ids: Sequence[str]) -> Iterable[Warning]:
        """A warning for each branch summary that tells of one of these entries."""
        if not self.state.branch_summaries:
            return
        marked = Marked(self.state, entry_ids)
        for summary_id in self.state.branch_summaries:
            node = self.state.entries.get(summary_id)
            if not isinstance(node, Node):
                continue
            here = set(marked.on_path(node.parent_id))
            told = [e for e in marked.on_path(node.target) if e not in here]
            if told:
                yield Warning(
                    "branch_summary_covers",
                    f"the branch summary {summary_id} still tells of what changed",
                    (summary_id, *reversed(told)),
                )

    def _with_reset(
        self,
        outcome: Outcome,
        entry_id: str | None,
        touched: list[str],
        reset_id: str | None,
        meta: Meta,
    ) -> Outcome:
        """Add the summary reset that a change below the boundary needs, and the warnings."""
        warnings = list(self._summaries_about(touched))
        if reset_id is not None:
            self._reset(meta, reset_id, "a covered message changed")
            warnings.append(
                Warning(
                    "summary_reset",
                    "the summary covered what changed and was reset; compact again when needed",
                    tuple(touched),
                )
            )
        return replace(outcome, entry_id=entry_id, warnings=tuple(warnings))

    def _reset(self, meta: Meta, entry_id: str, reason: str | None) -> Outcome:
        """Write a summary reset under the leaf."""
        rest: Meta = {**meta, "key": None}
        body = self._body(AnchorBody, rest, reason=reason)
        return self._trigger(
            SummaryReset,
            body,
            rest,
            entry_id=entry_id,
            parent_id=self.state.leaf,
            takes_leaf=True,
            name="summary/reset",
        )
