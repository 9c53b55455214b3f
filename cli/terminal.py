"""The full terminal, for interactive commands: keys in, a screen of styled lines out.

What `replay --step`, `tree -i` and `sessions -i` share, on prompt_toolkit. How to build on it:

* `has_full_terminal()` says whether there is one. Where there is none (a pipe, TERM=dumb), ask
  with plain prompts: `read_answer("next? ")` prints the prompt and answers the line, None at the
  end of the input.
* `FullScreen(draw, keys).run()` shows what `draw(width, height)` answers, at most `height` lines,
  after every key and after a resize. A line is a tuple of `Span` (cli/paper.py). Make lines with
  a `Lines`: it is a `Paper`, so whatever prints on paper can fill a screen; `take()` answers what
  was printed. Everything passes `visible` on its way, as on any paper, and is cut at the width.
* `keys` maps names of keys to functions without arguments. Names are prompt_toolkit's: "u", "U",
  "up", "pageup", "home", "enter", "escape", "tab", "backspace", " ", "c-t". Ctrl-C raises
  `KeyboardInterrupt` out of `run()` (exit code 130) and Ctrl-Z suspends, without being named.
* In a function: `screen.quit(answer)` ends `run()` with that answer; `screen.ask(label, then)`
  takes a line of text at the bottom and calls `then(text)` after Enter (Escape calls nothing).
* `typed` is called with the text of keys that `keys` does not name: letters, or what is pasted.
* `beside_pipe=True`, in all three: standard output is for the answer, and may be a pipe; the
  screen and the prompts go to standard error then.
* `tick` is called every `TICK` seconds and answers whether there is something new to draw.
* `idle` is called while no key comes, for some milliseconds of work, until it answers False.

The terminal is given back (main screen, cursor, cooked mode) whatever ends `run()`: an answer,
an exception of `draw` or of a key's function (which comes out of `run()`), SIGTERM, SIGHUP.
Terminals are narrow: `draw` gets sizes as small as 1 x 1, and must not fail there. NO_COLOR
leaves bold and reverse. prompt_toolkit is loaded when the first screen is made, not before.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from asyncio import get_running_loop, sleep
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from click.exceptions import Exit

from .paper import Paper, Part, Span, cell_len, one_line_kept

if TYPE_CHECKING:
    from prompt_toolkit.application import Application
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyBindings

Line = tuple[Span, ...]
Draw = Callable[[int, int], Iterable[Line]]
Key = Callable[[], object]

TICK = 0.15
"""How often a screen asks for what is new by itself. Unit: seconds."""
PAUSE = 0.005
"""Between two slices of idle work. Unit: seconds."""
ESCAPE_WAIT = 0.05
"""How long Escape alone is waited for, since other keys begin with it. Unit: seconds."""
LONGEST_ANSWER = 4096
"""Longest line that a plain prompt reads. Unit: characters."""

_UNSURE = re.compile("[\u200b-\u200d\u2060\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""What joins or varies the character before it. Terminals disagree how wide the outcome is, and
one column of error leaves rubbish where only a part of a line is drawn anew."""

_DUMB = ("", "dumb", "unknown")

_STYLES = {
    "": "",
    "bold": "bold",
    "dim": "ansibrightblack",
    "user": "bold ansicyan",
    "assistant": "bold ansigreen",
    "system": "bold ansiblue",
    "tool_result": "ansiyellow",
    "custom": "ansicyan",
    "bash_execution": "ansiyellow",
    "call": "ansiyellow",
    "good": "ansigreen",
    "bad": "ansired",
    "warning": "ansiyellow",
    "label": "ansimagenta",
    "id": "ansibrightblack",
    "mark": "ansicyan",
    "chosen": "reverse",
}
"""The styles of paper (cli/paper.py) as prompt_toolkit has them, and `chosen`: the row that a
key would act on."""


def has_full_terminal(*, beside_pipe: bool = False) -> bool:
    """Whether keys can be read one by one and the screen be drawn: two terminals, not dumb."""
    screen = sys.stderr if beside_pipe else sys.stdout
    if sys.stdin is None or screen is None:
        return False
    if os.environ.get("TERM", "") in _DUMB:
        return False
    return sys.stdin.isatty() and screen.isatty()


def read_answer(prompt: str, *, beside_pipe: bool = False) -> str | None:
    """A line from standard input, without white space around it; None at its end.

    What is no UTF-8 is read as U+FFFD. Raises `KeyboardInterrupt` on Ctrl-C.
    """
    screen = sys.stderr if beside_pipe else sys.stdout
    if sys.stdin is None:
        return None
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    # Only before the first line is read: a stream that was read from refuses it.
    if reconfigure is not None and sys.stdin.errors != "replace":
        reconfigure(errors="replace")
    if screen is not None:
        screen.write(prompt)
        screen.flush()
    line = sys.stdin.readline(LONGEST_ANSWER)
    return line.strip() if line else None


class Lines(Paper):
    """Paper whose lines are kept instead of printed; `take` answers them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width: int = max(width, 1)
        self._lines: list[Line] = []

    def line(self, *parts: Part) -> None:
        """Keep one line, as long as it is."""
        spans = (Span(part) if isinstance(part, str) else part for part in parts)
        self._keep(*(Span(one_line_kept(s.text, len(s.text) + 1), s.style) for s in spans))

    def take(self) -> list[Line]:
        """The lines since the last time."""
        lines, self._lines = self._lines, []
        return lines

    def _piece(self, start: str, piece: str, style: str) -> None:
        self._keep(Span(start), Span(piece, style))

    def _keep(self, *spans: Span) -> None:
        kept = (Span(_UNSURE.sub("", span.text), span.style) for span in spans)
        self._lines.append(tuple(span for span in kept if span.text))


def fitted(parts: Iterable[Part], width: int, style: str = "") -> Line:
    """One line of exactly `width` columns: cut, or with spaces behind it. `style`: of all of it
    (the row that is chosen)."""
    paper = Lines(width)
    paper.cut_line(*parts)
    (line,) = paper.take()
    space = Span(" " * (width - sum(cell_len(span.text) for span in line)))
    return tuple(Span(span.text, style or span.style) for span in (*line, space))


class FullScreen:
    """One screen, from `run()` until something calls `quit`. See the text of this module."""

    def __init__(
        self,
        draw: Draw,
        keys: Mapping[str, Key],
        *,
        tick: Callable[[], bool] | None = None,
        idle: Callable[[], bool] | None = None,
        typed: Callable[[str], object] | None = None,
        beside_pipe: bool = False,
    ) -> None:
        self._draw = draw
        self._typed = typed
        self._beside_pipe = beside_pipe
        self._keys = dict(keys)
        self._tick = tick
        self._idle = idle
        self._question = ""
        self._then: Callable[[str], object] | None = None
        self._app = self._application()

    def run(self) -> Any:
        """Show the screen, and answer what `quit` was given. Raises what a function raised."""
        try:
            return self._app.run(pre_run=self._prepare, set_exception_handler=False)
        except EOFError:  # the terminal is gone
            raise KeyboardInterrupt from None

    def quit(self, answer: Any = None) -> None:
        """End `run()` with an answer."""
        if self._is_fine():
            self._app.exit(result=answer)

    def ask(self, label: str, then: Callable[[str], object], text: str = "") -> None:
        """Take a line of text at the bottom, `text` standing there already; then call `then`."""
        from prompt_toolkit.document import Document

        self._question, self._then = label, then
        self._buffer.set_document(Document(text, len(text)))
        self._app.layout.focus(self._buffer)

    # -- prompt_toolkit --------------------------------------------------------------------

    def _application(self) -> Application[Any]:
        from prompt_toolkit.application import Application
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.layout import (
            ConditionalContainer,
            FormattedTextControl,
            HSplit,
            Layout,
            VSplit,
            Window,
        )
        from prompt_toolkit.layout.controls import BufferControl
        from prompt_toolkit.output import create_output

        self._buffer = Buffer(multiline=False)
        asking = Condition(lambda: self._then is not None)
        self._body = Window(
            FormattedTextControl(self._fragments, focusable=True, show_cursor=False),
            always_hide_cursor=True,
        )
        label = Window(
            FormattedTextControl(lambda: [("bold", self._label())]),
            height=1,
            dont_extend_width=True,
        )
        line = VSplit([label, Window(BufferControl(self._buffer), height=1)])
        app: Application[Any] = Application(
            layout=Layout(HSplit([self._body, ConditionalContainer(line, asking)])),
            key_bindings=self._bindings(asking),
            full_screen=True,
            mouse_support=False,
            output=create_output(stdout=sys.stderr) if self._beside_pipe else None,
        )
        app.ttimeoutlen = app.timeoutlen = ESCAPE_WAIT
        return app

    def _label(self) -> str:
        return one_line_kept(self._question, max(self._app.output.get_size().columns // 2, 1))

    def _bindings(self, asking: Any) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings

        bindings = KeyBindings()
        for name, function in self._keys.items():
            bindings.add(name, filter=~asking, eager=True)(self._guarded(function))
        bindings.add("enter", filter=asking, eager=True)(self._guarded(self._answered))
        bindings.add("escape", filter=asking, eager=True)(self._guarded(self._unasked))
        if self._typed is not None:
            for name in ("<any>", "<bracketed-paste>"):
                bindings.add(name, filter=~asking)(self._typing)
        for name in ("c-c", "<sigint>"):
            bindings.add(name, eager=True)(self._guarded(self._interrupted))
        bindings.add("c-z", eager=True)(lambda event: event.app.suspend_to_background())
        return bindings

    def _guarded(self, function: Key) -> Callable[[Any], None]:
        """A function for a key. What it raises ends the screen first, and then comes out of it:
        inside prompt_toolkit it would be printed over the screen."""

        def call(_: Any) -> None:
            try:
                function()
            except BaseException as error:
                self._fail(error)

        return call

    def _typing(self, event: Any) -> None:
        data: str = event.data
        # Of a key without a name here, what the terminal sent is no text.
        is_text = not data.startswith("\x1b") and (len(data) > 1 or data.isprintable())
        if self._typed is not None and is_text:
            try:
                self._typed("".join(c if c.isprintable() else " " for c in data))
            except BaseException as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self._is_fine():
            self._app.exit(exception=error)

    def _answered(self) -> None:
        then, text = self._then, self._buffer.text
        self._unasked()
        if then is not None:
            then(text)

    def _unasked(self) -> None:
        self._then = None
        self._app.layout.focus(self._body)

    def _interrupted(self) -> None:
        raise KeyboardInterrupt

    def _fragments(self) -> StyleAndTextTuples:
        size = self._app.output.get_size()
        height = size.rows - (self._then is not None)
        fragments: StyleAndTextTuples = []
        try:
            for n, line in enumerate(self._draw(size.columns, max(height, 1))):
                if n >= height:
                    break
                if n:
                    fragments.append(("", "\n"))
                fragments += ((_STYLES.get(style, ""), text) for text, style in line)
        except BaseException as error:
            self._fail(error)
        return fragments

    def _prepare(self) -> None:
        """Called in the loop, before the first drawing."""
        loop = get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and os.name == "posix":
                loop.add_signal_handler(number, self._fail, Exit(128 + number))
        if self._tick is not None:
            self._app.create_background_task(self._repeat(self._tick, TICK))
        if self._idle is not None:
            self._app.create_background_task(self._work(self._idle))

    async def _repeat(self, tick: Callable[[], bool], seconds: float) -> None:
        while self._is_fine():
            await sleep(seconds)
            if self._called(tick):
                self._app.invalidate()

    async def _work(self, idle: Callable[[], bool]) -> None:
        await sleep(PAUSE)  # the first screen comes first
        while self._is_fine() and self._called(idle):
            await sleep(PAUSE)  # keys come before

    def _called(self, function: Callable[[], bool]) -> bool:
        try:
            return function()
        except BaseException as error:
            self._fail(error)
            return False

    def _is_fine(self) -> bool:
        return self._app.future is not None and not self._app.future.done()
