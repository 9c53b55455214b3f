"""What a manifest says, in rows. It may be any JSON: what cannot be read is said, not guessed."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapefold.domain.kernel import State
from tapefold.domain.tree import born

from ..values import short, text_of, whole

PARTS = ("included", "excluded")


class Reference(NamedTuple):
    """An entry that a request contained or left out: columns of `ti_references`."""

    part: str
    number: int
    entry_session_id: str | None
    entry_id: str | None
    said_session_id: str | None
    said_position: int | None
    kind: str | None
    reason: str | None
    tokens: int | None


class Manifest(NamedTuple):
    """The columns of `ti_requests` that come from the manifest, and the references."""

    columns: tuple[Any, ...]
    problem: str | None
    references: list[Reference]


def read_manifest(value: Any, state: State) -> Manifest:
    """A manifest as `domain/context.py` writes it. `state`: the session's, at the request."""
    problems = []
    if not isinstance(value, dict):
        problems.append("the manifest is no object" if value is not None else "no manifest")
        value = {}
    references: list[Reference] = []
    counts = []
    for part in PARTS:
        items = value.get(part, [])
        if not isinstance(items, list):
            problems.append(f"{part} is no list")
            items = []
        strange = sum(not isinstance(item, dict) for item in items)
        if strange:
            problems.append(f"{strange} of {part} are no objects")
        references += [
            _reference(part, number, item, state)
            for number, item in enumerate(items)
            if isinstance(item, dict)
        ]
        counts.append(len(items) - strange)
    columns = (
        text_of(value.get("policy")),
        short(value.get("policy_version")),
        short(value.get("builder_version")),
        text_of(value.get("session_id")),
        whole(value.get("position")),
        text_of(value.get("leaf")),
        *counts,
        whole(value.get("tokens")),
        text_of(value.get("rows_hash")),
        text_of(value.get("prompt_hash")),
    )
    return Manifest(columns, "; ".join(problems) or None, references)


def _reference(part: str, number: int, item: dict[str, Any], state: State) -> Reference:
    entry_id = item.get("entry_id")
    said = text_of(item.get("session_id"))
    home = said
    if isinstance(entry_id, str):
        node = state.entries.get(entry_id)
        if node is not None:
            home = text_of(state.locate(born(node))[0])
    return Reference(
        part,
        number,
        home if isinstance(entry_id, str) else None,
        text_of(entry_id),
        said,
        whole(item.get("position")),
        text_of(item.get("kind")),
        text_of(item.get("reason")),
        whole(item.get("tokens")),
    )
