"""Sessions: the application. Starts, loads, saves, executes, reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from eventsourcing.application import Application
from eventsourcing.persistence import IntegrityError

from .cache import WarmSessions
from .domain.aggregate import Meta
from .domain.context import Context, build_context
from .domain.drafts import Draft
from .domain.errors import (
    ConcurrencyConflict,
    InvalidValue,
    PositionOutOfRange,
    SessionExists,
    SessionNotFound,
    TapefoldError,
)
from .domain.events import Event
from .domain.heads import Head
from .domain.identifiers import Defaults, check_id, check_position
from .domain.kernel import State
from .domain.policies import Policy
from .domain.session import Session
from .domain.tree import LEAF, LeafRef
from .domain.view import View, build_view
from .loading import Bases, load_basis, load_state
from .persistence.mapper import TapeMapper
from .persistence.sqlite_recorder import TapeRecorder
from .persistence.sqlite_streams import EventRow
from .settings import database_url, environment
from .store import MarkedTapes, SessionInfo, StoreTapes, mark_of

if TYPE_CHECKING:
    from .domain.outline import Outline

Answer = TypeVar("Answer")


class Sessions(Application[str]):
    """The sessions of one store. Thread-safe, and safe beside other processes.

    `database`: a path, `sqlite:///path`, or `memory:`; left out: TAPEFOLD_DB, else the user's
    own file. Use it as a context manager, or `close()` it.
    """

    name = "tapefold"
    mapper: TapeMapper[str]
    recorder: TapeRecorder

    def __init__(
        self,
        database: str | os.PathLike[str] | None = None,
        *,
        defaults: Defaults | None = None,
        env: dict[str, str] | None = None,
        cache_entries: int = 1_000_000,
    ) -> None:
        self.database = database_url(database)
        super().__init__({**environment(self.database), **(env or {})})
        self.defaults = defaults or Defaults()
        self.tapes = StoreTapes(self.recorder, self.mapper)
        self._warm = WarmSessions(cache_entries)
        self._bases = Bases(mark_of=self.tapes.mark)
        self._deciding: set[int] = set()
        """The threads that run a command now; they hold the store's write lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- writing ---------------------------------------------------------------------------

    def start(
        self,
        session_id: str | None = None,
        *,
        title: str | None = None,
        directory: str | None = None,
        owner: str | None = None,
        persist: bool = False,
        **meta: Unpack[Meta],
    ) -> Session:
        """A new session, not written before it holds something: see `Session.start`.

        `persist` writes it at once; raises `ConcurrencyConflict` where the id is taken then.
        """
        session = Session.start(
            session_id,
            title=title,
            directory=directory,
            owner=owner,
            persist=persist,
            defaults=self.defaults,
            tapes=self.tapes,
            **meta,
        )
        if persist:
            self.save(session)
        return session

    def save(self, *objs: Any, **kwargs: Any) -> Any:
        """Append the pending events of sessions (and other aggregates), all or nothing.

        Children that were forked off and not saved yet are saved with their parent; a child
        without it is refused (`InvalidValue`). Durable when it returns. Raises
        `ConcurrencyConflict` when a tape has moved on; the sessions are spent then and have to be
        loaded again.
        """
        sessions = [obj for obj in objs if isinstance(obj, Session)]
        sessions = _with_families(sessions)
        expected = {s.id: s.pending_events[0].position - 1 for s in sessions if s.pending_events}
        try:
            recordings = super().save(*objs, **kwargs)
        except IntegrityError as error:
            self._spend(sessions)
            raise self._conflict(expected, error) from error
        except BaseException:
            self._spend(sessions)
            raise
        for session in sessions:
            session.forget_recent()
        return recordings

    def _spend(self, sessions: Iterable[Session]) -> None:
        for session in sessions:
            session.spend()
            self._warm.evict(session.id)

    def _conflict(self, expected: dict[str, int], error: Exception) -> Exception:
        for session_id, position in expected.items():
            actual = self.recorder.stream_version(session_id) or 0
            if actual != position:
                return ConcurrencyConflict(session_id, position, actual)
        return error

    def execute(
        self,
        session_id: str,
        command: Callable[[Session], Answer],
        *,
        expected_position: int | None = None,
    ) -> Answer:
        """Run `command` on the newest state of a session and append what it triggers.

        The write lock is held while the command runs, so it never conflicts with another
        writer; keep it short, and call no model in it. Answers what the command answers, after
        the events are durable. An exception of the command's leaves the tape as it was.

        `expected_position`: raise `ConcurrencyConflict` unless the tape ends there. Without it
        an assistant message must say `under=`.
        """
        check_id(session_id, "session_id")
        with self._warm.lock(session_id):
            session, mark = self._warm.get(session_id) or self._load(session_id)
            has_begun = False
            try:
                with self.recorder.writing() as transaction:
                    rows = transaction.select_after(session_id, session.version - 1)
                    session, mark = self._catch_up(session, mark, rows)
                    session.begin_command(expected_position)
                    has_begun = True
                    answer = self._decide(session, command)
                    born = session.take_born()
                    events = [*session.collect_events()]
                    for child in born:
                        events += child.collect_events()
                    stored = [self.mapper.to_stored_event(event) for event in events]
                    if stored:
                        transaction.insert_events(stored)
            except BaseException as error:
                if has_begun:
                    self._spend([session])
                if isinstance(error, IntegrityError):
                    raise self._taken(session_id, error) from error
                raise
            last = {row.originator_id: row for row in stored}
            for one in (session, *born):
                one.end_command()
                if one.id in last:
                    row = last[one.id]
                    end = (row.originator_version, row.topic, bytes(row.state))
                    self._warm.put(one, mark_of(end))
                elif one is session:
                    self._warm.put(one, mark)
        return answer

    def _decide(self, session: Session, command: Callable[[Session], Answer]) -> Answer:
        me = get_ident()
        self._deciding.add(me)
        try:
            return command(session)
        finally:
            self._deciding.discard(me)

    def _taken(self, session_id: str, error: IntegrityError) -> Exception:
        taken = getattr(error, "originator_id", None)
        return SessionExists(str(taken)) if taken not in (None, session_id) else error

    def append(self, session_id: str, drafts: Iterable[Draft], *, expected_position: int) -> int:
        """Append an importer's events in one transaction; answers the new last position.

        `expected_position` 0 begins the tape. Raises `ConcurrencyConflict`.
        """
        check_id(session_id, "session_id")
        run = self.mapper.run_of(drafts, session_id, expected_position + 1)
        # Nothing is decided, so nothing is folded: a warm session catches up at its next use.
        with self.recorder.writing() as transaction:
            actual = transaction.stream_version(session_id) or 0
            if expected_position and (
                StoreTapes(transaction, self.mapper).first_head(session_id) is None
            ):
                raise SessionNotFound(session_id)
            if actual != expected_position:
                raise ConcurrencyConflict(session_id, expected_position, actual)
            transaction.insert_events(run)
        return expected_position + len(run)

    def fork(
        self,
        session_id: str,
        *,
        at: int | None = None,
        leaf: LeafRef = LEAF,
        fork_id: str | None = None,
        child_id: str | None = None,
        inherit: bool = True,
        title: str | None = None,
        directory: str | None = None,
        expected_position: int | None = None,
        **meta: Unpack[Meta],
    ) -> Session:
        """Fork a child off at a position (left out: the head) and answer it.

        Two small events in one transaction. With a `fork_id` that was used before for the same
        fork, that child is answered again.
        """
        basis = None if at is None else self._basis(session_id, at)

        def command(session: Session) -> str:
            child, receipt = session.fork(
                leaf=leaf,
                fork_id=fork_id,
                child_id=child_id,
                at=basis,
                inherit=inherit,
                title=title,
                directory=directory,
                **meta,
            )
            if child is not None:
                return child.id
            (event,) = self.tapes.events_at(receipt.session_id, [receipt.position])
            existing: str = event.body.child
            return existing

        return self.get(self.execute(session_id, command, expected_position=expected_position))

    def _basis(self, session_id: str, at: int) -> State:
        check_id(session_id, "session_id")
        check_position(at, "at=")
        return load_basis(self.tapes, session_id, at, self._bases)

    # -- loading ---------------------------------------------------------------------------

    def get(self, session_id: str) -> Session:
        """A private instance of a session, to decide on and to `save`."""
        check_id(session_id, "session_id")
        state, basis = self._newest(session_id)
        return Session.of_state(state, basis, defaults=self.defaults, tapes=self.tapes)

    def _newest(self, session_id: str) -> tuple[State, State | None]:
        """A copy of a session's state as the tape has it, and its basis."""
        lock = self._warm.lock(session_id)
        # A command holds the store's write lock, for which the holder of this lock may be
        # waiting. So a command that looks at a session does not wait, but folds its tape.
        if lock.acquire(blocking=get_ident() not in self._deciding):
            try:
                warm = self._current(session_id)
                if not warm.pending_events:
                    return warm.state.copy(), warm.basis
            finally:
                lock.release()
        cold, _ = self._load(session_id)
        return cold.state, cold.basis

    def _load(self, session_id: str) -> tuple[Session, int]:
        """A session from its tape, and the mark of its last row."""
        tapes = MarkedTapes(self.recorder, self.mapper)
        state = load_state(tapes, session_id, None, self._bases)
        basis = None
        origin = state.origin
        if origin is not None and origin.inherit:
            basis = self._basis(origin.session_id, origin.position)
        session = Session.of_state(state, basis, defaults=self.defaults, tapes=self.tapes)
        return session, tapes.ends[session_id]

    def _current(self, session_id: str) -> Session:
        """The cached session, fast-forwarded. Called under its lock."""
        warm = self._warm.get(session_id)
        if warm is None:
            session, mark = self._load(session_id)
        else:
            rows = self.recorder.iter_events(session_id, gt=warm[0].version - 1)
            session, mark = self._catch_up(*warm, rows)
        self._warm.put(session, mark)
        return session

    def _catch_up(
        self, session: Session, mark: int, rows: Iterable[EventRow]
    ) -> tuple[Session, int]:
        """Apply what others have appended. `rows`: the last one that the session knows, and what
        follows it. If that one is another by now, the store was restored: load the session anew.
        """
        head_of, apply = self.mapper.head_of, session.state.apply_head
        known, last = session.version, None
        try:
            for row in rows:
                position, topic, state = row
                if last is None and (position != known or mark_of(row) != mark):
                    break
                if last is not None:
                    apply(position, head_of(topic, state, session.id, position))
                last = row
        except BaseException:
            self._spend([session])
            raise
        if last is None:
            self._warm.evict(session.id)
            return self._load(session.id)
        return session, mark if last[0] == known else mark_of(last)

    def _state(self, session_id: str, at: int | None) -> State:
        check_id(session_id, "session_id")
        if at is None:
            return self._newest(session_id)[0]
        check_position(at, "at=")
        if at < 1:
            last = self.recorder.stream_version(session_id)
            if not last:
                raise SessionNotFound(session_id)
            raise PositionOutOfRange(session_id, at, last)
        return load_state(self.tapes, session_id, at, self._bases)

    # -- reading ---------------------------------------------------------------------------

    def view(
        self,
        session_id: str,
        *,
        leaf: LeafRef = LEAF,
        at: int | None = None,
        include_pending: bool = False,
    ) -> View:
        """What a session says, at any leaf and any past position."""
        return build_view(self._state(session_id, at), self.tapes, leaf, include_pending)

    def context(
        self,
        session_id: str,
        *,
        policy: Policy | str = "anchored",
        leaf: LeafRef = LEAF,
        at: int | None = None,
    ) -> Context:
        """What a model is sent, with the manifest."""
        return build_context(self.view(session_id, leaf=leaf, at=at), policy)

    def tree(self, session_id: str, *, leaf: LeafRef = LEAF, at: int | None = None) -> Outline:
        """Every entry of a session, what it inherits included."""
        from .domain.outline import build_outline  # late: few programs draw trees

        return build_outline(self._state(session_id, at), self.tapes, leaf)

    def state(self, session_id: str, *, at: int | None = None) -> State:
        """The kernel's state of a session; a copy."""
        return self._state(session_id, at)

    def tape(self, session_id: str, *, gt: int = 0, lte: int | None = None) -> Iterator[Event]:
        """The events of a session's own tape, in order. Raises `SessionNotFound`."""
        check_id(session_id, "session_id")
        check_position(gt, "gt=")
        if lte is not None:
            check_position(lte, "lte=")
        if self.tapes.first_head(session_id) is None:
            raise SessionNotFound(session_id)
        return self.tapes.events(session_id, gt, lte)

    def heads(self, session_id: str) -> Iterator[tuple[int, Head]]:
        """(position, head) of a session's own tape; empty where there is none."""
        return self.tapes.heads(session_id)

    def sessions(self) -> Iterator[SessionInfo]:
        """Every session of the store, the one with the newest event first."""
        for stream in self.tapes.streams():
            yield self.info(stream.session_id)

    def info(self, session_id: str) -> SessionInfo:
        """What a list shows of one session. Folds its heads."""
        check_id(session_id, "session_id")
        state = load_state(self.tapes, session_id, None, self._bases)
        first, last = self._ends(session_id, state.position)
        title = None
        if state.name is not None and not state.name.cleared:
            title = self._body_at(state, state.name.seq).title
        directory = None
        if state.info is not None:
            directory = self._body_at(state, state.info.seq).directory
        origin = state.origin
        return SessionInfo(
            session_id=session_id,
            position=state.position,
            title=title,
            directory=directory,
            created=first.timestamp,
            last_activity=last.timestamp,
            messages=state.own_messages(),
            leaf=state.leaf,
            parent=None if origin is None else origin.session_id,
            parent_position=None if origin is None else origin.position,
        )

    def _ends(self, session_id: str, position: int) -> tuple[Event, Event]:
        found = {e.position: e for e in self.tapes.events_at(session_id, [1, position])}
        if not {1, position} <= found.keys():
            raise TapefoldError(
                f"session {session_id!r}: its tape is another one than a moment ago; the store was "
                "restored meanwhile, so read it again"
            )
        return found[1], found[position]

    def _body_at(self, state: State, seq: int) -> Any:
        session_id, position = state.locate(seq)
        (event,) = self.tapes.events_at(session_id, [position])
        return event.body


def _with_families(sessions: list[Session]) -> list[Session]:
    """The sessions and their unsaved children, each once. Refuses a child without its parent."""
    family = {id(one): one for one in sessions}
    for session in sessions:
        family |= {id(child): child for child in session.unsaved_children()}
    for session in family.values():
        parent = session.unsaved_parent()
        if parent is not None and id(parent) not in family:
            raise InvalidValue(
                f"session {session.id!r} is a fork of {parent.id!r}, which holds its receipt "
                "unsaved; save the parent, and the fork is saved with it"
            )
    return list(family.values())


def load_session(repository: Any, session_id: str, *, defaults: Defaults | None = None) -> Session:
    """A session out of a foreign application's repository, with the basis that a fork needs.

    `repository`: the application's `repository`. Raises `SessionNotFound`, `BasisMissing`.
    """
    from .loading import RepositoryTapes

    tapes = RepositoryTapes(repository)
    bases = Bases()
    state = load_state(tapes, session_id, None, bases)
    basis = None
    if state.origin is not None and state.origin.inherit:
        basis = bases.get(state.origin.session_id, state.origin.position)
    return Session.of_state(state, basis, defaults=defaults, tapes=tapes)
