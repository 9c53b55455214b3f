"""`tree -i`: picking an entry, and what is to be done with it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tapefold.domain.outline import FILTERS, Outline, OutlineFork, OutlineNode, narrow_outline

from .drawing import Drawing, Row, said
from .paper import Paper, Part, Span
from .picker import Picked, Picker, Question

if TYPE_CHECKING:
    from tapefold import Sessions

AT = "branch here: what comes next hangs under it"
BEFORE = "branch before it: ask it anew, with its text to be edited"
SUMMARY = "branch here, with a summary of what is left"
LABEL = "label it"
REPLAY = "replay the session up to it"
VIEW = "view the conversation at it"
TREE = "look at its tree"
BACK = "back to the tree"

LONGEST_LINE = 2000
"""A longer text is not offered to be edited in one line. Unit: characters."""

_KEYS = {"c-l": LABEL, "c-r": REPLAY, "c-b": AT}
_MORE = {"c-b": "branch here", "c-l": "label it", "c-r": "replay up to it"}


class Wish(NamedTuple):
    """What is to be done with an entry. `text`: the label, the summary, the new question."""

    action: str
    node: OutlineNode | OutlineFork
    text: str = ""


class TreePicker:
    """One session's tree to pick from; `past` where nothing can be written."""

    def __init__(
        self,
        sessions: Sessions,
        outline: Outline,
        only: str,
        start: str | None = None,
        *,
        past: bool = False,
    ) -> None:
        self._sessions = sessions
        self._outline = outline
        self._only = only
        self._past = past
        self._nodes: dict[str, OutlineNode | OutlineFork] = {_key(n): n for n in outline.nodes}
        self._nodes.update((_key(fork), fork) for fork in outline.forks)
        tip = [node for node in outline.nodes if node.on_path]
        self._start = start or (_key(tip[-1]) if tip else None)

    def pick(self, note: str = "") -> Wish | None:
        """Let a person pick an entry and an action. None: neither."""
        while True:
            picked = self._entry(note)
            if picked is None:
                return None
            self._start, self._only, note = picked.key, picked.list_name, ""
            node = self._nodes[picked.key]
            if isinstance(node, OutlineFork):
                return Wish(TREE, node)
            if picked.by != "enter":
                return Wish(_KEYS[picked.by], node, picked.text)
            wish = self._action(node)
            if wish is not None and wish.action != BACK:
                return wish

    @property
    def place(self) -> tuple[str, str | None]:
        """The filter and the row of the last pick, to go on there."""
        return self._only, self._start

    def _entry(self, note: str) -> Picked | None:
        lists = {name: partial(self._rows, name) for name in FILTERS}
        title = f"Tree of {self._outline.session_id}"
        if self._past:
            title += f" at position {self._outline.position}"
        return Picker(
            lists,
            title=title,
            first=self._only,
            start=self._start,
            more={} if self._past else _MORE,
            note=note,
            ask=self._asked_at_once,
        ).run()

    def _rows(self, name: str) -> _TreeRows:
        return _TreeRows(narrow_outline(self._outline, name))

    def _asked_at_once(self, key: str, by: str) -> Question | None:
        node = self._nodes[key]
        if by == "c-l" and isinstance(node, OutlineNode):
            return _label_question(node)
        return None

    # -- what is done ----------------------------------------------------------------------

    def _action(self, node: OutlineNode) -> Wish | None:
        actions = _actions(node, self._past)
        question_text = self._text_of(node) if BEFORE in actions else ""

        def ask(action: str, _: str) -> Question | None:
            if action == LABEL:
                return _label_question(node)
            if action == SUMMARY:
                return Question("Summary: ")
            if action == BEFORE and _fits_a_line(question_text):
                return Question("Ask: ", question_text)
            return None

        title = f"#{node.position} {node.role or node.kind}: {said(node)}"
        rows = _Actions(actions)
        picked = Picker({"actions": lambda: rows}, title=title, ask=ask).run()
        return None if picked is None else Wish(picked.key, node, picked.text)

    def _text_of(self, node: OutlineNode) -> str:
        """The text of a message as it shows."""
        from tapefold.domain.content import plain_text
        from tapefold.domain.tree import require_message

        state = self._sessions.state(self._outline.session_id)
        message = require_message(state, node.entry_id)
        version = message.winner(include_pending=True) or message.latest
        session_id, position = state.locate(version.seq)
        (event,) = self._sessions.tapes.events_at(session_id, [position])
        return plain_text(event.body.content)


def _actions(node: OutlineNode, past: bool) -> list[str]:
    if past:
        return [REPLAY, VIEW, BACK]
    first = [BEFORE, AT] if node.role == "user" else [AT]
    return [*first, SUMMARY, LABEL, REPLAY, VIEW, BACK]


def _label_question(node: OutlineNode) -> Question:
    return Question("Label (empty: none): ", node.label or "")


def _fits_a_line(text: str) -> bool:
    return text.isprintable() and len(text) <= LONGEST_LINE


def _key(row: OutlineNode | OutlineFork) -> str:
    """Entries and sessions have ids of their own, which may be the same."""
    return f"f{row.session_id}" if isinstance(row, OutlineFork) else f"e{row.entry_id}"


class _TreeRows:
    """An outline as rows of a picker."""

    def __init__(self, outline: Outline) -> None:
        self._drawing = Drawing(outline, Paper().glyphs, 80)
        self._rows: list[tuple[str, Row]] = list(self._drawing.rows())

    def __len__(self) -> int:
        return len(self._rows)

    def key(self, n: int) -> str:
        """The entry, or the fork."""
        return _key(self._rows[n][1])

    def parts(self, n: int, width: int, *, alone: bool) -> Iterable[Part]:
        """The row as `tree` draws it; alone without what is drawn in front of it."""
        self._drawing.width = width
        prefix, row = self._rows[n]
        return self._drawing.line("" if alone else prefix, row)

    def text(self, n: int) -> str:
        """Position, id, role or kind, label, tools and words."""
        row = self._rows[n][1]
        if isinstance(row, OutlineFork):
            return f"fork {row.session_id}"
        told = (row.entry_id, row.role or row.kind, row.label or "", *row.calls, row.preview)
        return f"#{row.position} " + " ".join(told)


class _Actions:
    """Actions as rows of a picker; each is its own key."""

    def __init__(self, actions: list[str]) -> None:
        self._actions = actions

    def __len__(self) -> int:
        return len(self._actions)

    def key(self, n: int) -> str:
        """The action."""
        return self._actions[n]

    def parts(self, n: int, width: int, *, alone: bool) -> Iterable[Part]:
        """Its words."""
        yield Span(self._actions[n])

    def text(self, n: int) -> str:
        """Its words."""
        return self._actions[n]
