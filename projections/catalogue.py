"""The projections that there are, by name; each is loaded when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from .declaration import Projection
from .errors import ProjectionError

_CLASSES: Final = {
    "effective_view": "EffectiveView",
    "branch_tree": "BranchTree",
    "trace_index": "TraceIndex",
    "trace_text": "TraceText",
}
"""Name, which is that of its package too, to its class."""

_LATER: Final = {"trace_index": ("trace_text",)}
"""A projection to its later stages: they have positions of their own, and run in its process."""


def projection_names() -> tuple[str, ...]:
    """Every projection and stage, in the order in which they are listed."""
    return tuple(_CLASSES)


def process_names() -> tuple[str, ...]:
    """Those that have a process of their own."""
    later = {stage for stages in _LATER.values() for stage in stages}
    return tuple(name for name in _CLASSES if name not in later)


def stages_of(name: str) -> tuple[str, ...]:
    """What runs in the process of a projection, itself first."""
    return (name, *_LATER.get(name, ()))


def projection_named(name: str) -> Projection:
    """A projection. Raises `ProjectionError` where there is none of this name."""
    cls = _CLASSES.get(name)
    if cls is None:
        known = ", ".join(_CLASSES)
        raise ProjectionError(name, f"there is no such projection; there are {known}")
    module = import_module(f"{__package__}.{name}.projection")
    found: Projection = getattr(module, cls)()
    return found
