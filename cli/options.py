"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[int]
else:
    ParamType = click.ParamType  # older releases of click have no type arguments

F = TypeVar("F", bound=Callable[..., Any])

DIGITS = 18
"""No position has more digits."""


class Position(ParamType):
    """A position: 1, 2, 3 … Whether a tape has it is for the tape to say."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; wrong use where it is none."""
        if isinstance(value, int):
            return value
        digits = str(value).removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > DIGITS:
            self.fail(f"{value!r} is no position; positions are 1, 2, 3 and so on", param, ctx)
        return int(value)


POSITION = Position()


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
