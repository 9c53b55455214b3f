"""Later versions of a message, striking messages out, and bringing them back."""

import pytest

from tapefold.domain.errors import InvalidValue, MessageStruck, UnknownMessage, WrongKind


@pytest.fixture
def talk(session):
    """u1 - a1 - u2 - a2."""
    for role, message_id, text in [
        ("user", "u1", "Wood?"),
        ("assistant", "a1", "Oak."),
        ("user", "u2", "How thick?"),
        ("assistant", "a2", "12 mm."),
    ]:
        session.finalize(role, text, message_id=message_id)
    return session


def test_a_revision_shows_at_the_place_of_the_first_version(talk, said):
    talk.revise("u1", "Which wood?", reason="clearer")
    assert said(talk) == ["Which wood?", "Oak.", "How thick?", "12 mm."]
    assert talk.pending_events[-1].body.reason == "clearer"


def test_a_revision_is_the_whole_message_not_a_patch(session):
    session.finalize("assistant", "Oak.", message_id="a", model="oak-2", usage={"input": 1})
    session.revise("a", "Beech.")
    body = session.view().messages[0].body
    assert (body.model, body.usage) == (None, None)


def test_a_revision_may_end_in_an_error(talk):
    talk.revise("a1", "Oak.", status="error", error="cut off")
    assert talk.view().messages[1].status == "error"


def test_a_draft_is_no_status_of_a_revision(talk):
    with pytest.raises(InvalidValue, match="sent or error"):
        talk.revise("a1", "Oak.", status="pending")


def test_an_unfinished_draft_is_finalized_not_revised(session):
    session.draft("assistant", "Oa", message_id="a")
    with pytest.raises(WrongKind, match="finalize it"):
        session.revise("a", "Oak.")


def test_a_struck_message_is_not_revised(talk):
    talk.retract("a1")
    with pytest.raises(MessageStruck, match="restore it first"):
        talk.revise("a1", "Beech.")


def test_a_retracted_message_is_gone_and_the_others_stay(talk, said):
    talk.retract("u2", reason="a slip")
    assert said(talk) == ["Wood?", "Oak.", "12 mm."]
    assert talk.pending_events[-1].body.reason == "a slip"


def test_several_messages_are_struck_out_by_one_event(talk, said):
    before = talk.version
    talk.retract(["a1", "u2"])
    assert talk.version == before + 1
    assert said(talk) == ["Wood?", "12 mm."]


def test_a_message_is_struck_out_on_every_branch(talk, said):
    talk.finalize("assistant", "Other", under="u1", message_id="b")
    talk.retract("u1")
    assert said(talk) == ["Oak.", "How thick?", "12 mm."]
    assert said(talk, leaf="b") == ["Other"]


def test_retracting_what_is_unknown_strikes_nothing_out(talk, said):
    with pytest.raises(UnknownMessage, match="'zz'"):
        talk.retract(["u1", "zz"])
    assert len(said(talk)) == 4


def test_retract_from_strikes_out_a_message_and_all_that_follows(talk, said):
    talk.retract_from("a1")
    assert said(talk) == ["Wood?"]


def test_retract_from_leaves_other_branches_alone(talk, said):
    talk.finalize("user", "Glue?", under="a1", message_id="side")
    talk.retract_from("u2")
    assert said(talk, leaf="side") == ["Wood?", "Oak.", "Glue?"]


def test_retract_from_asks_for_an_entry_on_the_path(talk):
    talk.finalize("user", "Glue?", under="a1", message_id="side")
    with pytest.raises(WrongKind, match="not on the path"):
        talk.retract_from("side")


def test_retract_from_an_entry_with_no_message_below_changes_nothing(talk):
    made = talk.set_model("oak-3")
    assert not talk.retract_from(made.entry_id).changed


def test_a_restored_message_shows_as_it_was(talk, said):
    talk.retract("a1")
    talk.restore("a1")
    assert said(talk) == ["Wood?", "Oak.", "How thick?", "12 mm."]


def test_restoring_brings_back_the_newest_version(talk, said):
    talk.revise("a1", "Beech.")
    talk.retract("a1")
    talk.restore("a1")
    assert said(talk)[1] == "Beech."


def test_restoring_a_message_that_is_not_struck_is_refused(talk):
    with pytest.raises(WrongKind, match="not struck out"):
        talk.restore("a1")


def test_restore_is_never_a_no_op(talk):
    for _ in range(2):
        talk.retract("a1")
        assert talk.restore("a1").changed


def test_after_a_restore_a_message_is_revised_and_struck_out_again(talk, said):
    talk.retract("a1")
    talk.restore("a1")
    talk.revise("a1", "Beech.")
    assert said(talk)[1] == "Beech."
    talk.retract("a1")
    assert "Beech." not in said(talk)


def test_a_restore_says_who_restored_not_who_wrote(session):
    """The content is copied; actor, trace ids and source belong to the event that copies it."""
    session.finalize("user", "Oak?", message_id="u", actor="ada", trace_id="t1", source="backfill")
    session.retract("u")
    session.restore("u", actor="bea", source="repair")
    body = session.pending_events[-1].body
    assert (body.actor, body.trace_id, body.source) == ("bea", None, "repair")
    session.retract("u")
    session.restore("u")
    body = session.pending_events[-1].body
    assert (body.actor, body.trace_id, body.source) == (None, None, None)


def test_a_restore_copies_calls_and_their_results_show_again(session):
    session.finalize(
        "assistant", [{"type": "tool_call", "call_id": "c", "name": "saw"}], message_id="a"
    )
    session.finalize("tool_result", "sawn", for_call="c", message_id="r")
    session.retract("a")
    assert session.view().messages == ()
    session.restore("a")
    assistant, result = session.view().messages
    assert assistant.calls[0].result.message_id == result.message_id == "r"
