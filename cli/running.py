"""Asking another program for a summary: text in, text out, and nothing is locked meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread, current_thread, main_thread
from typing import IO

import click

from tapefold.domain.errors import TapefoldError

from .visible import one_line, without_surrogates

LONGEST = 1_000_000
"""Longest answer of a command. Unit: bytes."""
PATIENCE = 2.0
"""How long a command has to end after it was asked to. Unit: seconds."""


class CommandFailed(TapefoldError):
    """The command that was to answer failed, or answered with what cannot be used.

    Nothing was written.
    """

    def __init__(self, command: str, problem: str) -> None:
        self.command = command
        shown = one_line(command)
        shown = shown if len(shown) <= 80 else shown[:79] + "…"
        super().__init__(f"the command `{shown}` {problem}; nothing was written")


def answer_of(command: str, text: str) -> str:
    """What `command` says to `text` on its standard input. The shell runs it, so it may be a pipe.

    Its standard error is ours. White space around its answer is no part of it. It runs in a
    process group of its own, which is ended as a whole: by Ctrl-C, when we are told to end, or
    when it says too much.
    Raises `CommandFailed`.
    """
    if "\0" in command:
        raise CommandFailed(command, "cannot be run: there is a NUL in it")
    data = without_surrogates(text).encode()
    process = subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0 if os.name == "posix" else None,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with _ended_by_signals():
            Thread(target=_feed, args=(process.stdin, data), daemon=True).start()
            said = process.stdout.read(LONGEST + 1)
            if len(said) <= LONGEST:
                process.wait()
    except BaseException:
        _end(process)
        raise
    if len(said) > LONGEST:
        _end(process)
        raise CommandFailed(command, f"answered with more than {LONGEST:,} bytes")
    if process.returncode:
        raise CommandFailed(command, _how_it_ended(process.returncode))
    try:
        answer = said.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} is {said[error.start]:#04x}"
        raise CommandFailed(command, f"gave an answer that is not UTF-8 ({where})") from None
    if not answer:
        raise CommandFailed(command, "gave an empty answer")
    return answer


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Where we are told to end, the command has to be ended first: it is in another group."""

    def end(number: int, _: object) -> None:
        raise click.exceptions.Exit(128 + number)

    names = ("SIGTERM", "SIGHUP") if current_thread() is main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    # What nohup has set to be ignored stays so.
    heard = [n for n in numbers if signal.getsignal(n) is signal.SIG_DFL]
    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """Write the text; a command that does not read all of it is free to do so."""
    with suppress(OSError):
        pipe.write(data)
    with suppress(OSError):
        pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it has started; first politely."""
    for how in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, how)
            else:
                process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)


def _how_it_ended(code: int) -> str:
    # A shell answers for a program that a signal has ended with 128 + the signal's number.
    number = -code if code < 0 else code - 128
    with suppress(ValueError):
        return f"was ended by {signal.Signals(number).name}"
    return f"failed with exit code {code}"
