"""A message that the user struck out does not come back because a stream finished late."""

import pytest

from tapefold.domain.errors import MessageStruck


@pytest.fixture
def struck(session):
    """A question, and an answer that was struck out while it was still being written."""
    session.finalize("user", "How thick?", message_id="u")
    session.draft("assistant", "About", message_id="a")
    session.retract("a")
    return session


def test_a_running_draft_may_still_be_finalised_but_stays_struck(struck, said):
    late = struck.finalize("assistant", "About 12 mm", message_id="a")
    assert late.changed
    assert late.hidden
    assert said(struck) == ["How thick?"]
    assert said(struck, include_pending=True) == ["How thick?"]


def test_a_struck_draft_goes_on_streaming_unseen(struck, said):
    assert struck.draft("assistant", "About 12", message_id="a").hidden
    assert said(struck, include_pending=True) == ["How thick?"]


def test_the_late_version_is_what_a_restore_brings_back(struck, said):
    struck.finalize("assistant", "About 12 mm", message_id="a")
    assert not struck.restore("a").hidden
    assert said(struck) == ["How thick?", "About 12 mm"]


def test_a_late_delivery_that_comes_twice_is_one(struck):
    struck.finalize("assistant", "About 12 mm", message_id="a")
    again = struck.finalize("assistant", "About 12 mm", message_id="a")
    assert not again.changed
    assert again.hidden


def test_a_struck_message_that_is_final_takes_no_other_content(struck):
    struck.finalize("assistant", "About 12 mm", message_id="a")
    with pytest.raises(MessageStruck):
        struck.finalize("assistant", "About 13 mm", message_id="a")


def test_what_was_struck_out_before_does_not_compete_after_a_restore(session, said):
    session.finalize("assistant", "Oak.", message_id="a")
    session.revise("a", "Beech.")
    session.retract("a")
    session.restore("a")
    assert said(session) == ["Beech."]


def test_a_struck_draft_that_is_restored_is_a_draft_again(struck, said):
    struck.restore("a")
    assert said(struck) == ["How thick?"]
    assert said(struck, include_pending=True) == ["How thick?", "About"]
    struck.finalize("assistant", "About 12 mm", message_id="a")
    assert said(struck) == ["How thick?", "About 12 mm"]


def test_a_call_fact_that_comes_late_does_not_bring_a_struck_message_back(struck, said):
    late = struck.record_call("a", "c", "measure")
    assert late.changed
    assert late.hidden
    assert said(struck) == ["How thick?"]
