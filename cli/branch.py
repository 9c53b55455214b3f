"""`tapefold branch`: go on from another entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import IO, TYPE_CHECKING

import click

from .answers import decide, print_answer, reason_option
from .options import entry_argument, json_option, session_argument
from .summaries import Summary, print_covered, summary_options

if TYPE_CHECKING:
    from tapefold import Session, Sessions
    from tapefold.domain.kernel import State
    from tapefold.domain.nodes import AnyNode
    from tapefold.domain.outcome import Outcome


@click.command("branch")
@session_argument
@entry_argument
@click.option(
    "--before",
    is_flag=True,
    help="Go to the entry before it: to ask a question anew, which is printed.",
)
@summary_options
@click.option(
    "--show-abandoned",
    is_flag=True,
    help="Only print what a summary should cover: what is left, down from the common ancestor.",
)
@reason_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    entry: str,
    before: bool,
    summary: str | None,
    file: IO[bytes] | None,
    asked: str | None,
    made_at: int | None,
    show_abandoned: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    """Move the leaf to an entry.

    What is appended next hangs under it; `none` is the root. Nothing is lost: the branch that
    is left stays in the tree. A summary of it becomes an entry of the new branch, which the
    model is sent.
    """
    from .covered import abandoned, abandoned_entries
    from .named import named_session
    from .stores import open_sessions

    told = Summary(summary, file, asked, made_at)
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        place = Place(sessions, state, entry, before)
        if show_abandoned:
            told.alone()
            print_covered(abandoned(state, sessions.tapes, place.goal), as_json)
            return
        left = len(abandoned_entries(state, place.goal))
        if told:
            done = decide(sessions, session_id, _summarised(sessions, state, place, told, reason))
        else:
            done = decide(sessions, session_id, lambda s: place.move(s, reason))
    notes = [f"the leaf is {done.leaf or 'none'}"] if done.outcome.entry_id != done.leaf else []
    if left:
        from .words import count

        notes.append(f"left: {count(left, 'entry').replace('entrys', 'entries')}")
    text = done.outcome.text
    if text:
        notes.append(f"it asked: {text}")
    print_answer(done, as_json, notes, {"text": text})


class Place:
    """Where the leaf is to go: to an entry, or (`before`) to the one above it."""

    def __init__(self, sessions: Sessions, state: State, reference: str, before: bool) -> None:
        from tapefold.domain.tree import require_entry
        from tapefold.finding import find_entry

        found = find_entry(sessions, state, reference)
        self.before = before
        self.node: AnyNode | None = None if found is None else require_entry(state, found)
        if before and self.node is None:
            raise click.UsageError("nothing is before the root; leave --before out")
        self.goal = self._goal(state)

    def _goal(self, state: State) -> str | None:
        """The entry that becomes the leaf; None: no leaf."""
        from tapefold.domain.tree import entry_of

        if self.node is None:
            return None
        if not self.before:
            return self.node.entry_id
        parent = None if self.node.parent_id is None else state.entry(self.node.parent_id)
        return None if parent is None else entry_of(parent)

    def move(self, session: Session, reason: str | None) -> Outcome:
        """Move the leaf there."""
        from tapefold.domain.nodes import MessageNode
        from tapefold.domain.tree import require_message

        if self.before and isinstance(self.node, MessageNode):
            message_id = self.node.message_id
            if require_message(session.state, message_id).latest.role == "user":
                return session.move_leaf_before(message_id, reason=reason)
        return session.move_leaf(self.goal, reason=reason)


def _summarised(
    sessions: Sessions, state: State, place: Place, told: Summary, reason: str | None
) -> Callable[[Session], Outcome]:
    """Moving the leaf with a summary of what is left. A command is asked for it here, before."""
    from tapefold.domain.errors import StaleSummary, WrongKind

    from .covered import abandoned, abandoned_entries, what_was_left

    def require_some(now: State) -> None:
        if not abandoned_entries(now, place.goal):
            raise WrongKind(
                f"session {state.session_id!r}: no entry is left by going to "
                f"{place.goal or 'the root'}, so there is nothing to summarise; "
                "leave the summary out"
            )

    require_some(state)
    covered = abandoned(state, sessions.tapes, place.goal)
    text = told.written(covered)
    at = told.stood_at(covered)
    then = state
    if at is not None and at != state.position:
        then = sessions.state(state.session_id, at=at)
    seen = None if at is None else what_was_left(then, place.goal)

    def move(session: Session) -> Outcome:
        require_some(session.state)
        if seen is not None and what_was_left(session.state, place.goal) != seen:
            raise StaleSummary(
                f"session {session.id!r}: what is left has changed after position {at}; "
                "the summary does not tell of it, summarise anew"
            )
        left = session.state.leaf
        assert left is not None
        moved = place.move(session, reason)
        outcome = session.summarize_branch(left, text)
        return replace(outcome, text=moved.text)

    return move
