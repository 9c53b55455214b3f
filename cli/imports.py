"""Modules that the command line imports first: events of an application's own stand in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

import click

VARIABLE = "TAPEFOLD_IMPORT"


def import_modules(named: Sequence[str], listed: str) -> None:
    """Import the modules of the variable `listed`, between commas or spaces, then those that are
    `named` by options. They are looked for where Python looks: PYTHONPATH is for that.

    Raises `click.UsageError` where one is missing, or fails while it is imported.
    """
    given = [(VARIABLE, name) for name in listed.replace(",", " ").split()]
    given += [("--import", name) for name in named]
    for where, name in given:
        try:
            with redirect_stdout(sys.stderr):  # standard output is the command's
                import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a module of somebody else's raises
            if os.environ.get("TAPEFOLD_TRACEBACK"):
                raise
            raise click.UsageError(
                f"{where}: module {name!r} cannot be imported: {type(error).__name__}: {error}; "
                "PYTHONPATH says where modules of your own are"
            ) from error


def import_flags() -> list[str]:
    """The options of this command that name modules, for a process that it starts; the variable
    goes to it by itself."""
    named: Sequence[str] = click.get_current_context().find_root().params.get("imports") or ()
    return [part for name in named for part in ("--import", name)]
