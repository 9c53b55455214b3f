"""The entry point of the command line. Imports as little as it can: it decides the start-up."""

from __future__ import annotations

import gc
import os

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main() -> int:
    """Run the command that the process was started with, and answer its exit code."""
    try:
        _start_quickly()
        from .commands import cli

        cli.main(prog_name="tapefold")
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _start_quickly() -> None:
    # Looking for plugins of pydantic reads the metadata of every installed package; they are
    # for programs that ask for them.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A command makes many objects that all live to its end: looking for rings among them
    # after every 700 is a tenth of its time.
    gc.set_threshold(50_000, 20, 20)
