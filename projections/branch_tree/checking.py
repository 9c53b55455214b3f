"""Compares what is read of the branch tree with the kernel's own outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from sqlite3 import Connection
from typing import Any

from tapefold.domain.outline import OutlineNode, build_outline
from tapefold.loading import load_state

from ..differences import CHANGED, Difference
from ..log import Log
from ..values import text_of
from .reading import TreeReader


def against_kernel(
    connection: Connection, log: Log, session_id: str, position: int
) -> Iterator[Difference]:
    """The entries that differ, and the order of them."""
    outline = build_outline(load_state(log.tapes, session_id, position, log.bases), log.tapes)
    tree = TreeReader(connection, log).tree(session_id)
    true = {node.entry_id: _shown(node) for node in outline.nodes}
    said = {node.entry_id: asdict(node) for node in tree.nodes}
    order = ([n.entry_id for n in tree.nodes], [n.entry_id for n in outline.nodes])
    if order[0] != order[1]:
        yield Difference("tree", CHANGED, (session_id,), (("order", str(order[0]), str(order[1])),))
    for entry_id in said.keys() & true.keys():
        changed = tuple(
            (field.name, repr(said[entry_id][field.name]), repr(true[entry_id][field.name]))
            for field in fields(OutlineNode)
            if said[entry_id][field.name] != true[entry_id][field.name]
        )
        if changed:
            yield Difference("tree", CHANGED, (session_id, entry_id), changed)


def _shown(node: OutlineNode) -> dict[str, Any]:
    """The fields of a node, text as columns hold it."""
    shown = asdict(node)
    for name, value in shown.items():
        if isinstance(value, str):
            shown[name] = text_of(value)
        elif isinstance(value, tuple):
            shown[name] = tuple(text_of(one) or "" for one in value)
    return shown
