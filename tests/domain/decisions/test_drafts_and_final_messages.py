"""Drafts hold a message's place; the first final version ends them."""

import pytest

from tapefold.domain.errors import DuplicateId, InvalidValue, WrongKind


def test_a_draft_shows_only_where_drafts_are_asked_for(session, said):
    session.finalize("user", "How long?")
    session.draft("assistant", "About", message_id="a")
    assert said(session) == ["How long?"]
    assert said(session, include_pending=True) == ["How long?", "About"]


def test_drafting_again_is_the_next_version_of_the_same_message(session, said):
    first = session.draft("assistant", "Abo", message_id="a")
    again = session.draft("assistant", "About 12", message_id="a")
    assert again.changed
    assert (again.entry_id, again.message_id) == (first.entry_id, "a")
    assert said(session, include_pending=True) == ["About 12"]


def test_finalizing_a_draft_ends_it_at_its_own_place(session, said):
    session.finalize("user", "How long?", message_id="u")
    drafted = session.draft("assistant", "About", message_id="a")
    session.finalize("user", "And how wide?", message_id="v")
    done = session.finalize("assistant", "About 12 mm", message_id="a")
    assert done.entry_id == drafted.entry_id
    assert said(session) == ["How long?", "About 12 mm", "And how wide?"]


def test_an_answer_that_is_drafted_at_once_stays_on_the_path(session):
    session.finalize("user", "How long?")
    session.draft("assistant", message_id="a")
    session.finalize("user", "Still there?")
    session.finalize("assistant", "12 mm", message_id="a")
    assert session.view().warnings == ()


def test_an_error_is_a_final_status_too(session):
    session.finalize("assistant", "", status="error", error="overloaded", message_id="a")
    (shown,) = session.view().messages
    assert (shown.status, shown.body.error) == ("error", "overloaded")


@pytest.mark.parametrize("status", ["pending", "weird", "", None])
def test_a_final_message_is_sent_or_error(session, status):
    with pytest.raises(InvalidValue, match="sent or error"):
        session.finalize("user", "Hello", status=status)
    assert session.version == 1


def test_a_final_message_is_not_drafted_again(session):
    session.finalize("assistant", "Done", message_id="a")
    with pytest.raises(WrongKind, match="revise it instead"):
        session.draft("assistant", "Do", message_id="a")


def test_a_second_final_version_with_other_content_is_a_revision(session):
    session.finalize("assistant", "Done", message_id="a")
    with pytest.raises(DuplicateId, match="revise"):
        session.finalize("assistant", "Done!", message_id="a")


def test_a_message_keeps_its_role(session):
    session.draft("assistant", "Let me", message_id="a")
    with pytest.raises(WrongKind, match="role assistant"):
        session.finalize("user", "Let me", message_id="a")


@pytest.mark.parametrize("role", ["tool", "Assistant", "", None, 5])
def test_a_role_that_does_not_exist_is_refused(session, role):
    with pytest.raises(InvalidValue, match="no role"):
        session.finalize(role, "Hello")


@pytest.mark.parametrize("role", ["user", "assistant", "system", "custom", "bash_execution"])
def test_every_role_but_results_needs_nothing_but_content(session, said, role):
    session.finalize(role, "Hello")
    assert said(session) == ["Hello"]


def test_a_message_may_stand_on_an_entry_of_another_id(session):
    made = session.finalize("user", "Hello", message_id="m", entry_id="n")
    assert (made.message_id, made.entry_id) == ("m", "n")
    session.revise("m", "Hello there")
    session.retract("n")  # either id names the message
    assert session.view().messages == ()


def test_a_message_takes_its_fields_from_the_call(session):
    session.finalize(
        "assistant",
        "12 mm",
        model="oak-2",
        provider="forest",
        usage={"input": 3, "output": 4},
        stop_reason="stop",
        name="carpenter",
    )
    body = session.view().messages[0].body
    assert (body.model, body.provider, body.stop_reason) == ("oak-2", "forest", "stop")
    assert (body.usage, body.name) == ({"input": 3, "output": 4}, "carpenter")


def test_a_field_that_does_not_exist_is_refused_by_its_name(session):
    with pytest.raises(InvalidValue, match="colour"):
        session.finalize("user", "Hello", colour="red")


def test_content_is_text_a_block_or_several(session):
    session.finalize("user", "Hello")
    session.finalize("user", {"type": "text", "text": "Hello"})
    session.finalize("user", ["Hello", {"type": "image", "url": "https://example.org/a.png"}])
    types = [[block.TYPE for block in m.content] for m in session.view().messages]
    assert types == [["text"], ["text"], ["text", "image"]]


def test_a_block_of_a_type_that_we_do_not_know_is_kept(session):
    session.finalize("assistant", [{"type": "hologram", "depth": 3}])
    (block,) = session.view().messages[0].content
    assert block.value == {"type": "hologram", "depth": 3}


def test_a_message_sorts_by_its_order_number(session, said):
    session.finalize("user", "second", order_seq=2)
    session.finalize("user", "first", order_seq=1)
    assert said(session) == ["first", "second"]


def test_once_a_tape_carries_order_numbers_new_messages_get_the_next(session):
    session.finalize("user", "One", order_seq=7)
    session.finalize("assistant", "Two")
    assert [m.order_seq for m in session.view().messages] == [7, 8]


def test_a_version_without_an_order_number_keeps_the_message_s_last(session):
    session.finalize("user", "One", message_id="u", order_seq=7)
    session.revise("u", "One, again")
    assert session.view().messages[0].order_seq == 7


@pytest.mark.parametrize("number", [-1, 1.5, "3", True])
def test_an_order_number_is_a_whole_number_from_zero_on(session, number):
    with pytest.raises(InvalidValue, match="order_seq"):
        session.finalize("user", "Hello", order_seq=number)
