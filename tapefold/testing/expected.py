"""Expected events: what is compared, and how a difference is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from typing import Any

from ..domain.content import content_json, parse_content
from ..domain.drafts import Draft
from ..domain.events import EVENTS, Event
from .recording import split_fields

SHOWN = ("role", "status", "message_id", "entry_id", "parent_id", "owner", "call_ids", "targets")
"""Head fields that name an unexpected event in a difference."""


@dataclass(frozen=True)
class Expected:
    """An event of one kind of which the fields named must be equal. Made by `event`."""

    event: type[Event]
    head: Mapping[str, Any]
    body: Mapping[str, Any]


Expectation = Expected | Event | Draft | type[Event] | str
"""What `then` takes: an `event(…)`, a kind alone, or a whole event or draft to the letter."""


def event(kind: type[Event] | str, /, **fields: Any) -> Expected:
    """Expect an event: its kind (`MessageFinalized`, or `"message_finalized"`) and any fields.

    A field is the body's where the body has one of that name, else the head's. `content` may be
    text or blocks. A value that is equal to anything (`unittest.mock.ANY`) fits anything. Raises
    `TypeError` for a field or kind that does not exist.
    """
    cls = EVENTS.get(kind) if isinstance(kind, str) else kind
    if cls is None:
        raise TypeError(f"there is no event of kind {kind!r}; the kinds are {', '.join(EVENTS)}")
    head, body = split_fields(cls, fields)
    if isinstance(body.get("content"), str | list | dict):
        body["content"] = parse_content(body["content"])
    return Expected(cls, head, body)


def difference(expected: Sequence[Expectation], actual: Sequence[Event]) -> str | None:
    """None where the events are as expected, else both lists, line by line."""
    wanted = [_expected(one) for one in expected]
    ok = len(wanted) == len(actual) and all(map(_fits, wanted, actual))
    if ok:
        return None
    # A field that fits is shown as it was expected, so that only what differs is marked.
    fillers: list[Expected | None] = [*wanted, *([None] * len(actual))]
    before = [line for one in wanted for line in _expected_lines(one)]
    after = [line for one, fact in zip(fillers, actual, strict=False) for line in _lines(one, fact)]
    shown = "\n".join(line.rstrip() for line in ndiff(before, after) if not line.startswith("?"))
    return f"- expected, + what happened:\n{shown}"


def _expected(one: Expectation) -> Expected:
    if isinstance(one, Expected):
        return one
    if isinstance(one, Draft):
        return _whole(one.event, one.head, one.body)
    if isinstance(one, Event):
        return _whole(type(one), one.head, one.body)
    return event(one)


def _whole(cls: type[Event], head: Any, body: Any) -> Expected:
    fields = {name: getattr(head, name) for name in type(head).__slots__ if name != "kind"}
    return Expected(cls, fields, {name: getattr(body, name) for name in cls.BODY.model_fields})


def _fits(wanted: Expected, actual: Event) -> bool:
    return type(actual) is wanted.event and all(
        value == getattr(part, name) for part, name, value in _fields(wanted, actual)
    )


def _fields(wanted: Expected, actual: Event) -> Iterable[tuple[Any, str, Any]]:
    for name, value in wanted.head.items():
        yield actual.head, name, value
    for name, value in wanted.body.items():
        yield actual.body, name, value


def _expected_lines(one: Expected) -> list[str]:
    fields = {**one.head, **one.body}
    return [one.event.__name__, *(f"    {n} = {_text(v)}" for n, v in fields.items())]


def _lines(wanted: Expected | None, actual: Event) -> list[str]:
    if wanted is None or type(actual) is not wanted.event:
        told = {name: getattr(actual.head, name) for name in SHOWN}
        shown = {name: value for name, value in told.items() if value not in (None, ())}
    else:
        shown = {}
        for part, name, value in _fields(wanted, actual):
            is_value = getattr(part, name)
            shown[name] = value if value == is_value else is_value
    return [type(actual).__name__, *(f"    {n} = {_text(v)}" for n, v in shown.items())]


def _text(value: Any) -> str:
    return repr(content_json(value)) if _is_content(value) else repr(value)


def _is_content(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(hasattr(b, "to_json") for b in value)
