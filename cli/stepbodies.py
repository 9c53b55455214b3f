"""What is seen of a place on a tape: the view, the context or the event itself, block by block.

The same as `view`, `context` and `tape --json` print there, but only the entries that are on the
screen are read and made: an entry of the path is a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tapefold.domain.calls import Pairing, PairRow
from tapefold.domain.carried import tells_system
from tapefold.domain.context import build_context
from tapefold.domain.events import Event
from tapefold.domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    CUSTOM,
    FOREIGN,
    MARK,
    MESSAGE,
    MODEL,
    AnyNode,
    MessageNode,
)
from tapefold.domain.order import sort_rows
from tapefold.domain.view import WITH_BODY, Bodies, Item, Settings, View, build_messages

from .follower import Follower
from .jsontext import dump_json
from .paper import Span
from .prompt import WHY_EXCLUDED, print_row
from .shapes import event_shape
from .stepping import Stepper
from .terminal import Line, Lines
from .transcript import print_item

_SILENT = {CUSTOM, FOREIGN, MARK}
"""Kinds of nodes that print nothing in a view; a path may hold thousands of them."""
_ROWS = ANCHORS | {BRANCH_SUMMARY, MESSAGE}

LONG_RAW = 20_000
"""Longest part of an event's JSON that is shown. Unit: characters."""
LOOKED_BACK = 50
"""How many model changes and answers are asked for the provider, where none names one."""
BODIES = 500
"""Events that are kept decoded."""


class HasBodies(Protocol):
    """Where bodies come from, at any place of a tape."""

    @property
    def bodies(self) -> Bodies: ...


class Reader:
    """Reads bodies for one session, at whichever place, and keeps some of them."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._bodies = Bodies(stepper.follower.state, stepper.sessions.tapes)
        self._read = 0

    @property
    def bodies(self) -> Bodies:
        """Where they are. Order numbers mean the same at every place of a tape."""
        self._read += 1
        if self._read > BODIES:
            self._bodies = Bodies(self._stepper.follower.state, self._stepper.sessions.tapes)
            self._read = 0
        return self._bodies


class Entries:
    """The entries of the path at a place, as they are read."""

    def __init__(self, follower: Follower, reader: HasBodies, width: int, full: bool) -> None:
        self.state, self.look = follower.state, follower.look
        self._reader = reader
        self._paper = Lines(width)
        self._full = full
        self.order = self._sorted(range(self.look.length))
        """Places on the path in the order of the view."""
        self._settings: Settings | None = None
        self._edits: list[Item] | None = None

    def _sorted(self, places: Sequence[int]) -> Sequence[int]:
        if self.state.max_order_seq is None:
            return places
        return sort_rows(list(places), self._number)

    def _number(self, place: int) -> tuple[int, str] | None:
        row = self._row(place)
        version = None if row is None or not self.look.shows(row.node.entry_id) else row.winner
        if row is None or version is None or version.order_seq is None:
            return None
        return version.order_seq, row.node.message_id

    def _row(self, place: int) -> PairRow | None:
        return self.look.rows.get(self._node(place).entry_id)

    def _node(self, place: int) -> AnyNode:
        node = self.look.nodes.get(place)
        assert node is not None
        return node

    # -- the view --------------------------------------------------------------------------

    def view(self, place: int) -> list[Line]:
        """The lines of an entry of the view."""
        if self._node(place).kind in _SILENT:
            return []
        item = self._item(place)
        print_item(self._paper, self._part([item], item), item, self._full)
        return self._paper.take()

    def _item(self, place: int, index: int | None = None) -> Item:
        node = self._node(place)
        index = place if index is None else index
        if not isinstance(node, MessageNode):
            event = self._reader.bodies[node.seq] if node.kind in WITH_BODY else None
            return Item(index, node, None, event)
        row = self.look.rows.get(node.entry_id)
        assert row is not None
        if not self.look.shows(node.entry_id):
            return Item(index, row.node)
        pairing, rows = self._pairing(row)
        made = build_messages(self.state, self._reader.bodies, pairing, rows)
        return Item(index, row.node, made[node.entry_id])

    def _pairing(self, row: PairRow) -> tuple[Pairing, list[PairRow]]:
        """The results of a message's calls, or the call of a result message."""
        pairing, rows = Pairing(), [row]
        mid = row.node.message_id
        for call_id in row.live:
            result = self.look.result((mid, call_id))
            if result is not None:
                pairing.results[(mid, call_id)] = result
                answer = self._row_of(result.message_id)
                if answer is not None:
                    rows.append(answer)
                    pairing.owner_of[answer.node.message_id] = (mid, call_id)
        owned = self.look.answers.get(mid)
        if owned is not None and self.look.has_call(owned):
            pairing.owner_of[mid] = owned
        return pairing, rows

    def _row_of(self, message_id: str | None) -> PairRow | None:
        node = None if message_id is None else self.state.message_node(message_id)
        return None if node is None else self.look.rows.get(node.entry_id)

    def _part(self, items: Sequence[Item], item: Item, settings: Settings | None = None) -> View:
        """A view of some items alone."""
        state = self.state
        label = state.labels.get(item.entry_id)
        labels = {}
        if label is not None and not label.cleared:
            labels[item.entry_id] = self._reader.bodies[label.seq].body.label
        row = self.look.rows.get(item.entry_id)
        return View(
            session_id=state.session_id,
            position=state.position,
            leaf=state.leaf,
            name=None,
            messages=(),
            settings=settings or Settings(),
            labels=labels,
            anchors=(),
            warnings=(),
            items=tuple(items),
            pairing=Pairing() if row is None else self._pairing(row)[0],
            state=state,
        )

    # -- the context -----------------------------------------------------------------------

    def context_order(self) -> Sequence[int]:
        """Places on the path of the entries that make rows of the context, in their order."""
        look = self.look
        if look.kept is None:
            return self.order
        return self._sorted([*look.kept, *range(look.selected, look.length)])

    def context(self, place: int) -> list[Line]:
        """The rows of the context that an entry brings."""
        node = self._node(place)
        is_row = (
            isinstance(node, MessageNode) or node.kind in ANCHORS or node.kind == BRANCH_SUMMARY
        )
        if not is_row or self._stands_at_its_call(node) or self._is_told_anew(place):
            return []
        return self._rows(place)

    def _stands_at_its_call(self, node: AnyNode) -> bool:
        owned = self.look.answers.get(getattr(node, "message_id", ""))
        caller = None if owned is None else self._row_of(owned[0])
        return caller is not None and caller.node.entry_id not in self.look.outside

    def _is_told_anew(self, place: int) -> bool:
        """Whether a system message stands before an anchor that says all of it anew."""
        row, kept = self._row(place), self.look.kept
        if row is None or row.winner is None or row.winner.role != "system" or not kept:
            return False
        ruling = self._node(kept[0])
        if ruling.kind not in ANCHORS or place >= kept[0]:
            return False
        return tells_system(self._reader.bodies[ruling.seq].body.kept)

    def _rows(self, place: int) -> list[Line]:
        # The one builder of contexts, on this entry alone with what it depends on.
        edits = self._path_edits()
        items = [*edits, self._item(place, len(edits))]
        row = self._row(place)
        for answer in () if row is None else self._pairing(row)[1][1:]:
            at = self.look.index.get(answer.node.entry_id)
            if at is not None:
                items.append(self._item(at, len(items)))
        view = self._part(items, items[len(edits)], self._settings_here())
        context = build_context(view)
        paper, own = self._paper, {item.entry_id for item in items[len(edits) :]}
        for row_ in context.rows:
            paper.line()
            print_row(paper, "", row_, self._full)
        for left in context.excluded:
            if not context.rows and left.entry_id in own:
                why = WHY_EXCLUDED.get(left.reason, left.reason)
                paper.line()
                paper.cut_line(Span(f"{left.entry_id} is left out: {why}", "dim"))
        return paper.take()

    def _path_edits(self) -> list[Item]:
        if self._edits is None:
            found = []
            if self.state.edits:
                places = [
                    place
                    for place, node in enumerate(self.look.path())
                    if node.kind == CONTEXT_EDIT
                ]
                found = [self._item(place, index) for index, place in enumerate(places)]
            self._edits = found
        return self._edits

    def _settings_here(self) -> Settings:
        """Model and provider that the next message would be asked with: which reasoning of an
        older message is sent depends on them. Looked up from the end of the path."""
        if self._settings is None:
            model = provider = None
            seen = 0
            for place in reversed(range(self.look.length)):
                found = self._model_at(place)
                if found is not None:
                    model, provider = found[0] if not seen else model, provider or found[1]
                    seen += 1
                if provider or seen >= LOOKED_BACK:
                    break
            self._settings = Settings(model, provider)
        return self._settings

    def _model_at(self, place: int) -> tuple[str | None, str | None] | None:
        node = self._node(place)
        if node.kind == MODEL:
            body = self._reader.bodies[node.seq].body
            return body.model, body.provider
        row = self.look.rows.get(node.entry_id)
        if row is None or row.winner is None or row.winner.role != "assistant":
            return None
        body = self._reader.bodies[row.winner.seq].body
        return (body.model, body.provider) if body.model not in (None, "unknown") else None


def raw_lines(event: Event, width: int) -> list[Line]:
    """An event as JSON, with all that stands on the tape."""
    paper = Lines(width)
    text = dump_json(event_shape(event), exact=True, indent=2)
    paper.block(text[:LONG_RAW])
    if len(text) > LONG_RAW:
        said = f"({len(text):,} characters; `tapefold tape --json` prints them all)"
        paper.block(said, style="dim")
    return paper.take()
