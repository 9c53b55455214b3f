"""Anchors: compaction, hand-off, summary reset.

A compaction is computed from a snapshot and recorded later. It is refused when what it covers
has changed since, and its boundary is moved back so that it never splits a call from its result,
nor cuts away a draft or a call that is still open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from ..aggregate import Aggregate, Meta
from ..bodies import AnchorBody
from ..calls import pair, pair_row
from ..digests import mark_digest
from ..errors import InvalidBoundary, InvalidValue, StaleSummary
from ..events import CompactionAnchored, HandoffAnchored, SummaryReset
from ..heads import FINAL_RANK
from ..nodes import ANCHORS, MARK, AnyNode, MessageNode
from ..outcome import Outcome
from ..tree import LEAF, LeafRef, is_draft, path, require_node
from ..view import Warning
from .covering import Covering, first_kept_index

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

    def coverage(self, first_kept: str | None) -> Coverage:
        """What the summary of a compaction from here has to cover: entry ids on the path.

        `covered` begins with the ruling summary's entry, where there is one. Raises
        `InvalidBoundary`.
        """
        self._check_usable()
        nodes = path(self.state, self.state.leaf)
        start, anchor_id = self._kept_from(nodes)
        wanted = len(nodes)
        if first_kept is not None:
            require_node(self.state, first_kept)
            found = [i for i, node in enumerate(nodes) if node.entry_id == first_kept]
            if not found:
                raise InvalidBoundary(
                    f"session {self.id!r}: {first_kept!r} is not on the path to the leaf; "
                    "the boundary is an entry of the context"
                )
            wanted = found[0]
            if wanted < start or nodes[wanted].kind in (MARK, *ANCHORS):
                raise InvalidBoundary(
                    f"session {self.id!r}: {first_kept!r} is no entry of the present context; "
                    "take one that the context shows"
                )
        at = self._unsplit(nodes, start, wanted)
        covered = [anchor_id] if anchor_id is not None else []
        covered += [n.entry_id for n in nodes[start:at] if isinstance(n, MessageNode)]
        if not covered[1 if anchor_id is not None else 0 :]:
            raise InvalidBoundary(
                f"session {self.id!r}: nothing lies before the boundary that a summary could "
                "cover; choose a later entry"
            )
        boundary = nodes[at].entry_id if at < len(nodes) else None
        return Coverage(boundary, tuple(covered), at != wanted)

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
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Put `summary` in the place of what lies before `first_kept` (None: nothing is kept).

        `expected_position`: where the tape stood when the summary was made. `how` names the
        anchor, `compaction/<how>`. Raises `InvalidBoundary`; `StaleSummary` when a covered
        message, an edit of one, or the ruling anchor has changed since.
        """
        self._check_usable()
        if not isinstance(summary, str) or not summary.strip():
            raise InvalidValue("a compaction needs a summary; nothing was written")
        name = _anchor_name("compaction/", how)
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
        identities = {"first_kept": first_kept, "name": name}
        repeated = self._repeated(CompactionAnchored, meta, identities, digest)
        if repeated is not None:
            return repeated
        coverage = self._current_coverage(first_kept, expected_position)
        outcome = self._trigger(
            CompactionAnchored,
            body.model_copy(update={"covered": coverage.covered}),
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=self.state.leaf,
            takes_leaf=True,
            name=name,
            first_kept=coverage.boundary,
            digest=digest,
        )
        if not coverage.moved:
            return outcome
        moved = Warning(
            "boundary_moved",
            f"the boundary was moved back to {coverage.boundary}, so that no call is split from "
            "its result and nothing unfinished is cut away",
            (coverage.boundary,) if coverage.boundary else (),
        )
        return Outcome(self.id, outcome.position, outcome.entry_id, warnings=(moved,))

    def hand_off(
        self,
        summary: str,
        *,
        state: Any = None,
        name: str = "manual",
        first_kept: str | None = None,
        **meta: Unpack[Meta],
    ) -> Outcome:
        """Hand the conversation on: a summary (required) and a state of the caller's.

        `name`: kept when it begins with `handoff/` or `auto_handoff/`, else prefixed. It rules
        the context as a compaction does; without `first_kept` nothing before it is kept.
        """
        self._check_usable()
        if not isinstance(summary, str) or not summary.strip():
            raise InvalidValue("a hand-off needs a non-empty summary; nothing was written")
        name = name if name.startswith(HANDOFF_PREFIXES) else _anchor_name("handoff/", name)
        body = self._body(AnchorBody, meta, summary=summary.strip(), state=state)
        digest = mark_digest(body)
        identities = {"name": name, "first_kept": first_kept}
        repeated = self._repeated(HandoffAnchored, meta, identities, digest)
        if repeated is not None:
            return repeated
        covered, boundary = self._handed_over(first_kept)
        return self._trigger(
            HandoffAnchored,
            body.model_copy(update={"covered": covered}),
            meta,
            identities,
            digest,
            entry_id=self._new_entry_id(None),
            parent_id=self.state.leaf,
            takes_leaf=True,
            name=name,
            first_kept=boundary,
            digest=digest,
        )

    def reset_summary(
        self, *, reason: str | None = None, under: LeafRef = LEAF, **meta: Unpack[Meta]
    ) -> Outcome:
        """No anchor before it on the path rules any more: the context is whole again."""
        self._check_usable()
        body = self._body(AnchorBody, meta, reason=reason)
        repeated = self._repeated(SummaryReset, meta, {}, "reset")
        if repeated is not None:
            return repeated
        parent_id, takes_leaf = self._place(under)
        return self._trigger(
            SummaryReset,
            body,
            meta,
            {},
            "reset",
            entry_id=self._new_entry_id(None),
            parent_id=parent_id,
            takes_leaf=takes_leaf,
            name="summary/reset",
        )

    # -- how ---------------------------------------------------------------------------------

    def _handed_over(self, first_kept: str | None) -> tuple[tuple[str, ...], str | None]:
        """What a hand-off covers. An empty session may be handed on, too."""
        if first_kept is not None:
            coverage = self.coverage(first_kept)
            return coverage.covered, coverage.boundary
        nodes = path(self.state, self.state.leaf)
        start, anchor_id = self._kept_from(nodes)
        covered = [n.entry_id for n in nodes[start:] if isinstance(n, MessageNode)]
        return ((anchor_id,) if anchor_id is not None else ()) + tuple(covered), None

    def _kept_from(self, nodes: Sequence[AnyNode]) -> tuple[int, str | None]:
        """Index from which the present context keeps entries, and the ruling anchor's id."""
        anchor = self._ruling()
        if anchor is None:
            return 0, None
        if anchor.replaces is not None:
            return 0, anchor.entry_id
        return first_kept_index(nodes, anchor), anchor.entry_id

    def _unsplit(self, nodes: Sequence[AnyNode], start: int, wanted: int) -> int:
        """Move a boundary back until it splits nothing.

        It may not lie between a call and its result, nor behind an unstruck draft, nor behind
        an unanswered call that no user message has passed over. Ends because it only moves up.
        """
        rows = [pair_row(self.state, n, True) for n in nodes if isinstance(n, MessageNode)]
        pairing = pair(self.state, rows, True)
        index = {node.entry_id: i for i, node in enumerate(nodes)}
        by_message = {row.node.message_id: index[row.node.entry_id] for row in rows}
        last_user = max((by_message[r.node.message_id] for r in rows if _is_user(r)), default=-1)
        spans: list[tuple[int, int]] = []
        for row in rows:
            here = by_message[row.node.message_id]
            if is_draft(self.state, row.node):
                spans.append((len(nodes), here))
            for call_id in row.live:
                result = pairing.results.get((row.node.message_id, call_id))
                if result is None:
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
            if start <= early < at:
                at = early
        return at

    def _current_coverage(self, first_kept: str | None, expected: int | None) -> Coverage:
        """The coverage, if nothing that it stands on has changed after `expected`."""
        if expected is None:
            return self.coverage(first_kept)
        if not 0 <= expected <= self.state.position:
            raise InvalidValue(
                f"expected_position {expected} is not on the tape of {self.id!r}, "
                f"which ends at {self.state.position}"
            )
        since = self.state.offset + expected
        try:
            coverage = self.coverage(first_kept)
        except InvalidBoundary as error:
            raise StaleSummary(f"{error}; the summary is stale, compact anew") from None
        for node in path(self.state, self.state.leaf):
            if node.kind in ANCHORS and node.seq > since:
                raise StaleSummary(
                    f"session {self.id!r}: the anchor {node.entry_id} was written after "
                    f"position {expected}; compact anew from the present context"
                )
        for entry_id in coverage.covered:
            node = require_node(self.state, entry_id)
            edit = self.state.edits.get(entry_id)
            changed = self.state.changed(node.message_id) if isinstance(node, MessageNode) else 0
            if changed > since or (edit is not None and edit.seq > since):
                raise StaleSummary(
                    f"session {self.id!r}: entry {entry_id} changed after position {expected}; "
                    "the summary does not tell of it, compact anew"
                )
        return coverage


def _is_user(row: Any) -> bool:
    winner = row.winner
    return winner is not None and winner.role == "user" and winner.rank == FINAL_RANK


def _anchor_name(prefix: str, name: object) -> str:
    if not isinstance(name, str) or len(name) > 200 or any(c < " " or c == "\x7f" for c in name):
        raise InvalidValue("an anchor's name is short text without control characters")
    name = name.strip()
    return prefix + (name.removeprefix(prefix) or "manual")
