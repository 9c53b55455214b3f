"""Picking one of many: a list on the whole screen, narrowed by typing.

`Picker(lists, title=…).run()` answers a `Picked` (which row, by which key), or None. A list is a
`Choices`: any object with rows that are drawn when they come into sight, and with a text that is
searched. Without a full terminal the same lists are numbered and asked for with plain prompts.

The cost of a key does not grow with the rows, but for a letter that is typed: then the texts are
looked through once, some hundredth of a second at 100,000 of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from .narrowing import Choices, Narrowing
from .paper import Paper, Part, Span
from .terminal import FullScreen, Line, Lines, fitted, has_full_terminal, read_answer
from .visible import visible

SHOWN = 20
"""How many rows are printed at once where there is no full terminal."""
NOTHING = "nothing fits"
PLAIN_WIDTH = 120
"""Rows are laid out so wide where there is no terminal. Unit: columns."""
EMPTY = "-"
"""Answers a plain prompt with nothing, where something stands there already."""
HINTS = (
    "F1 help, arrows move, letters search, Enter picks, Esc leaves",
    "F1 help, Enter picks, Esc leaves",
    "F1 help",
)
"""What the last line says: the first that fits."""
KEYS = (
    ("up down Ctrl-P Ctrl-N", "move"),
    ("PgUp PgDn Home End", "move further"),
    ("letters", "search: rows with all these words"),
    ("Backspace Ctrl-U", "take a letter, or the search, away"),
    ("Enter", "pick"),
    ("Escape", "end the search, or leave"),
    ("F1 Ctrl-G", "this help; any key ends it"),
)
"""What the keys of every list do."""


class Picked(NamedTuple):
    """The key of the row, the key that was pressed (`enter`, or one of `more`), the list that
    was shown, and the text that was asked for with it."""

    key: str
    by: str
    list_name: str
    text: str = ""


class Question(NamedTuple):
    """What is asked when a row is picked, and what stands there already."""

    label: str
    text: str = ""


class Picker:
    """Lists by name, of which one is shown; `start` names the row that is chosen at first.

    `lists` makes each when it is first looked at. `more`: further keys that pick, with what they
    do. `note`: what is said at the bottom in the beginning. `ask`: what is asked when a row is
    picked by a key (its two arguments), if anything; Escape goes back to the list.
    """

    def __init__(
        self,
        lists: Mapping[str, Callable[[], Choices]],
        *,
        title: str,
        first: str | None = None,
        start: str | None = None,
        more: Mapping[str, str] | None = None,
        note: str = "",
        ask: Callable[[str, str], Question | None] | None = None,
        beside_pipe: bool = False,
    ) -> None:
        self._rows = Narrowing(lists, first, start)
        self._title = title
        self._more = more or {}
        self._note = note
        self._ask = ask
        self._beside_pipe = beside_pipe
        self._top = 0
        self._page = 1
        self._helps = False
        self._screen: FullScreen | None = None

    # -- the full screen -------------------------------------------------------------------

    def run(self) -> Picked | None:
        """Let a person pick. None: nothing was picked. Raises `KeyboardInterrupt`."""
        if not has_full_terminal(beside_pipe=self._beside_pipe):
            return self._run_plain()
        self._screen = FullScreen(
            self._draw, self._keys(), typed=self._type, beside_pipe=self._beside_pipe
        )
        answer: Picked | None = self._screen.run()
        return answer

    def _keys(self) -> dict[str, Callable[[], object]]:
        keys: dict[str, Callable[[], object]] = {
            "up": lambda: self._move(-1),
            "down": lambda: self._move(1),
            "c-p": lambda: self._move(-1),
            "c-n": lambda: self._move(1),
            "pageup": lambda: self._move(-self._page),
            "pagedown": lambda: self._move(self._page),
            "home": lambda: self._move(-len(self._rows.found)),
            "end": lambda: self._move(len(self._rows.found)),
            "backspace": lambda: self._rows.search(self._rows.query[:-1]),
            "c-u": lambda: self._rows.search(""),
            "escape": self._escape,
            "enter": lambda: self._pick("enter"),
        }
        if self._rows.several:
            keys["c-o"] = self._rows.next_list
        for name in self._more:
            keys[name] = partial(self._pick, name)
        keys["f1"] = keys["c-g"] = self._help
        return {name: partial(self._pressed, function) for name, function in keys.items()}

    def _pressed(self, function: Callable[[], object]) -> None:
        """A key; while the help shows, each only ends it."""
        if self._helps:
            self._helps = False
        else:
            function()

    def _help(self) -> None:
        self._helps = True

    def _move(self, by: int) -> None:
        self._rows.move(by)
        self._note = ""

    def _type(self, text: str) -> None:
        self._pressed(partial(self._search, text))

    def _search(self, text: str) -> None:
        self._rows.search(self._rows.query + text)

    def _escape(self) -> None:
        if self._rows.query:
            self._rows.search("")
        elif self._screen is not None:
            self._screen.quit()

    def _pick(self, by: str) -> None:
        chosen, screen = self._rows.chosen, self._screen
        if chosen is None or screen is None:
            return
        question = None if self._ask is None else self._ask(chosen, by)
        picked = Picked(chosen, by, self._rows.name)
        if question is None:
            screen.quit(picked)
        else:
            screen.ask(
                question.label, lambda text: screen.quit(picked._replace(text=text)), question.text
            )

    def _draw(self, width: int, height: int) -> Iterator[Line]:
        if self._helps:
            yield from self._helping(width)
            return
        room = max(height - (height > 2) - (height > 3) - (height > 4), 1)
        self._page = max(room - 1, 1)
        # The chosen row stays in sight, and the last page is full.
        self._top = min(max(self._top, self._rows.at - room + 1), self._rows.at)
        self._top = max(min(self._top, len(self._rows.found) - room), 0)
        if height > 2:
            yield fitted(self._head(), width)
        if height > 3:
            yield fitted(
                (Span("search: ", "dim"), self._rows.query or Span("(type)", "dim")), width
            )
        rows = self._rows.list
        shown = range(self._top, min(self._top + room, len(self._rows.found)))
        for i in shown:
            parts = rows.parts(self._rows.found[i], width, alone=bool(self._rows.query))
            yield fitted(parts, width, "chosen" if i == self._rows.at else "")
        if not self._rows.found:
            yield fitted((Span(NOTHING, "warning"),), width)
        for _ in range(room - max(len(shown), 1)):
            yield ()
        if height > 4:
            hint = Span(self._note, "good") if self._note else Span(self._hint(width), "dim")
            yield fitted((hint,), width)

    def _head(self) -> Iterator[Part]:
        yield Span(self._title, "bold")
        place = f"{self._rows.at + 1:,}" if self._rows.found else "0"
        yield Span(f"  {place}/{len(self._rows.found):,}", "dim")
        if self._rows.several:
            yield Span(f"  [{self._rows.name}]", "label")

    def _hint(self, width: int) -> str:
        longest = f"{HINTS[0]}, Ctrl-O filters" if self._rows.several else HINTS[0]
        return next((h for h in (longest, *HINTS) if len(h) <= width), HINTS[-1])

    def _helping(self, width: int) -> Iterator[Line]:
        keys = [*KEYS[:-1], *((_shown(key), what) for key, what in self._more.items())]
        if self._rows.several:
            keys.append(("Ctrl-O", "the next filter"))
        paper = Lines(width)
        paper.cut_line(Span("the keys", "bold"))
        for names, what in (*keys, KEYS[-1]):
            paper.block(what, " " * (4 if width < 60 else 24), first=f"{names:<22}  ")
        yield from paper.take()

    # -- plain prompts ---------------------------------------------------------------------

    def _run_plain(self) -> Picked | None:
        """Rows with numbers, and a prompt: a number picks, a text searches, nothing leaves."""
        import sys

        paper = Paper(sys.stderr if self._beside_pipe else None)
        paper.cut_line(*self._head())
        if self._note:
            paper.block(self._note)
        self._top = self._rows.at - self._rows.at % SHOWN
        is_new = True
        while True:
            if is_new:
                self._print_page(paper)
            said = read_answer(
                "number, text to search, + for more, empty to leave: ",
                beside_pipe=self._beside_pipe,
            )
            if not said:
                return None
            if said.isascii() and said.isdigit() and len(said) < 10:
                n = int(said) - 1
                if 0 <= n < len(self._rows.found):
                    return self._asked_plainly(self._rows.list.key(self._rows.found[n]))
                paper.block(f"there is no {said}; the rows are 1 to {len(self._rows.found):,}")
                is_new = False
                continue
            is_new = True
            if said == "+":
                self._top = self._top + SHOWN if self._top + SHOWN < len(self._rows.found) else 0
            else:
                self._top = 0
                self._rows.search(said, keep=False)

    def _asked_plainly(self, key: str) -> Picked | None:
        picked = Picked(key, "enter", self._rows.name)
        question = None if self._ask is None else self._ask(key, "enter")
        if question is None:
            return picked
        before = f"[{visible(question.text)}] (- for nothing) " if question.text else ""
        text = read_answer(f"{question.label}{before}", beside_pipe=self._beside_pipe)
        if text is None:
            return None
        if question.text and text in ("", EMPTY):
            text = "" if text else question.text
        return picked._replace(text=text)

    def _print_page(self, paper: Paper) -> None:
        rows = self._rows.list
        last = min(self._top + SHOWN, len(self._rows.found))
        for i in range(self._top, last):
            mark = ">" if i == self._rows.at and not self._rows.query else " "
            parts = rows.parts(
                self._rows.found[i], paper.width or PLAIN_WIDTH, alone=bool(self._rows.query)
            )
            paper.cut_line(f"{mark}{i + 1:>4}  ", *parts)
        if not self._rows.found:
            paper.line(NOTHING)
        elif last < len(self._rows.found):
            paper.line(Span(f"({len(self._rows.found) - last:,} more)", "dim"))


def _shown(key: str) -> str:
    """A key as it stands on a keyboard."""
    return f"Ctrl-{key[2:].upper()}" if key.startswith("c-") else key.capitalize()
