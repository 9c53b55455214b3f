"""Reading, running and rebuilding the projections of an application: by name, ready to use."""

from __future__ import annotations

from typing import Any, Protocol

from tapefold.persistence.mapper import TapeMapper
from tapefold.persistence.sqlite_recorder import TapeRecorder

from .catalogue import projection_named
from .log import Log
from .reading import ReadModel
from .rebuilding import Rebuild
from .registry import store_path
from .runner import Runner


class HasLog(Protocol):
    """An application on our SQLite store: `tapefold.Sessions`, or a host's own."""

    recorder: TapeRecorder
    mapper: TapeMapper[Any]


def log_of(application: HasLog) -> Log:
    """The event log of an application. One for each thread."""
    return Log(application.recorder, application.mapper)


def read_model(application: HasLog, name: str) -> ReadModel:
    """Reads a projection: `with read_model(sessions, "branch_tree").reading() as build: ...`

    Raises `ProjectionError` for a name that there is not, `NoFiles` for a store in memory.
    """
    log = log_of(application)
    return ReadModel(projection_named(name), log, store_path(name, log.path))


def runner(application: HasLog, name: str, **how: Any) -> Runner:
    """Runs a projection in this process: `runner(sessions, "branch_tree").run()`.

    `how`: what `Runner` takes. Raises as `read_model` does.
    """
    log = log_of(application)
    return Runner(projection_named(name), log, store_path(name, log.path), **how)


def rebuild(application: HasLog, name: str, **how: Any) -> Rebuild:
    """Rebuilds a projection: `rebuild(sessions, "branch_tree").run()`.

    `how`: what `Rebuild` takes. Raises as `read_model` does.
    """
    log = log_of(application)
    return Rebuild(projection_named(name), log, store_path(name, log.path), **how)
