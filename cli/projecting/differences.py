"""What a verification found, for people: counts, and the first differences with both values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..visible import one_line
from ..words import count

if TYPE_CHECKING:
    from tapefold.projections.verifying import Verification

    from ..paper import Paper

LONGEST = 100
"""Characters of a value that are printed."""

SHOWN = 10
"""Sessions that cannot be folded anew, of which is told why."""

SIDES = {"live": ("live", "anew"), "kernel": ("stored", "from the tape")}
"""What was compared, to the names of the old side and the new one."""


def print_verification(paper: Paper, found: Verification) -> None:
    """Print it. `old` is what stands there, `new` what it should be."""
    comparison = found.comparison
    old, new = SIDES[found.against]
    against = "the live build" if found.against == "live" else "the tapes"
    folded = f", {count(found.sessions, 'session')} folded anew" if found.sessions else ""
    paper.block(
        f"compared with {against} at id {found.position:,}{folded}: "
        f"{count(comparison.equal, 'row')} equal, {comparison.added:,} added, "
        f"{comparison.removed:,} removed, {comparison.changed:,} changed",
        "  ",
        "good" if found.is_equal else "bad",
    )
    for one in comparison.first:
        key = ", ".join(_shown(part) for part in one.key)
        paper.block(f"{one.kind} {one.table} ({key})", "    ")
        for name, before, after in one.columns:
            text = f"{name}: {old} {_shown(before)}, {new} {_shown(after)}"
            paper.block(text, "        ", first="      ")
    for name in comparison.left_out:
        paper.block(f"not compared, only one side has it: {name}", "    ", "dim")
    for lost in found.unreadable[:SHOWN]:
        where = "" if lost.position is None else f", position {lost.position}"
        text = f"session {lost.session_id}{where} cannot be folded anew: {lost.error}"
        paper.block(text, "    ", "bad")
    if len(found.unreadable) > SHOWN:
        more = count(len(found.unreadable) - SHOWN, "more session")
        paper.block(f"{more} cannot be folded anew, see `tapefold events check`", "    ", "bad")
    if found.parked:
        paper.block(f"{count(len(found.parked), 'parked session')} left out", "    ", "warning")


def _shown(value: Any) -> str:
    text = f"x'{value.hex()}'" if isinstance(value, bytes) else repr(value)
    text = one_line(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
