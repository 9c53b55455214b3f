"""Which program makes the rows of a build: a digest of its source.

A build that one program has begun must not be gone on with by another, whose fold may write other
rows: half of the build would be of the one, half of the other, and nothing would tell. While a
fold is being written its declaration stays the same from one try to the next, so the declaration
alone does not tell them apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import import_module
from inspect import getsourcefile
from pathlib import Path
from typing import Final

from .declaration import Projection

_ROOMS: Final = ("domain", "persistence", "projections")
"""The packages that rows depend on: what an event means, how it is read, what is made of it."""

_MODULES: Final = ("loading", "store")
"""Modules that they depend on, too: what a fork inherits, and which events there are."""

_LOADED: Final = time.time()
"""When this program was loaded, about. A file that was changed since is not what runs here."""


def program_digest(projection: Projection) -> str:
    """A digest of the source of the projection's class, with those that it comes from, and of our
    packages that rows depend on. Where there is no source, the version stands for it."""
    return _digest(type(projection))


@cache
def _digest(cls: type[Projection]) -> str:
    made, is_told = sha256(), False
    for path in sorted({*_sources_of(cls), *_our_sources()}):
        try:
            text, changed = path.read_bytes(), path.stat().st_mtime
        except OSError:
            continue  # inside an archive, or gone
        is_told = True
        made.update(f"\0{path.name}\0{len(text)}\0".encode())
        made.update(text)
        if changed > _LOADED:  # what runs is known to this process alone
            made.update(f"{os.getpid()} {_LOADED}".encode())
    if not is_told:
        from importlib import metadata

        made.update(metadata.version("tapefold").encode())
    return made.hexdigest()


def _our_sources() -> Iterator[Path]:
    for room in _ROOMS:
        for folder in import_module(f"tapefold.{room}").__path__:
            yield from Path(folder).rglob("*.py")
    for name in _MODULES:
        found = import_module(f"tapefold.{name}").__file__
        if found is not None:
            yield Path(found)


def _sources_of(cls: type[Projection]) -> Iterator[Path]:
    for one in cls.__mro__:
        try:
            found = getsourcefile(one)
        except (TypeError, OSError):
            continue  # built in, or typed at a prompt
        if found is not None:
            yield Path(found)
