"""`replay --step` in a full terminal: one event with its effects, and what is seen after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tapefold.persistence.errors import StoreBusy

from .effectwords import EffectWords
from .known import Known
from .moments import day_and_time
from .paper import Span, cell_len
from .scrolling import Scroll
from .stepbodies import Entries, Reader, raw_lines
from .stepping import ANCHOR, TOOL, USER, Stepper
from .terminal import FullScreen, Key, Line, Lines
from .words import count

VIEW, CONTEXT, RAW = "view", "context", "raw"

KEYS = (
    ("j n space right down", "the next event"),
    ("k p left up", "the event before"),
    ("home end", "the first event, the last"),
    ("u U", "the next user message, the one before"),
    ("a A", "the next anchor, the one before: compaction, hand-off, reset"),
    ("t T", "the next tool call, the one before"),
    (": g", "jump to a position"),
    ("v c r", "see the view, the context, the event as it stands on the tape"),
    ("f", "long texts whole, or cut"),
    ("pageup pagedown", "scroll what is seen"),
    ("b w", "scroll it by a line, back and forward"),
    ("?", "this help"),
    ("q", "quit; so does Ctrl-C, with exit code 130"),
)
"""What the keys do."""

_HINT = "j/k step · u user · a anchor · t tool · : jump · v/c/r see · ? help · q quit"
_EFFECTS = 4
"""Most effects that are listed above what is seen."""
_ROOMY = 10
"""From this height on there is a line of hints, and a line between head and body."""


class StepScreen:
    """The screen of one stepper. `follows`: the tape is looked at for what others append."""

    def __init__(self, stepper: Stepper, *, follows: bool = False) -> None:
        self.stepper = stepper
        self._follows = follows
        self._reader = Reader(stepper)
        self._known = Known(stepper.follower.state, stepper.sessions.tapes)
        self._mode = VIEW
        self._full = False
        self._helps = False
        self._said = ""
        self._scroll: Scroll | None = None
        self._size = (0, 0)
        self._height = 1
        self.screen = FullScreen(
            self.draw, self._keys(), tick=self._news if follows else None, idle=stepper.scout
        )

    def run(self) -> None:
        """Until the user quits."""
        self.screen.run()

    # -- keys ------------------------------------------------------------------------------

    def _keys(self) -> dict[str, Key]:
        stepper = self.stepper
        keys: dict[str, Key] = {}

        def bind(names: str, function: Callable[[], object]) -> None:
            for name in names.split():
                keys[" " if name == "space" else name] = function

        bind("j n space right down enter", lambda: self._go(stepper.position + 1))
        bind("k p left up", lambda: self._go(stepper.position - 1))
        bind("home", lambda: self._go(1))
        bind("end", lambda: self._go(stepper.count))
        for name, kind in (("u", USER), ("a", ANCHOR), ("t", TOOL)):
            bind(name, lambda kind=kind: self._find(kind, True))  # type: ignore[misc]
            bind(name.upper(), lambda kind=kind: self._find(kind, False))  # type: ignore[misc]
        bind(": g", lambda: self.screen.ask("position: ", self._jump))
        for name, mode in (("v", VIEW), ("c", CONTEXT), ("r", RAW)):
            bind(name, lambda mode=mode: self._see(mode))  # type: ignore[misc]
        bind("f", self._fully)
        bind("pageup", lambda: self._move(-max(self._height - 1, 1)))
        bind("pagedown", lambda: self._move(max(self._height - 1, 1)))
        bind("b", lambda: self._move(-1))
        bind("w", lambda: self._move(1))
        bind("?", self._help)
        bind("escape", self._leave)
        bind("q", self._quit)
        return keys

    def _go(self, position: int) -> None:
        self._helps = False
        if self.stepper.go(position):
            self._said, self._scroll = "", None
        elif position != self.stepper.position:
            self._said = "this is the first event" if position < 1 else "this is the last event"

    def _find(self, kind: str, forward: bool) -> None:
        position = self.stepper.find(kind, forward)
        if position is None:
            self._said = f"no {kind} {'comes after' if forward else 'stands before'} this"
        else:
            self._go(position)

    def _jump(self, text: str) -> None:
        digits = text.strip().lstrip("#")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > len(str(10**18)):
            self._said = "a position is a number"
        elif not 1 <= int(digits) <= self.stepper.count:
            self._said = f"the tape has positions 1 to {self.stepper.count}"
        else:
            self._go(int(digits))

    def _see(self, mode: str) -> None:
        self._helps, self._mode, self._scroll, self._said = False, mode, None, ""

    def _fully(self) -> None:
        self._full, self._scroll = not self._full, None
        self._said = "long texts whole" if self._full else "long texts cut"

    def _move(self, by: int) -> None:
        if self._scroll is not None:
            self._scroll.move(by)

    def _help(self) -> None:
        self._helps, self._scroll, self._said = not self._helps, None, ""

    def _leave(self) -> None:
        if self._helps:
            self._help()
        self._said = ""

    def _quit(self) -> None:
        if self._helps:
            self._help()
        else:
            self.screen.quit()

    def _news(self) -> bool:
        try:
            return self.stepper.look_again()
        except StoreBusy:
            return False  # asked again soon

    # -- drawing ---------------------------------------------------------------------------

    def draw(self, width: int, height: int) -> list[Line]:
        """The lines of a screen of this size."""
        if (width, height) != self._size:
            self._size, self._scroll = (width, height), None
        lines = self._head(width, height)
        hints = self._hints(width) if height >= _ROOMY else []
        self._height = max(height - len(lines) - len(hints), 1)
        body = self._body(width, self._height)
        room = height - len(lines) - len(hints) - len(body)
        return [*lines, *body, *([()] * max(room, 0)), *hints][:height]

    def _head(self, width: int, height: int) -> list[Line]:
        paper, stepper = Lines(width), self.stepper
        self._known.state = stepper.follower.state
        words = EffectWords(self._known, paper.glyphs, short=True)
        where = f"{stepper.position:,} of {stepper.count:,}"
        time = day_and_time(stepper.event.timestamp)
        seen = "help" if self._helps else self._mode
        facts = paper.glyphs.between.join(part for part in (where, time, seen) if part)
        room = width - cell_len(facts) - 2
        title = f"{paper.cut(self._title(), room)}  " if room >= len("tapefold") else ""
        paper.cut_line(Span(title, "dim"), Span(facts, "bold"))
        line, rest = words.headline(stepper.event, stepper.effects)
        paper.cut_line(*line)
        most = _EFFECTS if height >= _ROOMY else 0
        for effect in rest[:most]:
            paper.cut_line("  ", words.mark(effect), *words.effect(effect))
        if len(rest) > most and most:
            paper.cut_line(Span(f"  and {count(len(rest) - most, 'more effect')}", "dim"))
        if height >= _ROOMY:
            paper.cut_line(Span(paper.glyphs.rule * width, "dim"))
        return paper.take()

    def _title(self) -> str:
        """The session's name at this place."""
        name = self.stepper.follower.state.name
        if name is None or name.cleared:
            return self.stepper.session_id
        title: str | None = self._reader.bodies[name.seq].body.title
        return title or self.stepper.session_id

    def _hints(self, width: int) -> list[Line]:
        paper = Lines(width)
        if self._said:
            paper.cut_line(Span(self._said, "warning"))
        else:
            left = self.stepper.count - self.stepper.position
            new = f"{left:,} ahead · " if self._follows else ""
            hint = _HINT if len(paper.glyphs.dot.encode()) > 1 else _HINT.replace("·", "-")
            paper.cut_line(Span(new + hint, "dim"))
        return paper.take()

    def _body(self, width: int, height: int) -> list[Line]:
        if self._scroll is None:
            self._scroll = self._helping(width) if self._helps else self._scrolled(width, height)
        return self._scroll.seen(height)

    def _helping(self, width: int) -> Scroll:
        paper = Lines(width)
        for names, text in KEYS:
            paper.block(text, " " * 4 if width < 60 else " " * 22, first=f"{names:<20}  ")
        lines = paper.take()
        return Scroll(1, lambda _: lines)

    def _scrolled(self, width: int, height: int) -> Scroll:
        stepper, follower = self.stepper, self.stepper.follower
        if self._mode == RAW:
            lines = raw_lines(stepper.event, width)
            return Scroll(1, lambda _: lines)
        entries = Entries(follower, self._reader, width, self._full)
        order = entries.order if self._mode == VIEW else entries.context_order()
        make = entries.view if self._mode == VIEW else entries.context
        at = self._touched_block(order)
        scroll = Scroll(len(order), lambda n: _marked(make(order[n]), n == at))
        scroll.show(len(order) - 1 if at is None else at, height)
        return scroll

    def _touched_block(self, order: Sequence[int]) -> int | None:
        """The block of what the event is about, if that is there."""
        index = self.stepper.follower.look.index
        for entry_id in self._touched():
            place = index.get(entry_id)
            if place is not None:
                return _index(order, place)
        return None

    def _touched(self) -> Iterator[str]:
        for effect in self.stepper.effects:
            if effect.code in ("left", "beside", "context_hidden", "context_shown"):
                continue
            if effect.entry_id is not None:
                yield effect.entry_id
            yield from effect.entries[-1:]


def _marked(lines: list[Line], is_marked: bool) -> list[Line]:
    """The lines of a block; of the one that the event is about, the first words stand out."""
    n = next((n for n, line in enumerate(lines) if line), None)
    if is_marked and n is not None:
        first, *rest = lines[n]
        lines[n] = (Span(first.text, "chosen"), *rest)
    return lines


def _index(order: Sequence[int], place: int) -> int | None:
    try:
        return order.index(place)
    except ValueError:
        return None
