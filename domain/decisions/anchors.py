"""Anchors: compaction, hand-off, summary reset.

A compaction is computed from a snapshot and recorded later. It is refused when what it covers
has changed since, and its boundary is moved back so that it never splits a call from its result,
nor cuts away a draft or a call that is still open.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

from ..aggregate import Aggregate, Meta, place_said
from ..bodies import AnchorBody
from ..calls import FACT_RESULT, Pairing, PairRow, Result, pair, pair_row
from ..digests import mark_digest
from ..errors import InvalidBoundary, InvalidValue, StaleSummary, shown
from ..events import CompactionAnchored, HandoffAnchored, SummaryReset
from ..heads import FINAL_RANK
from ..nodes import ANCHORS, BRANCH_SUMMARY, MARK, AnyNode, MessageNode, Node
from ..outcome import Outcome
from ..selection import Selection, select
from ..tree import LEAF, LeafRef, Marked, is_draft, path, require_node, upwards
from ..view import Item, Warning
from .covering import Covering

COMPACTION_PREFIXES = ("compaction/",)
HANDOFF_PREFIXES = ("handoff/", "auto_handoff/")


@dataclass(frozen=True)
class Coverage:
    """What a compaction with this boundary covers.

    `boundary` is None when nothing is kept. `moved` says that it was moved back.
    """

    boundary: str | None
    covered: tuple[str, ...]
    moved: bool


class AnchorDecisions(Covering, Aggregate):
    """Summaries that take the place of what lies before them, in the context only."""

    def coverage(self, first_kept: str | None, *, under: LeafRef = LEAF) -> Coverage:
        """What the summary of a compaction under an entry has to cover: entry ids on its path.

        `covered` begins with the ruling summary's entry, where there is one. Raises
        `InvalidBoundary`.
        """
        self._check_usable()
        return self._coverage_now(first_kept, self._place(under)[0])[0]

    def compact(
        self,
        summary: str,
        *,
        first_kept: str | None,
        expected_position: int | None = None,
        how: str = "manual",
        tokens_before: int | None = None,
        tokens_after: int | None = None,
        usage: Any = None,
        model: str | None = None,
        provider: str | None = None,
        details: Any = None,
        under: LeafRef = LEAF,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Put `summary` in the place of what lies before `first_kept` (None: nothing is kept).

        `expected_position`: where the tape stood when the summary was made. `how` names the
        anchor, `compaction/<how>`; `under`: the entry that it hangs under (left out: the leaf).
        Raises `InvalidBoundary`; `StaleSummary` when a covered
        message, an edit of one, or the ruling anchor has changed since.
        """
        self._check_usable()
        if not isinstance(summary, str) or not summary.strip():
            raise InvalidValue("a compaction needs a summary; nothing was written")
        name = _anchor_name(COMPACTION_PREFIXES, how)
        body = self._body(
            AnchorBody,
            meta,
            summary=summary,
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            usage=usage,
            model=model,
            provider=provider,
            details=details,
        )
        digest = mark_digest(body)
        identities = {"first_kept": first_kept, "name": name, "under": place_said(under)}
        repeated = self._repeated(CompactionAnchored, meta, identities, digest)
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        coverage = self._current_coverage(first_kept, expected_position, parent_id)
        outcome = self._trigger(
            CompactionAnchored,
            body.model_copy(update={"covered": coverage.covered}),
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            name=name,
            first_kept=coverage.boundary,
            digest=digest,
        )
        return replace(outcome, warnings=_moved(coverage))

    def hand_off(
        self,
        summary: str,
        *,
        state: Any = None,
        name: str = "manual",
        first_kept: str | None = None,
        under: LeafRef = LEAF,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Hand the conversation on: a summary (required) and a state of the caller's.

        `name`: kept when it begins with `handoff/` or `auto_handoff/`, else prefixed. It rules
        the context as a compaction does; without `first_kept` nothing before it is kept but
        what is unfinished: the boundary is moved back as a compaction's is.
        """
        self._check_usable()
        if not isinstance(summary, str) or not summary.strip():
            raise InvalidValue("a hand-off needs a non-empty summary; nothing was written")
        name = _anchor_name(HANDOFF_PREFIXES, name)
        body = self._body(AnchorBody, meta, summary=summary.strip(), state=state)
        digest = mark_digest(body)
        identities = {"first_kept": first_kept, "name": name, "under": place_said(under)}
        repeated = self._repeated(HandoffAnchored, meta, identities, digest)
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        coverage = self._handed_over(first_kept, parent_id)
        outcome = self._trigger(
            HandoffAnchored,
            body.model_copy(update={"covered": coverage.covered}),
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            name=name,
            first_kept=coverage.boundary,
            digest=digest,
        )
        return replace(outcome, warnings=_moved(coverage))

    def reset_summary(
        self, *, reason: str | None = None, under: LeafRef = LEAF, **meta: Unpack[Meta]
    ) -> Outcome:
        """No anchor before it on the path rules any more: the context is whole again."""
        self._check_usable()
        body = self._body(AnchorBody, meta, reason=reason)
        identities = {"under": place_said(under)}
        repeated = self._repeated(SummaryReset, meta, identities, "reset")
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        return self._trigger(
            SummaryReset,
            body,
            meta,
            identities,
            "reset",
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            name="summary/reset",
        )

    # -- how ---------------------------------------------------------------------------------

    def _coverage_now(
        self, first_kept: str | None, leaf: str | None
    ) -> tuple[Coverage, list[AnyNode]]:
        """The coverage, and all nodes of the kept range that lie before the boundary."""
        nodes = path(self.state, leaf)
        selection, rows, pairing = self._present(nodes)
        kept = {item.index for item in selection.kept}
        wanted = len(nodes)
        if first_kept is not None:
            require_node(self.state, first_kept)
            found = [i for i, node in enumerate(nodes) if node.entry_id == first_kept]
            if not found:
                raise InvalidBoundary(
                    f"session {self.id!r}: {first_kept!r} is not on the path there; "
                    "the boundary is an entry of the context"
                )
            wanted = found[0]
            if wanted not in kept or nodes[wanted].kind in (MARK, *ANCHORS):
                raise InvalidBoundary(
                    f"session {self.id!r}: {first_kept!r} is no entry of the present context; "
                    "take one that the context shows"
                )
        at = self._unsplit(nodes, kept, wanted, rows, pairing)
        covered = _shown_before(selection, at, rows, pairing)
        if selection.summaries.issuperset(covered):
            raise InvalidBoundary(
                f"session {self.id!r}: nothing lies before the boundary that a summary could "
                "cover; choose a later entry"
            )
        boundary = nodes[at].entry_id if at < len(nodes) else None
        before = [item.node for item in selection.kept if _is_before(selection, item, at)]
        return Coverage(boundary, covered, at != wanted), before

    def _present(self, nodes: Sequence[AnyNode]) -> tuple[Selection, dict[str, PairRow], Pairing]:
        """What the anchors leave of the path, and which messages and calls show there."""
        selection = select(self.state, [Item(i, node) for i, node in enumerate(nodes)], True)
        rows = [pair_row(self.state, n, True) for n in nodes if isinstance(n, MessageNode)]
        pairing = pair(self.state, rows, True)
        return selection, {row.node.entry_id: row for row in rows}, pairing

    def _handed_over(self, first_kept: str | None, leaf: str | None) -> Coverage:
        """What a hand-off covers. An empty session may be handed on, too, and so may one of
        which all is still open."""
        if first_kept is not None:
            return self._coverage_now(first_kept, leaf)[0]
        nodes = path(self.state, leaf)
        selection, rows, pairing = self._present(nodes)
        kept = {item.index for item in selection.kept}
        at = self._unsplit(nodes, kept, len(nodes), rows, pairing)
        boundary = nodes[at].entry_id if at < len(nodes) else None
        return Coverage(boundary, _shown_before(selection, at, rows, pairing), at < len(nodes))

    def _unsplit(
        self,
        nodes: Sequence[AnyNode],
        kept: Container[int],
        wanted: int,
        rows: Mapping[str, PairRow],
        pairing: Pairing,
    ) -> int:
        """Move a boundary back until it splits nothing.

        It may not lie between a call and its result, nor behind an unstruck draft, nor behind
        an unanswered call that no user message has passed over. Ends because it only moves up.
        """
        index = {node.entry_id: i for i, node in enumerate(nodes)}
        by_message = {row.node.message_id: index[key] for key, row in rows.items()}
        last_user = max((index[key] for key, row in rows.items() if _is_user(row)), default=-1)
        spans: list[tuple[int, int]] = []
        for key, row in rows.items():
            here = index[key]
            if is_draft(self.state, row.node):
                spans.append((len(nodes), here))
            for call_id in row.live:
                result = pairing.results.get((row.node.message_id, call_id))
                if result is None or self._is_pending(row.node.message_id, call_id, result):
                    if here > last_user:
                        spans.append((len(nodes), here))
                elif result.message_id is not None:
                    there = by_message[result.message_id]
                    spans.append((max(here, there), min(here, there)))
        spans.sort(reverse=True)
        at = wanted
        for late, early in spans:
            if late < at:
                break
            if early < at and early in kept:
                at = early
        return at

    def _is_pending(self, message_id: str, call_id: str, result: Result) -> bool:
        """Whether all that a call has is a fact that its result is not there yet."""
        fact = self.state.facts.get((message_id, call_id))
        waiting = fact is not None and fact.result_rank() < FINAL_RANK
        return result.kind == FACT_RESULT and waiting

    def _current_coverage(
        self, first_kept: str | None, expected: int | None, leaf: str | None
    ) -> Coverage:
        """The coverage, if nothing that it stands on has changed after `expected`."""
        if expected is None:
            return self._coverage_now(first_kept, leaf)[0]
        if type(expected) is not int or not 0 <= expected <= self.state.position:
            raise InvalidValue(
                f"expected_position {shown(expected)} is not on the tape of {self.id!r}, "
                f"which ends at {self.state.position}"
            )
        since = self.state.offset + expected
        self._check_anchors_since(first_kept, since, leaf)
        try:
            coverage, before = self._coverage_now(first_kept, leaf)
        except InvalidBoundary as error:
            if self.state.leaf_moved <= since:
                raise  # it was no better then
            raise StaleSummary(f"{error}; the summary is stale, compact anew") from None
        for node in before:
            edit = self.state.edits.get(node.entry_id)
            changed = self.state.changed(node.message_id) if isinstance(node, MessageNode) else 0
            if isinstance(node, Node) and node.kind == BRANCH_SUMMARY:
                changed = node.seq
            if changed > since or (edit is not None and edit.seq > since):
                raise StaleSummary(
                    f"session {self.id!r}: entry {node.entry_id} changed after position "
                    f"{expected}; the summary does not tell of it, compact anew"
                )
        return coverage

    def _check_anchors_since(self, first_kept: str | None, since: int, leaf: str | None) -> None:
        """Raise `StaleSummary` if another anchor ruled, or another path was covered, then."""
        now = {node.entry_id for node in upwards(self.state, leaf)}
        lost = None
        if self.state.leaf_moved > since and leaf == self.state.leaf:
            if first_kept is None:
                raise StaleSummary(
                    f"session {self.id!r}: the leaf was moved after the summary was made, which "
                    "told of all of another path; compact anew"
                )
            # Below the boundary an anchor could only rule on a path that was left since.
            lost = first_kept
        below = Marked(self.state, () if lost is None else (lost,))
        for anchor in self.state.anchors.values():
            here = anchor.entry_id in now
            if (here and anchor.seq > since) or (
                lost is not None
                and not here
                and anchor.seq <= since
                and below.nearest(anchor.entry_id) is not None
            ):
                raise StaleSummary(
                    f"session {self.id!r}: the anchor {anchor.entry_id} was written, or left, "
                    "after the summary was made; compact anew from the present context"
                )


def _is_before(selection: Selection, item: Item, at: int) -> bool:
    return item.index < at or item.entry_id in selection.summaries


def _shown_before(
    selection: Selection, at: int, rows: Mapping[str, PairRow], pairing: Pairing
) -> tuple[str, ...]:
    """Entry ids of the rows before the boundary: summaries, branch summaries, messages."""
    covered = []
    for item in selection.kept:
        row = rows.get(item.entry_id)
        shows = item.kind == BRANCH_SUMMARY or item.entry_id in selection.summaries
        if row is not None:
            shows = row.state.final is not None and row.node.message_id not in pairing.hidden
        if shows and _is_before(selection, item, at):
            covered.append(item.entry_id)
    return tuple(covered)


def _is_user(row: PairRow) -> bool:
    winner = row.winner
    return winner is not None and winner.role == "user" and winner.rank == FINAL_RANK


def _moved(coverage: Coverage) -> tuple[Warning, ...]:
    if not coverage.moved:
        return ()
    text = (
        f"the boundary was moved back to {coverage.boundary}, so that no call is split from its "
        "result and nothing unfinished is cut away"
    )
    ids = () if coverage.boundary is None else (coverage.boundary,)
    return (Warning("boundary_moved", text, ids),)


def _anchor_name(prefixes: Sequence[str], name: object) -> str:
    """The name with one of the prefixes: its own, or the first. Raises `InvalidValue`."""
    if not isinstance(name, str) or len(name) > 200 or any(c < " " or c == "\x7f" for c in name):
        raise InvalidValue("an anchor's name is short text without control characters")
    name = name.strip()
    found = next((prefix for prefix in prefixes if name.startswith(prefix)), None)
    return (found or prefixes[0]) + (name.removeprefix(found or "") or "manual")
