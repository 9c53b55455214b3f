"""Stepping through a tape, forward and back: where one is, and what the event there did.

Going on is one step of the follower. Going back takes the nearest copy of it that was kept (they
share their tables, so one costs little) and steps from there. The copies are made by a scout that
walks the tape once, a slice at a time, while nothing else is to do; it also notes where the user
messages, anchors and tool calls stand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

from tapefold.domain.nodes import ANCHORS, MESSAGE, NODE_KINDS

from .effects import Effect, mark_effect
from .follower import Follower
from .tailing import end_of

if TYPE_CHECKING:
    from tapefold import Event, Sessions

APART = 64
"""Least number of events between two copies that are kept."""
COPIES = 256
"""About how many copies there are at most: of a long tape they lie further apart."""
NEAR = 16
"""Number of events between two copies on a way that was just gone."""
RECENT = 500
"""Events that are kept decoded."""

USER, ANCHOR, TOOL = "user message", "anchor", "tool call"


class Stepper:
    """One place on a tape. `position`, `event` and `effects` are those of the event there, the
    `follower` has gone up to it, `count` is the last position."""

    def __init__(self, sessions: Sessions, session_id: str, at: int = 1) -> None:
        self.sessions = sessions
        self.session_id = session_id
        self.count = end_of(sessions, session_id)
        self.apart = max(APART, self.count // COPIES)
        self.places: dict[str, list[int]] = {USER: [], ANCHOR: [], TOOL: []}
        """The positions of what one can go to, as far as the scout has come."""
        self._recent: OrderedDict[int, Event] = OrderedDict()
        self._scout = Follower(sessions.state(session_id, at=1))
        self._kept = {1: self._scout.copy()}
        self._kept_at = [1]
        self._near: dict[int, Follower] = {}
        """Copies that lie close together, on the last longer way: whoever steps back once will
        do so again."""
        self._ahead: Iterator[Event] | None = None
        self.follower = self._scout.copy()
        self.position = 1
        self.event = self._event(1)
        self.effects: list[Effect] = [mark_effect(self.event)]
        self._note(self.event)
        if at > 1:
            self.go(at)

    # -- going -----------------------------------------------------------------------------

    def go(self, position: int) -> bool:
        """Go to a position; false where the tape has none such, or one is there already."""
        if not 1 <= position <= self.count or position == self.position:
            return False
        if position == 1:
            self.follower, self.event = self._kept[1].copy(), self._event(1)
            self.effects = [mark_effect(self.event)]
        else:
            if position != self.position + 1:
                self._restore(position - 1)
            self.event = self._event(position)
            self.effects = self.follower.step(self.event)
        self.position = position
        return True

    def _restore(self, position: int) -> None:
        """Bring the follower to a position."""
        if position > self._scout.state.position:
            self._walk(position)
        kept = self._kept_at[bisect_right(self._kept_at, position) - 1]
        near = max((p for p in self._near if kept < p <= position), default=None)
        here = self.follower.state.position
        if not (near or kept) <= here <= position:
            self.follower = (self._kept[kept] if near is None else self._near[near]).copy()
            here = near or kept
        self._read(here + 1, position)
        if position - here > NEAR:
            self._near = {}
        for p in range(here + 1, position + 1):
            self.follower.step(self._event(p))
            if p % NEAR == 0 and position - here > NEAR:
                self._near[p] = self.follower.copy()

    def _read(self, first: int, last: int) -> None:
        missing = [p for p in range(first, last + 1) if p not in self._recent]
        if missing:
            for event in self.sessions.tape(self.session_id, gt=missing[0] - 1, lte=missing[-1]):
                self._remember(event)

    def find(self, kind: str, forward: bool) -> int | None:
        """The position of the next (or the last) user message, anchor or tool call."""
        places = self.places[kind]
        if not forward:
            if self._scout.state.position < self.position:
                self._walk(self.position)
            n = bisect_left(places, self.position)
            return places[n - 1] if n else None
        while True:
            n = bisect_right(places, self.position)
            if n < len(places):
                return places[n]
            if self._scout.state.position >= self.count:
                return None
            self.scout()

    # -- the scout -------------------------------------------------------------------------

    def scout(self, seconds: float = 0.01) -> bool:
        """Walk on for a while; tell whether there is more to walk."""
        until = perf_counter() + seconds
        while self._scout_one():
            if perf_counter() >= until:
                return True
        return False

    def look_again(self) -> bool:
        """Whether the tape has grown since the last look."""
        before, self.count = self.count, end_of(self.sessions, self.session_id)
        return self.count != before

    def _walk(self, position: int) -> None:
        while self._scout.state.position < position and self._scout_one():
            pass

    def _scout_one(self) -> bool:
        here = self._scout.state.position
        if here >= self.count:
            return False
        if self._ahead is None:
            self._ahead = iter(self.sessions.tape(self.session_id, gt=here))
        event = next(self._ahead, None)
        if event is None:  # that reading ended where the tape did then
            self._ahead = None
            return True
        self.count = max(self.count, event.position)
        self._scout.step(event)
        self._note(event)
        if event.position - self._kept_at[-1] >= self.apart:
            self._kept[event.position] = self._scout.copy()
            self._kept_at.append(event.position)
        return True

    def _note(self, event: Event) -> None:
        head = event.head
        kind = NODE_KINDS.get(head.kind)
        if kind == MESSAGE and head.role == "user":
            self.places[USER].append(event.position)
        elif kind in ANCHORS:
            self.places[ANCHOR].append(event.position)
        elif head.kind == "tool_call_recorded" or (
            kind == MESSAGE and head.role == "assistant" and head.call_ids
        ):
            self.places[TOOL].append(event.position)

    # -- events ----------------------------------------------------------------------------

    def _event(self, position: int) -> Event:
        if position not in self._recent:
            for event in self.sessions.tape(self.session_id, gt=position - 1, lte=position):
                self._remember(event)
        self._recent.move_to_end(position)
        return self._recent[position]

    def _remember(self, event: Event) -> None:
        self._recent[event.position] = event
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
