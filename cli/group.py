"""The group of commands: loads each on demand, and turns every failure into one line.

Exit codes: 0 done, 1 a domain or data error (one line on stderr), 2 wrong use, 130 Ctrl-C. A
reader of our output that goes away early (`| head`) is no error; output that cannot be written
for another reason is one, and where there is none at all nothing is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from tapefold.domain.errors import TapefoldError

from .examples import EXAMPLES
from .main import INTERRUPTED
from .visible import one_line

FAILED = 1
COMPLETION = "_TAPEFOLD_COMPLETE"
"""Environment variable: a shell asks what it can offer (click's name for it)."""
TRACEBACK = "TAPEFOLD_TRACEBACK"
"""Environment variable: show where an unexpected error comes from."""


Sections = Mapping[str, Mapping[str, str]]
"""What commands are for, to the name of a command, to its module."""


class Commands(click.Group):
    """A group whose commands are modules of this package, each with a `command` in it."""

    def __init__(self, *args: Any, sections: Sections | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order in which they are written down."""
        return [name for modules in self.sections.values() for name in modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name, with its examples; its module is loaded now."""
        for modules in self.sections.values():
            if cmd_name in modules:
                module = import_module(f"{__package__}.{modules[cmd_name]}")
                found: click.Command = module.command
                found.epilog = examples_text(cmd_name)
                return found
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands do, those that serve the same end together."""
        limit = formatter.width - 6 - max(map(len, self.list_commands(ctx)), default=0)
        for title, modules in self.sections.items():
            found = [(name, self.get_command(ctx, name)) for name in modules]
            rows = [(name, one.get_short_help_str(limit)) for name, one in found if one]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=30)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. What goes wrong ends in `click.exceptions.Exit`."""
        try:
            answer = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except (click.exceptions.Exit, click.ClickException):
            raise
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            close_output()
            raise click.exceptions.Exit(0) from None
        except OSError as error:
            reason = _reason(error)
            close_output()
            complain(reason)
            raise click.exceptions.Exit(FAILED) from None
        except Exception as error:
            if os.environ.get(TRACEBACK):
                raise
            complain(str(error) if isinstance(error, TapefoldError) else _unexpected(error))
            raise click.exceptions.Exit(FAILED) from None
        return answer

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's; a message about wrong use never sends control characters either."""
        kwargs["standalone_mode"] = False
        if COMPLETION in os.environ:
            from .completing import answer_shells

            answer_shells()
        if sys.stdout is None:
            complain("standard output is closed; send it to /dev/null if nobody is to read it")
            sys.exit(FAILED)
        try:
            code = super().main(*args, **kwargs)
        except click.ClickException as error:
            _show(error)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(INTERRUPTED)
        except SystemExit:
            # click ends so by itself only where the help or the version meets a closed pipe.
            sys.exit(0)
        except OSError as error:  # so does the help, where the disk is full
            reason = _reason(error)
            close_output()
            complain(reason)
            sys.exit(FAILED)
        sys.exit(code if isinstance(code, int) else 0)


def examples_text(name: str) -> str | None:
    """What the help of a command ends with. The first line keeps click from wrapping it."""
    examples = EXAMPLES.get(name)
    if examples is None:
        return None
    return "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples)])


def complain(text: str) -> None:
    """Print one line on stderr; nothing if there is none."""
    if sys.stderr is not None:
        print(f"tapefold: {one_line(text)}", file=sys.stderr)


def _show(error: click.ClickException) -> None:
    """Say what is wrong with the command as it was typed, on one line."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
        return
    ctx = getattr(error, "ctx", None)
    hint = "" if ctx is None else f" (see `{ctx.command_path} --help`)"
    complain(error.format_message() + hint)


def close_output() -> None:
    """Send what is still to be written to nowhere, so that the end of the process is quiet."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        return  # a stream without a file behind it: there is nothing left to be flushed


def _reason(error: OSError) -> str:
    if isinstance(error, TapefoldError):
        return str(error)
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename:
        return f"{os.fsdecode(error.filename)}: {reason}"
    return f"the output cannot be written: {reason}" if _output_fails() else reason


def _output_fails() -> bool:
    """Whether it is our output that fails: what could not be written is still to be."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    return False


def _unexpected(error: Exception) -> str:
    return (
        f"unexpected {type(error).__name__}: {error}; nothing else is known about it "
        f"(set {TRACEBACK}=1 to see where it comes from)"
    )
