"""Starting writes nothing: what is set before anything is said waits for it."""

import pytest

from tapefold.domain.errors import InvalidValue
from tapefold.domain.session import Session


def test_a_started_session_hands_out_no_event(session):
    assert session.collect_events() == []
    assert session.version == 1


def test_settings_labels_and_drafts_alone_are_held_back(session):
    session.set_model("oak-2", "forest")
    session.set_thinking_level("high")
    session.record_custom("garden", {"beds": 3})
    session.draft("assistant", "Let me", message_id="a1")
    session.label("a1", "later")
    session.move_leaf(None)
    session.set_title("Bird box")
    session.record_usage({"input": 3})
    session.retract("a1")
    assert session.collect_events() == []


@pytest.mark.parametrize(
    "worth_keeping",
    [
        lambda s: s.finalize("user", "Hello"),
        lambda s: s.hand_off("Nothing was done yet"),
        lambda s: s.reset_summary(),
        lambda s: s.fork(),
        lambda s: s.append_imported([]),
    ],
    ids=["message", "hand-off", "summary reset", "fork", "import"],
)
def test_the_first_message_anchor_fork_or_import_is_written_with_all_that_was_held_back(
    session, worth_keeping
):
    session.set_model("oak-2")
    session.draft("assistant", "Let me")
    worth_keeping(session)
    kinds = [event.head.kind for event in session.collect_events()]
    assert kinds[:3] == ["session_started", "model_changed", "message_drafted"]
    assert session.collect_events() == []


def test_a_compaction_is_worth_keeping_even_over_messages_that_were_never_final(session):
    # Nothing can be covered before a message is final, so the message comes first.
    session.finalize("user", "One")
    assert [e.position for e in session.collect_events()] == [1, 2]
    session.compact("It began", first_kept=None)
    assert [e.head.kind for e in session.collect_events()] == ["compaction_anchored"]


def test_once_written_a_draft_alone_is_written_at_once(session):
    session.finalize("user", "Hello")
    session.collect_events()
    session.draft("assistant", "Hel")
    assert [e.head.kind for e in session.collect_events()] == ["message_drafted"]


def test_persist_writes_at_once(defaults):
    session = Session.start("s", persist=True, defaults=defaults)
    assert [e.head.kind for e in session.collect_events()] == ["session_started"]


def test_the_first_event_holds_what_the_session_began_with(defaults):
    session = Session.start(
        "s", title="Bird box", directory="/home/ada/box", owner="ada", defaults=defaults
    )
    first = session.pending_events[0]
    assert first.body.title == "Bird box"
    assert first.body.directory == "/home/ada/box"
    assert first.body.owner == "ada"
    assert session.view().name == "Bird box"


def test_two_starts_under_one_id_are_two_incarnations(defaults):
    one, two = (Session.start("s", defaults=defaults).pending_events[0].body for _ in range(2))
    assert one.incarnation
    assert one.incarnation != two.incarnation


def test_a_session_without_an_id_gets_a_new_one():
    assert Session.start().id != Session.start().id
    assert Session.start().id[14] == "7"  # UUIDv7


def test_ids_and_times_come_from_defaults_that_a_caller_replaces(session):
    made = session.finalize("user", "Hello")
    assert made.entry_id == "e1"
    assert session.pending_events[-1].timestamp == "t2"
    session.finalize("assistant", "Hello yourself", timestamp="2026-03-01T09:00:00Z")
    assert session.pending_events[-1].timestamp == "2026-03-01T09:00:00Z"


def test_every_event_can_say_where_it_comes_from_and_who_acted(session):
    session.finalize(
        "user",
        "Hello",
        source="repair",
        actor="ada",
        correlation_id="c",
        causation_id="b",
        trace_id="t",
        span_id="p",
        extra={"host": 7},
    )
    body = session.pending_events[-1].body
    assert (body.source, body.actor, body.correlation_id) == ("repair", "ada", "c")
    assert (body.causation_id, body.trace_id, body.span_id) == ("b", "t", "p")
    assert body.extra == {"host": 7}


def test_a_source_that_does_not_exist_is_refused(session):
    with pytest.raises(InvalidValue, match="source"):
        session.finalize("user", "Hello", source="elsewhere")
    assert session.version == 1


def test_the_title_at_the_start_is_one_line_as_a_later_one_is(defaults):
    started = Session.start("s", title=" Bird\nbox ", defaults=defaults)
    assert started.view().name == "Bird box"
    assert not started.set_title("Bird box").changed
    assert Session.start("t", title="  ", defaults=defaults).view().name is None
