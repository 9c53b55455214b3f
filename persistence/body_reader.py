"""From the stored shape of a body to the body.

What a store hands back was validated when it was written, so nothing is validated again here:
each field is only checked for its JSON type, in order that damage shows at once and not as an
`AttributeError` later. An absent field takes its default. A field, or a type of block, that we
do not know was written by a newer tapefold, and is kept: in `extra`, or as an `OtherBlock`.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from tapefold.domain.content import BLOCKS, Block, OtherBlock
from tapefold.domain.records import Record, once_a_class

Model = TypeVar("Model", bound=Record)

_Types = frozenset[type] | None
_ABSENT: _Types = frozenset()


class ShapeFault(ValueError):
    """A field is missing, or its JSON type is not the one that it must have."""


class _Plan(Generic[Model]):
    """What is known of a body's or block's class: template, types, required and tuple fields."""

    __slots__ = ("accepted", "blocks", "required", "template", "tuples")

    def __init__(self, cls: type[Model]) -> None:
        annotations = {name: field.annotation for name, field in cls.model_fields.items()}
        self.accepted = {name: _accepted(said) for name, said in annotations.items()}
        self.required = frozenset(
            name for name, field in cls.model_fields.items() if field.is_required()
        )
        # A copy of it takes a quarter of the time of model_construct(). The required fields are
        # in it to keep their places; every copy overwrites them.
        self.template: Model = cls.model_construct(**dict.fromkeys(self.required))
        self.blocks = "content" in annotations
        self.tuples = frozenset(
            name
            for name, said in annotations.items()
            if name != "content" and get_origin(said) is tuple
        )


@once_a_class
def _plan(cls: type[Any]) -> _Plan[Any]:
    return _Plan(cls)


def _accepted(annotation: Any) -> _Types:
    """The Python types of JSON values that a field takes; None: any."""
    origin = get_origin(annotation)
    if annotation is Any:
        return None
    if origin is Annotated:
        return _accepted(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        found = [_accepted(one) for one in get_args(annotation)]
        return None if None in found else frozenset().union(*(one for one in found if one))
    if origin is Literal:
        return frozenset({str})
    if origin is tuple:
        return frozenset({list, tuple})
    if origin is dict:
        return frozenset({dict})
    if not isinstance(annotation, type):
        raise TypeError(f"no JSON type is known for a field of type {annotation}")
    return frozenset({int, float}) if annotation is float else frozenset({annotation})


def check_body(cls: type[Record], stored: Mapping[str, Any]) -> None:
    """Raise `ShapeFault` if `read_body` would do so."""
    values = _known(_plan(cls), stored)
    _tuples(_plan(cls), values)
    for block in _blocks(_plan(cls), values):
        _read_known_block(block)


def read_body(
    cls: type[Model], stored: Mapping[str, Any], head: Mapping[str, Any] | None = None
) -> Model:
    """The body of a class from its stored shape. `head` holds what is unknown in the head.

    Raises `ShapeFault`.
    """
    plan: _Plan[Model] = _plan(cls)
    values = _known(plan, stored)
    values.update(_tuples(plan, values))
    if plan.blocks and values.get("content") is not None:
        values["content"] = tuple(_read_block(block) for block in _blocks(plan, values))
    if head:
        _keep(values["extra"], "head", dict(head))
    return plan.template.model_copy(update=values)


def _tuples(plan: _Plan[Any], values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    found = {name: tuple(values[name]) for name in plan.tuples if name in values}
    for name, items in found.items():
        if not all(isinstance(item, str) for item in items):
            raise ShapeFault(f"{name!r} must be a list of text")
    return found


def _blocks(plan: _Plan[Any], values: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    blocks = (values.get("content") if plan.blocks else None) or ()
    for block in blocks:
        if not isinstance(block, dict):
            raise ShapeFault(f"a block of the content is a {type(block).__name__}, not an object")
    return blocks


def _read_block(stored: dict[str, Any]) -> Block:
    known = _read_known_block(stored)
    if known is None:
        return OtherBlock.model_construct(value=stored, extra={})
    plan, values = known
    return plan.template.model_copy(update=values)


def _read_known_block(stored: dict[str, Any]) -> tuple[_Plan[Block], dict[str, Any]] | None:
    """How to make a block, and its fields; None if we do not know the type."""
    kind = stored.get("type")
    cls = BLOCKS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        return None
    plan: _Plan[Block] = _plan(cls)
    return plan, _known(plan, {name: value for name, value in stored.items() if name != "type"})


def _known(plan: _Plan[Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that we know, checked for their type; the others stand in `extra`."""
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name, value in stored.items():
        accepted = plan.accepted.get(name, _ABSENT)
        if accepted is _ABSENT:
            unknown.append(name)
            continue
        if accepted is not None and type(value) not in accepted and not _is_one(value, accepted):
            raise ShapeFault(f"{name!r} must not be a {type(value).__name__}")
        values[name] = value
    if not plan.required <= values.keys():
        missing = ", ".join(sorted(plan.required - values.keys()))
        raise ShapeFault(f"it lacks {missing}")
    # Always a new one: it must share nothing with the template or with what was handed in.
    values["extra"] = dict(values.get("extra", ()))
    for name in unknown:
        _keep(values["extra"], name, stored[name])
    return values


def _is_one(value: Any, accepted: frozenset[type]) -> bool:
    """Whether the value is of a subclass, such as a member of an enumeration of text."""
    return not isinstance(value, bool) and isinstance(value, tuple(accepted))


def _keep(extra: dict[str, Any], name: str, value: Any) -> None:
    """Put a value into `extra`, under another name if that one is taken."""
    while name in extra:
        name += "_"
    extra[name] = value
