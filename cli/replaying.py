"""A replay on the screen: a line an event, and lines below it where it did more."""

from __future__ import annotations

from collections.abc import Iterator

from tapefold.domain.content import ToolCallBlock
from tapefold.domain.events import Event
from tapefold.domain.nodes import MESSAGE, NODE_KINDS
from tapefold.domain.outline import preview_of

from .effects import Effect
from .follower import Follower
from .moments import time_of_day
from .paper import Paper, Part, Span
from .words import arguments_text, count, first_line, some_ids

_PLUS = {"added", "restored", "entered", "unhidden", "context_shown", "called"}
_MINUS = {"struck", "left", "hidden", "context_hidden", "uncalled", "unanswered"}


class Screen:
    """Prints the steps of one replay."""

    def __init__(self, session_id: str) -> None:
        self.paper = Paper()
        self._session_id = session_id
        self._events = 0
        self._shown = 0
        self._said: dict[str, str] = {}
        """Message id to role and first words, for the lines that speak of it later."""
        self._tools: dict[tuple[str | None, str | None], str] = {}
        """Calls to the name of their tool."""

    def show(self, event: Event, effects: list[Effect], follower: Follower) -> None:
        """Print one event with its effects."""
        self._events += 1
        self._shown = len(follower.look.shown)
        main = effects[0]
        rest = effects[1:]
        is_message = NODE_KINDS.get(event.head.kind) == MESSAGE
        for name in ("added", "restored", "revised"):
            own = next((e for e in effects if e.code == name), None)
            if own is not None and is_message:
                main, rest = own, [e for e in effects if e is not own]
        if is_message:
            self._remember(event)
        if event.head.role == "tool_result" and [e.code for e in rest] == ["answered"]:
            main, rest = rest[0], []  # the usual case takes one line
        self.paper.cut_line(
            Span(f"{event.position:>5} ", "bold"),
            Span(f"{time_of_day(event.timestamp):<8} ", "dim"),
            *self._mark(main, bool(getattr(event.body, "is_error", False))),
            *self._what(event, main),
        )
        for effect in rest:
            self.paper.cut_line(" " * 15, *self._mark(effect), *self._effect(effect))

    def _remember(self, event: Event) -> None:
        message_id = event.head.message_id
        if message_id is None:
            return
        self._said[message_id] = f"{event.head.role}: {first_line(preview_of(event), 40)}"
        for block in event.body.content:
            if isinstance(block, ToolCallBlock):
                self._tools[(message_id, block.call_id)] = block.name

    def end(self) -> None:
        """Print what the view shows now, and how to see it."""
        paper = self.paper
        paper.line()
        paper.block(
            f"{count(self._events, 'event')}, {count(self._shown, 'message')} in the view; "
            f"`tapefold view {self._session_id} --at POSITION` shows any moment whole",
            style="dim",
        )

    # -- marks -----------------------------------------------------------------------------

    def _mark(self, effect: Effect, failed: bool = False) -> Iterator[Part]:
        glyphs = self.paper.glyphs
        if effect.code in _PLUS:
            yield Span("+ ", "good")
        elif effect.code in _MINUS:
            yield Span("- ", "bad")
        elif effect.code == "answered":
            yield Span(f"{glyphs.cross} ", "bad") if failed else Span(f"{glyphs.check} ", "good")
        elif effect.code in ("revised", "edited"):
            yield Span("~ ", "warning")
        elif effect.code in ("beside", "draft"):
            yield Span(f"{glyphs.ring} ", "dim")
        elif effect.code == "leaf_moved":
            yield Span(f"{glyphs.arrow[-1]} ", "mark")
        elif effect.code == "recorded":
            yield "  "
        else:
            yield Span("* ", "mark")

    # -- words -----------------------------------------------------------------------------

    def _what(self, event: Event, main: Effect) -> Iterator[Part]:
        """The event itself, with its first effect."""
        head, body = event.head, event.body
        if NODE_KINDS.get(head.kind) == MESSAGE:
            yield Span(head.role or "message", head.role or "")
            if main.code == "answered":
                yield Span(f" answers {self._call(main)}", _tone(main))
            elif main.code != "added":
                yield Span(f" {_MESSAGE_WORDS.get(main.code, main.code)}", _tone(main))
            yield f"  {first_line(preview_of(event))}"
            calls = [b for b in body.content if isinstance(b, ToolCallBlock)]
            if calls:
                said = (f"{c.name}({first_line(arguments_text(c.arguments), 40)})" for c in calls)
                yield Span(f"  {' '.join(said)}", "call")
        elif head.kind in ("tool_call_recorded", "tool_result_recorded"):
            yield Span(f"{'call' if 'call_rec' in head.kind else 'result'} recorded", "call")
            yield f"  {body.name or ''}  {first_line(preview_of(event))}"
            if main.code not in ("recorded",):
                yield Span("  ", "")
                yield from self._effect(main)
        elif head.kind == "retracted":
            yield Span("retraction", "bad")
            yield f"  {first_line(body.reason or '')}  " if body.reason else "  "
            yield from self._effect(main)
        elif main.code == "recorded":
            yield Span(type(event).__name__, "dim")
            yield Span(f"  {first_line(preview_of(event))}", "dim")
        else:
            yield from self._effect(main)
            if main.code == "beside":
                yield Span(f"  {type(event).__name__}", "dim")

    def _effect(self, effect: Effect) -> Iterator[Part]:
        text = first_line(effect.text or "")
        code = effect.code
        if effect.entries:
            number = count(len(effect.entries), "message")
            yield Span(f"{number} {_MANY_WORDS.get(code, code)}", _tone(effect))
            short = {} if self.paper.width is None else {i: i[:8] for i in effect.entries}
            yield Span(f"  {some_ids(effect.entries, short)}", "dim")
        elif code in ("answered", "unanswered", "called", "uncalled"):
            yield Span(f"{self._call(effect)} {_CALL_WORDS[code]}", _tone(effect))
            yield Span(f"  {self._known(effect)}", "dim")
        elif code == "leaf_moved":
            yield Span(f"leaf moved to {effect.entry_id or 'none'}", "mark")
            yield f"  {text}"
        elif code == "started":
            yield Span("session started", "mark")
            if text:
                number = count(self._shown, "message")
                yield f", a fork of {text} that inherits {number}"
        elif code == "labelled":
            yield Span("label ", "mark")
            yield Span(f"[{text}]" if effect.text else "taken away", "label")
            yield Span(f"  on {effect.entry_id}", "dim")
        elif code in _SETTINGS:
            yield Span(_SETTINGS[code], "mark")
            yield f" {text or 'unset'}"
        elif code == "edited":
            done = "left out of" if effect.text == "left out" else "replaced in"
            yield Span(f"{effect.entry_id} {done} the context", "warning")
        elif code == "summarised":
            yield Span("summary", "mark")
            yield f"  {text}"
        else:
            yield Span(
                f"{effect.role or ''} {_MESSAGE_WORDS.get(code, code)}".strip(), _tone(effect)
            )
            yield Span(f"  {effect.entry_id or ''}  {self._known(effect)}", "dim")

    def _call(self, effect: Effect) -> str:
        name = self._tools.get((effect.message_id, effect.call_id))
        return f"call {effect.call_id}" if name is None else f"{name} ({effect.call_id})"

    def _known(self, effect: Effect) -> str:
        return self._said.get(effect.message_id or "", "")


_MESSAGE_WORDS = {
    "draft": "unfinished, not shown",
    "revised": "revised",
    "restored": "restored",
    "struck": "struck out",
    "stays_struck": "stays struck out",
    "hidden": "hidden, its call is gone",
    "unhidden": "shown again",
    "beside": "on another branch",
    "recorded": "changes nothing that shows",
}
_MANY_WORDS = {
    "left": "left with their branch",
    "entered": "entered from another branch",
    "beside": "on other branches",
    "context_hidden": "hidden from the context",
    "context_shown": "back in the context",
}
_CALL_WORDS = {
    "answered": "answered",
    "unanswered": "has no result any more",
    "called": "shows now",
    "uncalled": "does not show any more",
}
_SETTINGS = {
    "named": "name:",
    "model": "model:",
    "thinking": "thinking level:",
    "forked": "forked:",
}


def _tone(effect: Effect) -> str:
    if effect.code in _MINUS or effect.code == "stays_struck":
        return "bad"
    if effect.code in _PLUS or effect.code == "answered":
        return "good"
    if effect.code in ("revised", "draft"):
        return "warning"
    return "dim"
