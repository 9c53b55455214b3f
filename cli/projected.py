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
    from tapefold.projections.parking import Parked
    from tapefold.projections.reading import Lag, ReadModel

CATCH_UP = 2.0
"""How long a command waits for a projection. Unit: seconds."""


class Projected(NamedTuple):
    """One snapshot of a projection: the connection to its tables, the log that it was made of,
    how far it is behind, and the sessions that stand still at an event which cannot be applied,
    by id."""

    connection: Any
    log: Log
    lag: Lag
    parked: dict[str, Parked]

    def warn_if_parked(self, session_id: str) -> None:
        """Say on standard error that what is read of a session ends before its tape does."""
        if session_id in self.parked:
            stands = self.parked[session_id].position
            complain(
                f"session {session_id!r} is read up to position {stands - 1}: position {stands} "
                "cannot be applied; see `tapefold projections parked`"
            )

    def warn_if_any_parked(self) -> None:
        """Say on standard error that what is read of all sessions may lack something."""
        if self.parked:
            complain(
                f"{count(len(self.parked), 'session')} cannot be read to the end; see "
                "`tapefold projections parked`"
            )


@contextmanager
def projected(
    sessions: Sessions, projection: Projection, *, seconds: float = CATCH_UP
) -> Iterator[Projected]:
    """A snapshot of a projection that has caught up, or tried to for `seconds`; a warning on
    standard error says how far behind it is, and why, if it lacks what the log held at the
    beginning.

    The first read builds the projection. Raises `NoFiles` for a store in memory, `BuildFault` if
    it cannot be built, and `DeclarationMismatch`, `LogChanged`, which name the command that helps.
    """
    from tapefold.projections.errors import ProjectionMissing
    from tapefold.projections.log import Log
    from tapefold.projections.parking import parked
    from tapefold.projections.reading import ReadModel
    from tapefold.projections.registry import store_path

    path = store_path(projection.NAME, sessions.recorder.datastore.address.path)
    log = Log(sessions.recorder, sessions.mapper)
    model = ReadModel(projection, log, path)
    try:
        end = log.last_id()
        caught = _catch_up(model, log, path, end, seconds)
        with model.reading() as build:
            lag = model.lag(build)
            if lag.is_filling or lag.position < end:
                _warn(projection.NAME, lag, caught)
            standing = {one.session_id: one for one in parked(build)}
            yield Projected(build.connection, log, lag, standing)
    except ProjectionMissing:
        if caught.fault is None:
            raise
        raise caught.fault from None  # why it could not be built says more
    finally:
        model.close()


class _Caught(NamedTuple):
    """Whether another process runs the projection, and why it could not be brought on."""

    is_run: bool = False
    fault: Exception | None = None


def _catch_up(model: ReadModel, log: Log, path: Path, end: int, seconds: float) -> _Caught:
    """Bring the projection up to the id `end`, or let the process that runs it do so."""
    from tapefold.projections.errors import AlreadyRunning, BuildNotWritable, ProjectionMissing
    from tapefold.projections.faults import is_database_fault
    from tapefold.projections.runner import Runner

    def hear(text: str) -> None:
        if isinstance(runner.fault, BuildNotWritable):
            runner.stop()  # rights, and space on a disk, do not come back in a moment

    try:
        if model.has_passed(end):
            return _Caught()  # who runs it does not matter
    except ProjectionMissing:
        pass  # the run below makes it
    runner = Runner(model.projection, log, path, say=hear)
    try:
        timer = Timer(seconds, runner.stop)
        timer.daemon = True
        timer.start()
        try:
            runner.run(wait=False, until_caught_up=True)
        finally:
            timer.cancel()
    except AlreadyRunning:
        model.wait_for(end, seconds)
        return _Caught(is_run=True)
    except Exception as error:
        if not is_database_fault(error):
            raise
        # The folder cannot be written, say: what there is can be read all the same.
        return _Caught(fault=error)
    return _Caught(fault=runner.fault)


def _warn(name: str, lag: Lag, caught: _Caught) -> None:
    """Say how far it is behind, and why, or what to start if nobody runs it."""
    if lag.is_filling:
        text = (
            f"still being built ({count(lag.rows, 'event')} to go), so this answer is not complete"
        )
        advice = "builds it"
    else:
        text, advice = f"{count(lag.rows, 'event')} behind the log", "keeps it up"
    more = ""
    if caught.fault is not None:
        reason = str(caught.fault).removeprefix(f"projection {name}: ")
        more = f", and cannot catch up: {reason}"
    elif not caught.is_run:
        more = f"; `tapefold projections run {name}` {advice}"
    complain(f"projection {name} is {text}{more}")
