"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    ParamType = click.ParamType[int]
else:
    ParamType = click.ParamType  # older releases of click have no type arguments

F = TypeVar("F", bound=Callable[..., Any])

DIGITS = 18
"""No position has more digits."""


class Position(ParamType):
    """A position: 1, 2, 3 …, or as it is printed, #3. Whether a tape has it is for the tape to
    say."""

    name = "position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; wrong use where it is none."""
        if isinstance(value, int):
            return value
        number = str(value).removeprefix("#")
        digits = number.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > DIGITS:
            self.fail(f"{value!r} is no position; positions are 1, 2, 3 and so on", param, ctx)
        return int(number)


POSITION = Position()


def complete_session(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What a shell offers for a session: ids, with their titles."""
    from .completing import session_candidates

    return session_candidates(ctx, incomplete)


def complete_entry(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What a shell offers for an entry of the session that was typed before: ids, labels."""
    from .completing import entry_candidates

    return entry_candidates(ctx, incomplete)


def complete_leaf(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The same for `--leaf`, after which a position is written #3."""
    from .completing import entry_candidates

    return entry_candidates(ctx, incomplete, digits_are_ids=True)


def session_argument(function: F) -> F:
    """The session that a command is about."""
    return click.argument("session", shell_complete=complete_session)(function)


def entry_argument(function: F) -> F:
    """The entry of that session that a command is about."""
    return click.argument("entry", shell_complete=complete_entry)(function)


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
        shell_complete=complete_leaf,
        help="Read at this entry instead of the session's own leaf; `none`: the empty path.",
    )(function)


def full_option(function: F) -> F:
    """`--full`: long texts whole."""
    return click.option("--full", is_flag=True, help="Print long texts whole.")(function)
