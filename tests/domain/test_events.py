"""The events: stable names, one body each, and a kernel that takes them all."""

from typing import Any

import pytest

from tapefold import Session, TapefoldError, fold
from tapefold.domain import events
from tapefold.domain.bodies import BodyBase, MessageBody
from tapefold.domain.drafts import Draft
from tapefold.domain.heads import Head, fact_rank, message_rank
from tapefold.domain.view import build_view
from tapefold.testing import CLOCK, MemoryTapes, Tape

# Names and topics are storage. This list is only added to.
TOPICS = """
tapefold.SessionStarted tapefold.MessageDrafted tapefold.MessageFinalized tapefold.MessageRevised
tapefold.Retracted tapefold.ToolCallRecorded tapefold.ToolResultRecorded
tapefold.CompactionAnchored tapefold.SummaryReset tapefold.HandoffAnchored
tapefold.BranchSummarized tapefold.ContextEdited tapefold.Forked tapefold.ForkMerged
tapefold.ForkDiscarded tapefold.SubagentLinked tapefold.LeafMoved tapefold.Labelled
tapefold.SessionInfoChanged tapefold.ModelChanged tapefold.ThinkingLevelChanged
tapefold.UsageRecorded tapefold.CustomRecorded tapefold.ForeignRecorded
tapefold.BackfillRecorded tapefold.ContextAssembled tapefold.ModelCallCompleted
""".split()


def every_event():
    """A tape with one event of each kind, each written by its short method."""
    tape = Tape()
    a = tape.assistant("a", calls=["c1"])
    tape.draft("...")
    tape.revise(a, "b", calls=["c1"])
    tape.call_fact(a, "c1")
    tape.result_fact(a, "c1", "out")
    tape.compact(keep=a)
    tape.reset()
    tape.hand_off()
    tape.branch_summary(a, "left")
    tape.edit(a, "edited")
    tape.retract(a)
    tape.forked("child", 3)
    tape.merged("child")
    tape.discarded("child")
    tape.linked("child")
    tape.move_leaf(a)
    tape.label(a, "x")
    tape.title("t")
    tape.model("m")
    tape.thinking("high")
    tape.usage({"n": 1})
    tape.custom()
    tape.foreign()
    tape.backfilled(read=1)
    tape.context_assembled({})
    tape.model_call(status="success")
    return tape


def test_the_topics_are_those_that_were_ever_stored():
    assert list(events.TOPICS) == TOPICS


def test_a_topic_never_is_an_import_path_and_names_the_class():
    for topic, cls in events.TOPICS.items():
        assert topic == cls.TOPIC == f"tapefold.{cls.__name__}"
        assert events.EVENTS[cls.KIND] is cls
    assert events.MessageFinalized.KIND == "message_finalized"


def test_every_kind_of_event_folds_and_is_written_by_a_short_method():
    tape = every_event()
    assert {event.head.kind for event in tape.events} == set(events.EVENTS)
    state = fold(tape.events)
    assert state.position == len(TOPICS)
    build_view(state, tape.tapes, include_pending=True)
    tape.context()
    tape.outline()


@pytest.mark.parametrize("cls", events.EVENTS.values(), ids=events.EVENTS)
def test_every_body_may_say_where_it_comes_from(cls):
    common = dict.fromkeys(("actor", "correlation_id", "causation_id", "trace_id", "span_id"), "x")
    fields: dict[str, Any] = {
        name: "x" for name, field in cls.BODY.model_fields.items() if field.is_required()
    }
    if "position" in fields:
        fields["position"] = 1
    body = cls.BODY.build(**fields, **common, source="merge", extra={"unknown": [1]})
    assert body.to_json().items() >= {**common, "extra": {"unknown": [1]}}.items()
    assert cls.BODY.build(**body.to_json()) == body


def test_a_body_that_is_frozen_stays_as_it_is():
    body = MessageBody.build(content="x")
    with pytest.raises(Exception, match="frozen"):
        body.reason = "y"


def test_the_events_to_come_are_marked_experimental():
    experimental = {cls.__name__ for cls in events.EVENTS.values() if cls.EXPERIMENTAL}
    assert experimental == {
        "ForkMerged",
        "ForkDiscarded",
        "SubagentLinked",
        "BackfillRecorded",
        "ContextAssembled",
        "ModelCallCompleted",
    }


def test_an_event_says_what_it_is():
    tape = Tape()
    tape.user("hi", id="e")
    assert repr(tape.last) == "<MessageFinalized s@2 e>"
    assert (tape.last.session_id, tape.last.position, tape.last.timestamp) == ("s", 2, CLOCK)


def test_events_are_equal_when_all_of_them_is():
    one, two = Tape(), Tape()
    one.user("hi")
    two.user("hi")
    assert one.last == two.last
    two.user("hi", id="e1")
    assert one.last != two.last
    assert one.last != "an event"
    with pytest.raises(TypeError):
        hash(one.last)


def test_a_body_is_loaded_when_it_is_first_asked_for_and_once():
    loaded = []

    def load():
        loaded.append(1)
        return MessageBody.build(content="x")

    event = events.MessageFinalized("s", 1, Head("message_finalized"), load=load)
    assert not loaded
    assert event.body is event.body
    assert loaded == [1]
    assert events.Retracted("s", 1, Head("retracted")).body == events.Retracted.BODY()


def test_the_library_builds_a_session_by_letting_events_mutate_it():
    tape = Tape()
    tape.user("hi")
    session = None
    for event in tape.events:
        session = event.mutate(session)
    assert isinstance(session, Session)
    assert session.state.describe() == tape.state().describe()


def test_a_draft_of_an_event_gets_its_place_later():
    draft = Draft.of(events.Retracted, targets=("e1",))
    event = draft.at("s", 7)
    assert (event.session_id, event.position, event.head.targets) == ("s", 7, ("e1",))
    made = events.Retracted.make("s", 7, targets=("e1",))
    assert made == event


def test_an_event_that_the_tape_lacks_is_an_error_that_names_it():
    tape = Tape()
    tape.user("hi")
    with pytest.raises(TapefoldError, match=r"'s': the event at position 2"):
        build_view(tape.state(), MemoryTapes())


def test_ranks_follow_from_statuses():
    assert [message_rank(s) for s in ("sent", "error", "pending", "success", None)] == [
        2,
        2,
        1,
        0,
        0,
    ]
    assert [fact_rank(s) for s in ("success", "error", "pending", "sent", None)] == [2, 2, 1, 0, 0]


def test_a_head_is_stored_without_its_defaults_and_an_origin_whole():
    tape = Tape("p")
    child = tape.fork("c", leaf=None)
    stored = child.events[0].head.to_json()
    assert stored == {
        "kind": "session_started",
        "timestamp": CLOCK,
        "origin": {"session_id": "p", "position": 1, "leaf": None, "inherit": True},
    }


def test_a_body_is_stored_without_its_defaults():
    body = MessageBody.build(content="x", model="m")
    assert body.to_json() == {"content": [{"type": "text", "text": "x"}], "model": "m"}
    assert BodyBase.build().to_json() == {}
