"""Compares what is read of the effective view with the kernel's own view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from sqlite3 import Connection
from typing import Any

from tapefold.domain.view import Settings, View, build_view
from tapefold.loading import load_state

from ..differences import CHANGED, Difference
from ..log import Log
from ..values import text_of
from .inherited import read_message
from .reading import EffectiveReader, ReadView


def against_kernel(
    connection: Connection, log: Log, session_id: str, position: int
) -> Iterator[Difference]:
    """The parts of a session's view that differ, with unfinished versions and without; text is
    compared as columns hold it."""
    state = load_state(log.tapes, session_id, position, log.bases)
    reader = EffectiveReader(connection, log)
    for pending in (False, True):
        said = _read(reader.view(session_id, include_pending=pending))
        true = _built(build_view(state, log.tapes, include_pending=pending))
        changed = tuple(
            (name, repr(value), repr(true[name]))
            for name, value in said.items()
            if value != true[name]
        )
        if changed:
            which = "view with unfinished versions" if pending else "view"
            yield Difference(which, CHANGED, (session_id,), changed)


def _read(view: ReadView) -> dict[str, Any]:
    return {
        "position": view.position,
        "leaf": view.leaf,
        "name": view.name,
        "settings": view.settings,
        "messages": view.messages,
        "labels": list(view.labels.items()),
        "answers_off_path": list(view.answers_off_path),
    }


def _built(view: View) -> dict[str, Any]:
    return {
        "position": view.position,
        "leaf": view.leaf,
        "name": text_of(view.name),
        "settings": Settings(*(text_of(said) for said in astuple(view.settings))),
        "messages": tuple(read_message(message) for message in view.messages),
        "labels": [(entry_id, text_of(label)) for entry_id, label in view.labels.items()],
        "answers_off_path": [
            entry_id
            for warning in view.warnings
            if warning.code == "answer_off_path"
            for entry_id in warning.entry_ids
        ],
    }
