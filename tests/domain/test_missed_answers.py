"""The warning that an answer is not on the path: when a user would miss it, and only then."""

from __future__ import annotations

from tapefold import Session


def codes(session: Session) -> list[str]:
    return [warning.code for warning in session.view().warnings]


def test_a_draft_that_a_fork_leaves_behind_is_missed_when_it_becomes_final_in_the_fork():
    parent = Session.start("p")
    parent.finalize("user", "q")
    parent.draft("assistant", "so far", message_id="a")
    child, _ = parent.fork()
    assert child is not None
    child.tapes = _Tape(parent)
    child.finalize("assistant", "done", message_id="a")
    assert codes(child) == ["answer_off_path"]


class _Tape:
    def __init__(self, session: Session) -> None:
        self.events = {event.position: event for event in session.pending_events}

    def events_at(self, session_id, positions):
        return [self.events[position] for position in positions]


def test_a_revision_of_an_answer_that_was_left_on_purpose_is_not_missed():
    session = Session.start("s")
    question = session.finalize("user", "q")
    first = session.finalize("assistant", "a1")
    session.move_leaf(question.entry_id)
    session.finalize("assistant", "a2")
    session.revise(first.message_id or "", "a1, better")
    assert codes(session) == []
