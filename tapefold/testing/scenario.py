"""Given a session, when a command is run, then these events; no store, no I/O.

given().user("hi", id="q").when(lambda s: s.finalize("assistant", "hello", under="q")).then(
    event("message_finalized", role="assistant", content="hello", parent_id="q")
)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Self

from ..domain.context import Context
from ..domain.drafts import Draft
from ..domain.errors import TapefoldError
from ..domain.events import Event
from ..domain.identifiers import Defaults
from ..domain.kernel import State
from ..domain.outcome import Outcome
from ..domain.policies import Policy
from ..domain.session import Session
from ..domain.tree import LEAF, LeafRef
from ..domain.view import View
from .defaults import counted_defaults
from .expected import Expectation, difference
from .script import Script
from .tape import Tape

Command = Callable[[Session], Any]
"""A callable on the session, as `Sessions.execute` takes it."""


def given(
    start: Tape | Iterable[Event | Draft] | None = None,
    /,
    *,
    session_id: str = "s",
    defaults: Defaults | None = None,
) -> Given:
    """A session to run commands on: a scripted tape, events or drafts, or (nothing) a new one.

    A tape is copied: what is chained here does not reach it. Events and drafts are written at
    the positions 1, 2, 3 … of `session_id`. What a session of events lacks is not made up:
    their first is the `SessionStarted`. `defaults` replaces the counted ids and the clock that
    stands still.
    """
    if isinstance(start, Tape):
        return Given(start.copy(), defaults)
    if start is None:
        return Given(Tape(session_id), defaults)
    tape = Tape(session_id, start=False)
    for one in start:
        tape.append(one)
    return Given(tape, defaults)


class Given:
    """A session before the command. Every scripting method of `Tape` can be chained on it:
    `given().user("hi").assistant("hello", calls=["c1"]).retract("e1")`."""

    def __init__(self, tape: Tape, defaults: Defaults | None = None) -> None:
        self.tape = tape
        self._defaults = defaults

    def __getattr__(self, name: str) -> Callable[..., Given]:
        if name.startswith("_") or not callable(getattr(Script, name, None)):
            raise AttributeError(f"{name!r} is no scripting method of a Tape")

        def chained(*args: Any, **fields: Any) -> Given:
            getattr(self.tape, name)(*args, **fields)
            return self

        return chained

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(n for n in dir(Script) if not n.startswith("_"))]

    def command(self, *commands: Command) -> Self:
        """Run commands that belong to what is given. Their errors are the caller's."""
        for command in commands:
            session = self._session()
            command(session)
            for event in session.pending_events:
                self.tape.append(event)
        return self

    def when(
        self, command: Command, *, executed: bool = False, expected_position: int | None = None
    ) -> Then:
        """Run the command. `executed` or `expected_position`: as `Sessions.execute` runs it,
        where an assistant message has to say `under=` unless the position is given."""
        session = self._session()
        outcome: Any = None
        error: BaseException | None = None
        try:
            session.expect(expected_position)
            session.require_under(executed and expected_position is None)
            outcome = command(session)
        except Exception as raised:  # kept: then_raises looks at it, all else raises it again
            error = raised
        return Then(self.tape, session, outcome, error, self._defaults)

    def _session(self) -> Session:
        return self.tape.session(defaults=self._defaults or counted_defaults(self.tape.made + 1))


class Then:
    """A session after the command."""

    def __init__(
        self,
        tape: Tape,
        session: Session,
        outcome: Any,
        error: BaseException | None,
        defaults: Defaults | None,
    ) -> None:
        self.tape = tape
        self.session = session
        self.events: tuple[Event, ...] = session.pending_events
        """The events that the command appended."""
        self._outcome = outcome
        self._error = error
        self._defaults = defaults

    def _succeeded(self) -> None:
        if self._error is not None:
            raise self._error

    # -- what the command wrote ------------------------------------------------------------

    def then(self, *expected: Expectation) -> Self:
        """Exactly these events were appended, in this order, at the next positions."""
        __tracebackhide__ = True
        self._succeeded()
        differs = difference(expected, self.events)
        if differs is not None:
            raise AssertionError(f"other events than expected\n{differs}")
        positions = [event.position for event in self.events]
        first = self.tape.position + 1
        if positions != list(range(first, first + len(positions))):
            raise AssertionError(f"positions {positions} do not follow {self.tape.position}")
        return self

    def then_nothing(self) -> Self:
        """The command succeeded and appended nothing."""
        return self.then()

    def then_raises(self, error: type[BaseException] = TapefoldError, match: str = "") -> Self:
        """The command raised this error, `match` (a regular expression) is in its text, and
        nothing was appended."""
        __tracebackhide__ = True
        if self._error is None:
            shown = difference((), self.events) or "and appended nothing"
            raise AssertionError(f"expected {error.__name__}, but the command succeeded\n{shown}")
        if not isinstance(self._error, error):
            raise self._error
        if not re.search(match, str(self._error)):
            raise AssertionError(f"{match!r} is not in the error's text: {self._error}")
        differs = difference((), self.events)
        if differs is not None:
            raise AssertionError(f"the command raised, but appended events\n{differs}")
        return self

    def then_outcome(self, **fields: Any) -> Self:
        """The outcome's fields are equal (`changed`, `hidden`, `entry_id`, `text` …);
        `warnings` are compared by their codes."""
        __tracebackhide__ = True
        outcome = self.outcome
        for name, wanted in fields.items():
            found = getattr(outcome, name)
            if name == "warnings":
                found = [warning.code for warning in found]
            if found != wanted:
                raise AssertionError(f"outcome: {name} is {found!r}, not {wanted!r}")
        return self

    @property
    def outcome(self) -> Outcome:
        """What the command answered: an `Outcome`, or whatever the callable gives."""
        self._succeeded()
        answer: Outcome = self._outcome
        return answer

    @property
    def error(self) -> BaseException | None:
        """What the command raised."""
        return self._error

    # -- the session afterwards ------------------------------------------------------------

    @property
    def state(self) -> State:
        """The kernel's state."""
        return self.session.state

    def view(self, leaf: LeafRef = LEAF, *, include_pending: bool = False) -> View:
        """The view after the command."""
        self._succeeded()
        return self.session.view(leaf, include_pending=include_pending)

    def context(self, policy: Policy | str = "anchored", leaf: LeafRef = LEAF) -> Context:
        """The context after the command."""
        self._succeeded()
        return self.session.context(policy, leaf)

    def children(self) -> list[Session]:
        """The sessions that the command forked off."""
        self._succeeded()
        return list(self.session.take_born())

    @property
    def given(self) -> Given:
        """What is given for a next command: all so far."""
        self._succeeded()
        tape = self.tape.copy()
        for event in self.events:
            tape.append(event)
        return Given(tape, self._defaults)

    def when(self, command: Command, **how: Any) -> Then:
        """A next command, on the session as it is now."""
        return self.given.when(command, **how)
