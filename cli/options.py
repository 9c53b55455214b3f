"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

LARGEST = 2**62
"""Beyond any position that a store can hold."""

POSITION = click.IntRange(max=LARGEST)


def session_argument(function: F) -> F:
    """The session that a command is about."""
    return click.argument("session")(function)


def json_option(function: F) -> F:
    """`--json`: the machine shape."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(
        function
    )


def at_option(function: F) -> F:
    """`--at`: the past."""
    return click.option(
        "--at",
        type=POSITION,
        metavar="POSITION",
        help="As it was when this position was the last.",
    )(function)


def leaf_option(function: F) -> F:
    """`--leaf`: another branch."""
    return click.option(
        "--leaf",
        metavar="ENTRY",
        help="Read at this entry instead of the session's own leaf; `none`: the empty path.",
    )(function)


def full_option(function: F) -> F:
    """`--full`: long texts whole."""
    return click.option("--full", is_flag=True, help="Print long texts whole.")(function)
