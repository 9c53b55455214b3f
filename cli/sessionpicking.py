"""`sessions -i`: picking a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .moments import day_and_time
from .paper import Part, Span, cell_len, chop, pad
from .picker import Picker
from .sessiontable import messages_text, style_of, title_of
from .visible import one_line

if TYPE_CHECKING:
    from .listed import Listed

DATED = 50
"""From this many columns on the last activity stands in front. Unit: columns."""
SHORT = 13
"""Longest id that is shown whole. Unit: characters."""


def pick_session(listed: Sequence[Listed]) -> str | None:
    """The id of the session that a person picks, None for none. The screen is not on standard
    output."""
    rows = _Rows(listed)
    picked = Picker({"sessions": lambda: rows}, title="Sessions", beside_pipe=True).run()
    return None if picked is None else picked.key


class _Rows:
    """Sessions as rows of a picker."""

    def __init__(self, listed: Sequence[Listed]) -> None:
        self._listed = listed

    def __len__(self) -> int:
        return len(self._listed)

    def key(self, n: int) -> str:
        """Its id."""
        return self._listed[n].session_id

    def parts(self, n: int, width: int, *, alone: bool) -> Iterable[Part]:
        """Last activity, title or first words, messages, the end of the id, directory."""
        one = self._listed[n]
        if width >= DATED:
            yield Span(f"{day_and_time(one.last_activity):16}  ", "dim")
        room = max(width // 2, 12)
        title = one_line(title_of(one))
        title = title if cell_len(title) <= room else chop(title, room - 1) + "…"
        yield Span(pad(title, room), style_of(one))
        facts = [messages_text(one), _short(one.session_id), one.directory or ""]
        if one.parent is not None:
            facts.insert(1, f"fork of {one.parent}")
        yield Span("  " + "  ".join(fact for fact in facts if fact), "dim")

    def text(self, n: int) -> str:
        """All that is shown, and the first words."""
        one = self._listed[n]
        said = (one.title, one.first_words, one.directory, one.session_id, one.model, one.parent)
        return " ".join(part for part in said if part)


def _short(session_id: str) -> str:
    """An id by its end, which names it as the whole does."""
    return session_id if len(session_id) <= SHORT else f"…{session_id[1 - SHORT :]}"
