"""The connections of one SQLite store: one that writes, some that read, and what a fork does."""

from __future__ import annotations

import os
from threading import Condition, get_ident

from eventsourcing.sqlite import SQLiteConnectionPool

from tapefold.persistence.commit_signal import CommitSignal
from tapefold.persistence.errors import NestedWrite, StoreBusy, StoreClosed
from tapefold.persistence.fork_watch import watch_forks
from tapefold.persistence.sqlite_address import StoreAddress
from tapefold.persistence.sqlite_connection import StoreConnection, forked
from tapefold.persistence.sqlite_opening import StoreOpener
from tapefold.persistence.turn import Deadline, Turn

# How long a close, or a fork, waits for a transaction of another thread, in seconds.
PATIENCE = 5.0


class StorePool(SQLiteConnectionPool):
    """A pool with one writing connection, given in turn, and a stack of reading ones.

    A store in memory has a single connection, for which all take turns: SQLite's shared cache
    locks whole tables, and does not wait for them.

    The library's pool makes readers queue behind waiting writers, waits five seconds whatever the
    lock timeout is, and has no answer to a fork.
    """

    def __init__(
        self,
        address: StoreAddress,
        *,
        busy_timeout: float,
        pool_size: int,
        max_overflow: int,
        create: bool,
        create_parents: bool,
    ) -> None:
        super().__init__(
            db_name=address.uri,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=busy_timeout,
        )
        self.address = address
        self.commits = CommitSignal()
        self._opener = StoreOpener(address, create=create, create_parents=create_parents)
        self._writer: StoreConnection | None = None
        self._writer_depth = 0
        self._write_depth = 0  # at which depth the write began, 0: nobody writes
        self._opening = 0
        self._turn = Turn()
        self._pid = os.getpid()
        self._is_forking = False
        self._holds_turn = False
        self._is_clean = True
        self._was_torn = False
        watch_forks(self)

    # ------------------------------------------------------------------------- borrowing

    def get_connection(
        self, timeout: float | None = None, *, is_writer: bool | None = None
    ) -> StoreConnection:
        """Lend a connection; waits up to `timeout` seconds (default: the busy timeout).

        Raises StoreBusy, StoreClosed, StoreForked, NestedWrite, or what opening raises.
        """
        deadline = Deadline(self.pool_timeout if timeout is None else timeout)
        if self._pid != os.getpid():
            # A fork that Python knew nothing of, so nothing could be closed before it.
            self.start_anew(torn=bool(self._writer or self._pool or self._in_use))
        if is_writer or self.address.is_memory:
            return self._lend_writer(deadline, writes=bool(is_writer))
        return self._lend_reader(deadline)

    def put_connection(self, conn: object) -> None:
        """Take a connection back."""
        if not isinstance(conn, StoreConnection):
            raise TypeError(f"not a connection of this pool: {conn!r}")
        if conn is self._writer:
            self._take_writer_back(conn)
        else:
            self._take_reader_back(conn)

    def _lend_writer(self, deadline: Deadline, *, writes: bool) -> StoreConnection:
        if not self._turn.is_mine():
            if not self._turn.acquire(deadline.seconds):  # it has only just begun
                raise self._busy(deadline, "another thread of this process is writing")
        elif writes and self._write_depth:
            raise NestedWrite(
                self.address.shown,
                "this thread is writing already, and would wait for itself",
                "end that transaction first, or write inside it",
            )
        self._writer_depth += 1
        try:
            self._check_usable()  # it may have been closed while we waited
            conn = self._writer
            if conn is None:
                conn = self._writer = self._create_connection(writes=True)
        except BaseException:
            self._leave_turn()
            raise
        if writes:
            self._write_depth = self._writer_depth
            conn.deadline = deadline
        return conn

    def _take_writer_back(self, conn: StoreConnection) -> None:
        if conn.closed or (self._closed and self._writer_depth == 1):
            if not conn.closed:
                conn.close()
            self._writer = None
        self._leave_turn()

    def _leave_turn(self) -> None:
        if self._writer_depth == self._write_depth:
            self._write_depth = 0
        self._writer_depth -= 1
        if self._writer_depth == 0:
            self._turn.release()

    def _lend_reader(self, deadline: Deadline) -> StoreConnection:
        with self._put_condition:
            while self._is_forking or self._is_use_full:
                if not self._put_condition.wait(deadline.left()) and deadline.left() == 0:
                    raise self._busy(deadline, f"all {self._num_in_use} readers are in use")
            self._check_usable()
            if self._pool:
                conn = self._pool.pop()  # the one used last has the warmest cache
                assert isinstance(conn, StoreConnection)
                self._note_reader(conn)
                return conn
            self._opening += 1
        try:
            conn = self._create_connection()
        except BaseException:
            with self._put_condition:
                self._opening -= 1
                self._put_condition.notify()
            raise
        with self._put_condition:
            self._opening -= 1
            self._note_reader(conn)
        return conn

    def _note_reader(self, conn: StoreConnection) -> None:
        conn.borrower = get_ident()
        self._in_use[id(conn)] = conn

    @property
    def _num_in_use(self) -> int:
        return len(self._in_use) + self._opening

    def _take_reader_back(self, conn: StoreConnection) -> None:
        with self._put_condition:
            known = self._in_use.pop(id(conn), None)
            if known is None:
                return  # lent before a fork, so it is the parent's
            if not conn.closed:
                if self._closed or self._is_pool_full:
                    conn.close()
                else:
                    self._pool.append(conn)
            self._put_condition.notify()

    # --------------------------------------------------------------------------- opening

    def _create_connection(self, *, writes: bool = False) -> StoreConnection:
        return self._opener.open(busy_timeout=self.pool_timeout, writes=writes)

    # --------------------------------------------------------------------------- closing

    def close(self) -> None:
        """Close all connections; those in use when they are given back. May be called twice.

        Waits a while for a transaction of another thread, so that it is not torn.
        """
        with self._put_condition:
            if self._closed:
                return
            self._closed = True
            for conn in self._pool:
                conn.close()
            self._pool.clear()
            self._put_condition.notify_all()
        self.commits.wake()
        if self._turn.is_mine() or not self._turn.acquire(PATIENCE):
            return
        try:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        finally:
            self._turn.release()

    def let_go(self) -> None:
        """Close the connections that nobody uses; the next use opens the file anew.

        A store in memory would end with its connection, and keeps it.
        """
        if self.address.is_memory:
            return
        with self._put_condition:
            while self._pool:
                self._pool.pop().close()
        if self._turn.is_mine() or not self._turn.acquire(PATIENCE):
            return
        try:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
        finally:
            self._turn.release()

    def _check_usable(self) -> None:
        if self._was_torn:
            raise forked(self.address)
        if self._closed:
            raise StoreClosed(
                self.address.shown,
                "it is closed",
                "keep a reference to the application that owns it as long as it is used",
            )

    def _busy(self, deadline: Deadline, problem: str) -> StoreBusy:
        return StoreBusy(
            self.address.shown,
            f"{problem}, waited {deadline.seconds:g} s",
            "try again, or raise SQLITE_LOCK_TIMEOUT",
        )

    # --------------------------------------------------------------------------- forking

    def prepare_fork(self) -> None:
        """Before a fork: close what nobody uses, and keep others from opening more.

        A child must not inherit open connections, even if it opens its own: SQLite keeps the
        locks of a process on a file in one place in memory, which the child inherits, while the
        locks themselves stay with the parent. The child would believe to hold locks that it does
        not, and another process could delete the write-ahead log under it: acknowledged appends
        would be lost (tried). So all connections are closed, and opened again when needed.
        """
        patience = Deadline(PATIENCE)
        mine = self._turn.is_mine()
        self._holds_turn = not mine and self._turn.acquire(patience.left())
        with self._put_condition:
            self._is_forking = True
            while self._others_read() and patience.left() > 0:
                self._put_condition.wait(patience.left())
            self._is_clean = self._holds_turn and not self._num_in_use
        # A store in memory would end with its connection; it has no file and no locks to confuse.
        if not self.address.is_memory:
            self._close_idle()

    def _others_read(self) -> bool:
        mine = get_ident()
        lent = (conn for conn in self._in_use.values() if isinstance(conn, StoreConnection))
        return bool(self._opening) or any(conn.borrower != mine for conn in lent)

    def _close_idle(self) -> None:
        with self._put_condition:
            while self._pool:
                self._pool.pop().close()
        if self._holds_turn and self._writer is not None:
            self._writer.close()
            self._writer = None

    def continue_parent(self) -> None:
        """After a fork, in the parent."""
        with self._put_condition:
            self._is_forking = False
            self._put_condition.notify_all()
        if self._holds_turn:
            self._holds_turn = False
            self._turn.release()

    def start_anew(self, *, torn: bool) -> None:
        """After a fork, in the child: nothing of the parent's is used or closed."""
        inherited = [*self._in_use.values(), *self._pool]
        if self._writer is not None and (torn or not self.address.is_memory):
            inherited.append(self._writer)
            self._writer = None
        for conn in inherited:
            assert isinstance(conn, StoreConnection)
            conn.disown()
        if torn:
            self._opener.give_up()
        self._pid = os.getpid()
        self._was_torn = self._was_torn or torn
        self._in_use = {}
        self._opening = 0
        self._pool.clear()
        self._put_condition = Condition()
        self._turn = Turn()
        self._writer_depth = 0
        self._write_depth = 0
        self._is_forking = False
        self.commits = CommitSignal()

    def continue_child(self) -> None:
        """After a fork, in the child."""
        self._holds_turn = False
        self.start_anew(torn=not self._is_clean)
