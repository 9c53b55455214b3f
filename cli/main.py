"""The entry point of the command line. Imports as little as it can: it decides the start-up."""

from __future__ import annotations

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main() -> int:
    """Run the command that the process was started with, and answer its exit code."""
    try:
        from .commands import cli

        cli.main(prog_name="tapefold")
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0
