"""Interactive commands in a terminal of a given size, and what stands on its screen.

    with Terminal(["replay", "talk", "--step"], environment, tmp_path) as terminal:
        terminal.wait_for("1 of 9")
        terminal.send("j")
        terminal.wait_for("2 of 9")
        assert "How long is it?" in terminal.text
        assert terminal.quit("q") == 0
        assert terminal.is_given_back()

The program runs in a pseudo-terminal (pexpect); its output is drawn by a terminal emulator
(pyte). Nothing here measures time: `wait_for` waits until the screen shows what is awaited and
nothing more comes (a screen that is drawn by half may still show what it is about to lose), and
fails, with the screen as text, if that does not come within a generous time.
"""

from __future__ import annotations

import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pexpect
import pyte

from .conftest import PROGRAM

PATIENCE = 30
"""How long an awaited screen may take, on a machine that has much else to do. Unit: seconds."""

SETTLED = 0.1
"""A screen is taken as drawn when nothing more has come for this long. Unit: seconds."""

KEYS = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "backspace": "\x7f",
    "ctrl-c": "\x03",
    "ctrl-t": "\x14",
    "ctrl-z": "\x1a",
}
"""What a terminal sends for keys that have a name here."""


class Terminal:
    """A command of the program in a terminal of `columns` x `lines`."""

    def __init__(
        self,
        arguments: Sequence[object],
        environment: Mapping[str, str],
        folder: Path,
        *,
        columns: int = 80,
        lines: int = 24,
        env: Mapping[str, str] | None = None,
        program: str = PROGRAM,
    ) -> None:
        given = {**environment, **(env or {})}
        # The terminal says how wide it is; these would say otherwise.
        for name in ("COLUMNS", "LINES"):
            given.pop(name, None)
        self.output = b""
        """Everything that was printed, as bytes."""
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.child: Any = pexpect.spawn(
            program,
            [str(argument) for argument in arguments],
            cwd=str(folder),
            env=given,
            dimensions=(lines, columns),
            timeout=PATIENCE,
        )
        self._modes = termios.tcgetattr(self.child.child_fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.child.close(force=True)

    # -- looking ---------------------------------------------------------------------------

    @property
    def rows(self) -> list[str]:
        """The lines of the screen, without the spaces at their ends."""
        return [row.rstrip() for row in self._screen.display]

    @property
    def text(self) -> str:
        """The screen as text."""
        return "\n".join(self.rows).rstrip("\n")

    def wait_for(self, awaited: str | Callable[[str], bool]) -> str:
        """Read until the screen holds a text, or satisfies a condition, and has settled; answer
        the screen."""
        is_there = awaited if callable(awaited) else (lambda text: awaited in text)
        while True:
            found = is_there(self.text)
            try:
                self._read(SETTLED if found else PATIENCE)
            except pexpect.TIMEOUT:
                if found:
                    return self.text
                raise AssertionError(f"{awaited!r} did not come:\n{self.text}") from None
            except pexpect.EOF:
                if found:
                    return self.text
                raise AssertionError(f"ended before {awaited!r} came:\n{self.text}") from None

    def _read(self, timeout: float) -> None:
        data = self.child.read_nonblocking(65_536, timeout)
        self.output += data
        self._stream.feed(data)

    # -- doing -----------------------------------------------------------------------------

    def send(self, *keys: str) -> None:
        """Press keys: names of KEYS, or text as it is."""
        for key in keys:
            self.child.send(KEYS.get(key, key))

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size; the program is told."""
        self._screen.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def quit(self, *keys: str) -> int:
        """Press keys, read to the end of the program, and answer its exit code (128 + the
        number of a signal that killed it)."""
        self.send(*keys)
        try:
            while True:
                self._read(PATIENCE)
        except pexpect.EOF:
            pass
        except pexpect.TIMEOUT:
            raise AssertionError(f"it did not end:\n{self.text}") from None
        # Read while the other side is closed already, and lost with it otherwise.
        self._after = termios.tcgetattr(self.child.child_fd)
        self.child.wait()
        if self.child.exitstatus is None:
            return 128 + int(self.child.signalstatus)
        return int(self.child.exitstatus)

    def is_given_back(self) -> bool:
        """After `quit`: whether the terminal is as it was found (modes, main screen, cursor)."""
        left_screen = self.output.rfind(b"\x1b[?1049l") >= self.output.rfind(b"\x1b[?1049h")
        shown_cursor = self.output.rfind(b"\x1b[?25l") <= max(
            self.output.rfind(b"\x1b[?25h"), self.output.rfind(b"\x1b[?12l\x1b[?25h")
        )
        return left_screen and shown_cursor and self._after == self._modes
