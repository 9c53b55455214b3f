"""Reading a projection from a command: it catches up first, for a moment, then answers.

A command that reads must not need a service that runs beside it. So it does the work itself if
nobody else does, for at most two seconds, and says on standard error what is still missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from .group import complain
from .words import count

if TYPE_CHECKING:
    from pathlib import Path

    from tapefold import Sessions
    from tapefold.projections.declaration import Projection
    from tapefold.projections.log import Log
    from tapefold.projections.reading import Lag, ReadModel

CATCH_UP = 2.0
"""How long a command waits for a projection. Unit: seconds."""


class Projected(NamedTuple):
    """One snapshot of a projection: the connection to its tables, the log that it was made of,
    how far it is behind, and the sessions that stand still at an event which cannot be applied."""

    connection: Any
    log: Log
    lag: Lag
    parked: frozenset[str]

    def warn_if_parked(self, session_id: str) -> None:
        """Say on standard error that what is read of a session ends before its tape does."""
        if session_id in self.parked:
            complain(
                f"session {session_id!r} is read up to an event that cannot be applied; see "
                "`tapefold projections parked`"
            )


@contextmanager
def projected(
    sessions: Sessions, projection: Projection, *, seconds: float = CATCH_UP
) -> Iterator[Projected]:
    """A snapshot of a projection that has caught up, or tried to for `seconds`; a warning on
    standard error says how far behind it is.

    The first read builds the projection. Raises `NoFiles` for a store in memory, and
    `DeclarationMismatch`, `LogChanged`, which name the command that helps.
    """
    from tapefold.projections.log import Log
    from tapefold.projections.parking import parked_ids
    from tapefold.projections.reading import ReadModel
    from tapefold.projections.registry import store_path

    path = store_path(projection.NAME, sessions.recorder.datastore.address.path)
    log = Log(sessions.recorder, sessions.mapper)
    model = ReadModel(projection, log, path)
    try:
        _catch_up(model, log, path, seconds)
        with model.reading() as build:
            lag = model.lag(build)
            _warn(projection.NAME, lag)
            yield Projected(build.connection, log, lag, frozenset(parked_ids(build)))
    finally:
        model.close()


def _catch_up(model: ReadModel, log: Log, path: Path, seconds: float) -> None:
    """Bring the projection up to the log, or let the process that runs it do so."""
    from tapefold.projections.errors import AlreadyRunning, ProjectionMissing
    from tapefold.projections.faults import is_database_fault
    from tapefold.projections.runner import Runner

    end = log.last_id()
    try:
        if model.has_passed(end):
            return
    except ProjectionMissing:
        pass  # the run below makes it
    try:
        runner = Runner(model.projection, log, path)
        timer = Timer(seconds, runner.stop)
        timer.daemon = True
        timer.start()
        try:
            runner.run(wait=False, until_caught_up=True)
        finally:
            timer.cancel()
    except AlreadyRunning:
        model.wait_for(end, seconds)
    except Exception as error:
        if not is_database_fault(error):
            raise
        # The folder cannot be written, say: what there is can be read all the same.
        complain(f"projection {model.projection.NAME} cannot catch up: {error}")


def _warn(name: str, lag: Lag) -> None:
    if lag.is_filling:
        complain(
            f"projection {name} is still being built ({count(lag.rows, 'event')} to go), so this "
            f"answer is not complete; `tapefold projections run {name}` builds it"
        )
    elif lag.rows:
        complain(
            f"projection {name} is {count(lag.rows, 'event')} behind the log; "
            f"`tapefold projections run {name}` keeps it up"
        )
