"""A replay on the screen: a line an event, and lines below it where it did more."""

from __future__ import annotations

from collections.abc import Sequence

from tapefold.domain.events import Event

from .effects import Effect
from .effectwords import EffectWords
from .follower import Follower
from .known import Known
from .moments import Days
from .paper import Paper, Span
from .words import count


class Screen:
    """Prints the steps of one replay."""

    def __init__(self, session_id: str, known: Known) -> None:
        self.paper = Paper()
        self._session_id = session_id
        self._words = EffectWords(known, self.paper.glyphs, short=self.paper.width is not None)
        self._events = 0
        self._shown = 0
        self._days = Days()

    def show(self, event: Event, effects: Sequence[Effect], follower: Follower) -> None:
        """Print one event with its effects."""
        self._events += 1
        self._shown = follower.look.messages
        self._words.known.state = follower.state
        line, rest = self._words.headline(event, effects)
        if event.position == 1 and event.head.origin is not None and event.head.origin.inherit:
            line.append(Span(f", inherits {count(self._shown, 'message')}", "dim"))
        self.paper.cut_line(
            Span(f"{event.position:>5} ", "bold"),
            Span(f"{self._days.time(event.timestamp):<8} ", "dim"),
            *line,
        )
        for effect in rest:
            self.paper.cut_line(" " * 15, self._words.mark(effect), *self._words.effect(effect))

    def end(self) -> None:
        """Print what the view shows now, and how to see it."""
        paper = self.paper
        paper.line()
        paper.block(
            f"{count(self._events, 'event')}, {count(self._shown, 'message')} in the view; "
            f"`tapefold view {self._session_id} --at POSITION` shows any moment whole",
            style="dim",
        )
