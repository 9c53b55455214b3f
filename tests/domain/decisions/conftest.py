"""What the decision tests share: a session with ids and times that count up, and how it reads."""

from itertools import count

import pytest

from tapefold.domain.content import plain_text
from tapefold.domain.identifiers import Defaults
from tapefold.domain.session import Session


@pytest.fixture
def defaults():
    """Entry ids e1, e2 …, session ids s1, s2 …, times t1, t2 …"""
    entries, sessions, times = count(1), count(1), count(1)
    return Defaults(
        new_session_id=lambda: f"s{next(sessions)}",
        new_entry_id=lambda: f"e{next(entries)}",
        now=lambda: f"t{next(times)}",
    )


@pytest.fixture
def session(defaults):
    """A new session `s`; nothing was said yet."""
    return Session.start("s", defaults=defaults)


@pytest.fixture
def said():
    """The texts that a session shows, in the order of its view."""

    def texts(session, **options):
        return [plain_text(m.content) for m in session.view(**options).messages]

    return texts


@pytest.fixture
def kinds():
    """The kinds of the events that a session has triggered."""

    def kinds_of(session):
        return [event.head.kind for event in session.pending_events]

    return kinds_of


@pytest.fixture
def sent():
    """The (kind, text) of the rows that a model would be sent."""

    def rows(session, policy="anchored", **options):
        context = session.context(policy, **options)
        return [(row.kind, plain_text(row.content)) for row in context.rows]

    return rows


@pytest.fixture
def codes():
    """The codes of the warnings that a command answered."""

    def codes_of(outcome):
        return [warning.code for warning in outcome.warnings]

    return codes_of
