"""The entry point of the command line. Imports as little as it can: it decides the start-up."""

from __future__ import annotations

import gc
import os
import signal

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def _end_at_once(number: int, frame: object) -> None:
    """Ctrl-C while Python still imports: nothing has begun, so there is nothing to clean up.

    An exception would come out of the middle of an import, as a traceback or as another error.
    """
    try:
        os.write(2, b"tapefold: interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def main() -> int:
    """Run the command that the process was started with, and answer its exit code."""
    try:
        # Not where Ctrl-C is ignored, as in a background job, or is somebody else's.
        is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_ours:
            signal.signal(signal.SIGINT, _end_at_once)
        _start_quickly()
        from .commands import cli

        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main(prog_name="tapefold")
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _start_quickly() -> None:
    # Writing checks values with pydantic, which looks for plugins in the metadata of every
    # installed package; they are for programs that ask for them.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A command makes many objects that all live to its end: looking for rings among them
    # after every 700 is a tenth of its time.
    gc.set_threshold(300_000, 20, 20)
