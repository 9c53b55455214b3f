"""What a shell offers when TAB is pressed. Quick, bounded, and never an error text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    split_arg_string,
)

from .shells import BASH, FISH, ZSH
from .visible import one_line

if TYPE_CHECKING:
    from tapefold.persistence.glance import Glance, Seen

OFFERED = 50
"""Most candidates of a kind."""


def session_candidates(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Session ids that begin so, the newest first, with their titles; and `last`."""
    items = _items(_look(ctx, lambda store: store.sessions(incomplete, OFFERED)))
    if "last".startswith(incomplete) and (items or _look(ctx, lambda store: store.sessions("", 1))):
        items.append(CompletionItem("last", help="the session with the newest activity"))
    return items


def entry_candidates(
    ctx: click.Context, incomplete: str, *, digits_are_ids: bool = False
) -> list[CompletionItem]:
    """Entry ids of the session on the command line, with labels and first words. Digits are
    positions as well, written #3 where `digits_are_ids`; where nothing begins so, it may be the
    beginning of a label."""
    digits = incomplete.removeprefix("#")
    is_number = (digits or incomplete == "#") and len(digits) < 12
    is_number = is_number and digits.isascii() and (not digits or digits.isdigit())

    def look(store: Glance) -> list[Seen]:
        # Before an option that lacks its value click has not sorted the arguments out yet.
        named = ctx.params.get("session") or (ctx.args[0] if ctx.args else "")
        session_id = store.find(str(named))
        if session_id is None:
            return []
        marked = incomplete.startswith("@")
        found = store.entries(session_id, incomplete.removeprefix("@"), OFFERED)
        if marked:
            return [one._replace(id=f"@{one.id}") for one in found]
        if not is_number:
            return found
        positions = store.positions(session_id, digits, OFFERED, entries=digits_are_ids)
        if digits_are_ids or incomplete != digits:
            positions = [one._replace(id=f"#{one.id}") for one in positions]
        if not digits_are_ids:
            # An id that reads as a position would be taken for one.
            found = [
                one._replace(id=f"@{one.id}") if one.id.removeprefix("#").isdigit() else one
                for one in found
            ]
        return list({one.id: one for one in (*found, *positions)}.values())

    return _items(_look(ctx, look))


def _look(ctx: click.Context, look: Callable[[Glance], list[Seen]]) -> list[Seen]:
    """What is seen in the store; nothing where there is none, or it cannot be read."""
    from tapefold.domain.errors import TapefoldError
    from tapefold.persistence.glance import GLANCE_ERRORS, TABLE, Glance
    from tapefold.settings import database_url, environment

    try:
        name = environment(database_url(ctx.find_root().params.get("db")))["SQLITE_DBNAME"]
        with Glance(
            Path(os.path.abspath(name)), os.environ.get("TAPEFOLD_EVENTS_TABLE") or TABLE
        ) as store:
            return look(store)
    except (TapefoldError, *GLANCE_ERRORS):
        return []


def _items(seen: list[Seen]) -> list[CompletionItem]:
    """As click has them. An id that cannot be typed on one line is left out."""
    return [
        CompletionItem(one.id, help=one_line(one.words) or None)
        for one in seen
        if one.id == one_line(one.id)
    ]


# -- shells ------------------------------------------------------------------------------------


class TypedLine(ShellComplete):
    """Reads the line up to the cursor from COMP_WORDS, as all of our scripts hand it over."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor's, and what is typed of that one."""
        line = os.environ.get("COMP_WORDS", "")
        words = split_arg_string(line)
        # Another letter lengthens the last word, or begins a new one.
        if words and len(split_arg_string(line + "x")) == len(words):
            return words[1:-1], words[-1] if len(words) > 1 else ""
        return words[1:], ""

    def format_completion(self, item: CompletionItem) -> str:
        """One line: kind, value, help; a tab between two."""
        help_ = one_line(item.help or "")
        return f"{item.type}\t{item.value}\t{help_}"


def answer_shells() -> None:
    """Tell click how to answer the shells that we have a script for."""
    for shell, script in (("bash", BASH), ("zsh", ZSH), ("fish", FISH)):
        made: dict[str, Any] = {"name": shell, "source_template": script}
        add_completion_class(type(f"{shell.title()}Line", (TypedLine,), made))
