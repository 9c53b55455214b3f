"""The effects of an event as parts of lines: its own line first, then one for each further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapefold.domain.events import Event

from .effects import Effect
from .happened import calls_of, details_of, is_message, title_of
from .known import Known
from .paper import Glyphs, Part, Span
from .words import count, first_line, some_ids

SHORT_ID = 8
"""Characters of an id on a screen, where several stand in a line."""

LONG_ID = 12
"""Beside a longer id of an entry its position stands, by which it is named as well."""

PLUS = {
    "added", "finished", "restored", "entered", "unhidden", "context_shown", "called",
}  # fmt: skip
MINUS = {
    "struck", "left", "hidden", "context_hidden", "uncalled", "unanswered", "stays_struck",
}  # fmt: skip

_NATURAL = {
    "added", "started", "summarised", "reset", "edited", "labelled", "named", "directory",
    "model", "thinking", "forked", "merged", "discarded", "linked", "leaf_moved", "recorded",
}  # fmt: skip
"""What the line of an event says by itself."""

MESSAGE_WORDS = {
    "added": "shows",
    "draft": "unfinished, not shown",
    "finished": "is finished, and shows",
    "revised": "revised",
    "restored": "restored",
    "struck": "struck out",
    "stays_struck": "stays struck out",
    "hidden": "hidden, its call is gone",
    "unhidden": "shown again",
    "beside": "on another branch",
    "recorded": "changes nothing that shows",
    "edit_superseded": "this version wins over the edit in the context",
}
MANY_WORDS = {
    "left": "left with their branch",
    "entered": "entered from another branch",
    "beside": "on other branches",
    "context_hidden": "hidden from the context by a summary",
    "context_shown": "back in the context",
}
CALL_WORDS = {
    "answered": "answered",
    "unanswered": "has no result any more",
    "called": "shows now",
    "uncalled": "does not show any more",
    "beside": "on another branch",
    "recorded": "changes nothing that shows",
}
OTHER_WORDS = {
    "started": "the session begins",
    "summarised": "its summary is put in the context",
    "reset": "no summary that stands before it is in the context any more",
    "forked": "a child session begins here",
    "merged": "a fork was merged back",
    "discarded": "a fork was given up",
    "linked": "the session of a sub-agent belongs here",
    "recorded": "nothing changes in the view",
    "beside": "on another branch; nothing changes in the view",
}


class EffectWords:
    """Makes the parts. `short`: ids are cut, for a screen."""

    def __init__(self, known: Known, glyphs: Glyphs, *, short: bool) -> None:
        self.known = known
        self._glyphs = glyphs
        self._short = short

    # -- marks -----------------------------------------------------------------------------

    def mark(self, effect: Effect, failed: bool = False) -> Span:
        """Two columns that tell the effect at a glance."""
        glyphs = self._glyphs
        if effect.code in PLUS:
            return Span("+ ", "good")
        if effect.code in MINUS:
            return Span("- ", "bad")
        if effect.code == "answered":
            return Span(f"{glyphs.cross} ", "bad") if failed else Span(f"{glyphs.check} ", "good")
        if effect.code in ("revised", "edited", "edit_superseded"):
            return Span("~ ", "warning")
        if effect.code in ("beside", "draft"):
            return Span(f"{glyphs.ring} ", "dim")
        if effect.code == "leaf_moved":
            return Span(f"{glyphs.arrow[-1]} ", "mark")
        return Span("  ") if effect.code == "recorded" else Span("* ", "mark")

    # -- the event -------------------------------------------------------------------------

    def headline(self, event: Event, effects: Sequence[Effect]) -> tuple[list[Part], list[Effect]]:
        """The event with the effect that its line tells, and the effects that are left."""
        main, rest = self._main(event, effects)
        failed = event.head.status == "error" or bool(getattr(event.body, "is_error", False))
        parts: list[Part] = [self.mark(main, failed), title_of(event)]
        if is_message(event):
            parts += self._of_message(event, main)
        else:
            style = "dim" if main.code == "recorded" else ""
            said = self._glyphs.between.join(self._details(event))
            parts.append(Span(f" {said}" if said else "", style))
            if main.code == "beside" and main.message_id is None and not main.entries:
                parts.append(Span("  on another branch", "dim"))
            elif main.code not in _NATURAL:
                parts.append("  ")
                parts += self.effect(main)
        return parts, rest

    def _of_message(self, event: Event, main: Effect) -> Iterator[Part]:
        if main.code == "answered":
            yield Span(f" answers {self._call(main)}", tone(main))
        elif main.code not in _NATURAL:
            yield Span(f" {MESSAGE_WORDS.get(main.code, main.code)}", tone(main))
        for said in self._details(event):
            yield f"  {said}"
        if calls := calls_of(event):
            yield Span(f"  {calls}", "call")

    def _main(self, event: Event, effects: Sequence[Effect]) -> tuple[Effect, list[Effect]]:
        main = effects[0]
        if is_message(event):
            for name in ("added", "finished", "restored", "revised"):
                main = next((e for e in effects if e.code == name), main)
            own = [e for e in effects if e is not main]
            if event.head.role == "tool_result" and [e.code for e in own] == ["answered"]:
                return own[0], []  # the usual case takes one line
        else:
            # What changes the path comes first in `effects`, the event's own word last.
            main = next((e for e in reversed(effects) if e.code in _NATURAL), main)
        return main, [e for e in effects if e is not main]

    # -- effects ---------------------------------------------------------------------------

    def effect(self, effect: Effect) -> Iterator[Part]:
        """One effect."""
        code = effect.code
        if effect.entries:
            number = count(len(effect.entries), "message")
            yield Span(f"{number} {MANY_WORDS.get(code, code)}", tone(effect))
            short = {i: self._entry(i, SHORT_ID) for i in effect.entries}
            yield Span(f"  {some_ids(effect.entries, short)}", "dim")
        elif effect.call_id is not None:
            yield Span(f"{self._call(effect)} {CALL_WORDS.get(code, code)}", tone(effect))
            yield Span(f"  {self.known.said(effect.message_id)}", "dim")
        elif effect.message_id is not None or code == "edit_superseded":
            words = f"{effect.role or ''} {MESSAGE_WORDS.get(code, code)}".strip()
            yield Span(words, tone(effect))
            where = "" if effect.entry_id is None else self._entry(effect.entry_id)
            yield Span(f"  {where}  {self.known.said(effect.message_id)}", "dim")
        else:
            yield from self._other(effect)

    def _other(self, effect: Effect) -> Iterator[Part]:
        code, text = effect.code, first_line(effect.text or "")
        if code == "leaf_moved":
            leaf = "none" if effect.entry_id is None else self._entry(effect.entry_id)
            yield Span(f"the leaf is {leaf} now", "mark")
        elif code == "labelled":
            yield Span("label ", "mark")
            yield Span(f"[{text}]" if effect.text else "taken away", "label")
            yield Span(f"  on {self._entry(effect.entry_id or '')}", "dim")
        elif code in ("named", "directory", "model", "thinking"):
            name = {"named": "name", "thinking": "thinking level"}.get(code, code)
            yield Span(f"{name}: {text or 'none'}", "mark")
        elif code == "edited":
            done = "left out of" if effect.text == "left out" else "replaced in"
            yield Span(f"{self._entry(effect.entry_id or '')} is {done} the context", "warning")
        else:
            yield Span(OTHER_WORDS.get(code, code), tone(effect))
            if code == "beside" and effect.entry_id:
                yield Span(f"  {self._entry(effect.entry_id)}", "dim")

    def _details(self, event: Event) -> Iterator[str]:
        """What an event says by itself; with its position the entry that it begins or ends with."""
        for said in details_of(event):
            yield self._with_position(said, event.head.targets)

    def _with_position(self, said: str, targets: Sequence[str]) -> str:
        for target in targets:
            if said.endswith(f" {target}"):
                return said.removesuffix(target) + self._entry(target)
            if said.startswith(f"{target} "):
                return self._entry(target) + said.removeprefix(target)
        return said

    def _entry(self, entry_id: str, cut: int | None = None) -> str:
        """The id, with `#5 ` before a long one; `cut`: so much of it on a screen."""
        state = self.known.state
        node = state.entry(entry_id) if len(entry_id) > LONG_ID else None
        shown = entry_id[:cut] if self._short else entry_id
        if node is None:
            return shown
        session_id, position = state.locate(node.seq)
        inherited = "" if session_id == state.session_id else "^"
        return f"#{position}{inherited} {shown}"

    def _call(self, effect: Effect) -> str:
        return self.known.call((effect.message_id or "", effect.call_id or ""))


def tone(effect: Effect) -> str:
    """The style of an effect's words."""
    if effect.code in MINUS:
        return "bad"
    if effect.code in PLUS or effect.code == "answered":
        return "good"
    return "warning" if effect.code in ("revised", "draft", "edit_superseded") else "dim"
