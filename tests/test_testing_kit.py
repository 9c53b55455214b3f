"""The kit itself: it fails where it has to, and says why."""

from unittest.mock import ANY

import pytest
from hypothesis import find, settings

from tapefold import InvalidValue, MessageStruck, Session, UnderRequired, UnknownEntry, fold
from tapefold.domain.drafts import Draft
from tapefold.domain.events import EVENTS, MessageFinalized, Retracted, SessionStarted
from tapefold.testing import CLOCK, Tape, counted_defaults, event, given, plain, said
from tapefold.testing.scribbling import VERBS, Stroke, scribble
from tapefold.testing.strategies import commands, families, tapes


def ask(session):
    return session.finalize("user", "hi")


# -- then ----------------------------------------------------------------------------------


def test_events_are_compared_by_kind_and_by_the_fields_that_are_named():
    done = given().when(ask)
    done.then("message_finalized")
    done.then(MessageFinalized)
    done.then(event("message_finalized", role="user", content="hi", entry_id=ANY))
    done.then(event(MessageFinalized, content=[{"type": "text", "text": "hi"}]))


@pytest.mark.parametrize(
    "expected",
    [
        [],
        [Retracted],
        [MessageFinalized, MessageFinalized],
        [event(MessageFinalized, role="assistant")],
        [event(MessageFinalized, content="ho")],
    ],
)
def test_other_events_than_expected_are_a_failure(expected):
    with pytest.raises(AssertionError, match="other events than expected"):
        given().when(ask).then(*expected)


def test_a_failure_shows_what_was_expected_and_what_happened():
    with pytest.raises(AssertionError) as failure:
        given().user("q").when(ask).then(
            event(MessageFinalized, role="user", content="ho"), Retracted
        )
    lines = str(failure.value).splitlines()
    assert "-     content = [{'type': 'text', 'text': 'ho'}]" in lines
    assert "+     content = [{'type': 'text', 'text': 'hi'}]" in lines
    assert "- Retracted" in lines
    assert "      role = 'user'" in lines


def test_an_event_that_nobody_expected_is_shown_with_what_names_it():
    with pytest.raises(AssertionError, match=r"\+     entry_id = 'e1'"):
        given().when(ask).then_nothing()


def test_whole_events_and_drafts_are_compared_to_the_letter():
    done = given().when(ask)
    (happened,) = done.events
    done.then(happened)
    done.then(Draft(MessageFinalized, happened.head, happened.body))
    other = Tape()
    other.user("hi", model="m")
    with pytest.raises(AssertionError):
        done.then(other.last)


def test_a_misspelt_field_or_kind_is_a_mistake_of_the_test():
    with pytest.raises(TypeError, match="rolle"):
        event(MessageFinalized, rolle="user")
    with pytest.raises(TypeError, match="message_sung"):
        event("message_sung")
    with pytest.raises(TypeError, match="no field 'kind'"):
        Tape().add(MessageFinalized, kind="x")


def test_a_field_of_head_and_body_is_the_bodys():
    expected = event("tool_call_recorded", name="read", owner="a")
    assert (expected.body, expected.head) == ({"name": "read"}, {"owner": "a"})


def test_then_raises_wants_the_error_its_text_and_no_events():
    done = given().when(lambda s: s.move_leaf("nowhere"))
    done.then_raises(UnknownEntry)
    done.then_raises(match="nowhere")
    with pytest.raises(AssertionError, match="not in the error's text"):
        done.then_raises(UnknownEntry, match="somewhere")
    with pytest.raises(UnknownEntry):
        done.then_raises(InvalidValue)
    with pytest.raises(AssertionError, match="the command succeeded"):
        given().when(ask).then_raises()
    with pytest.raises(AssertionError, match="the command succeeded\nand appended nothing"):
        given().when(lambda s: None).then_raises()


def test_a_command_that_raises_after_it_appended_is_caught():
    def careless(session):
        ask(session)
        raise InvalidValue("too late")

    with pytest.raises(AssertionError, match="but appended events"):
        given().when(careless).then_raises(InvalidValue)


def test_an_error_that_nobody_expected_comes_through_from_every_question():
    done = given().when(lambda s: s.move_leaf("nowhere"))
    for question in (
        done.then_nothing,
        lambda: done.outcome,
        done.view,
        done.context,
        done.children,
        lambda: done.when(ask),
    ):
        with pytest.raises(UnknownEntry):
            question()
    assert isinstance(done.error, UnknownEntry)


def test_an_outcome_is_compared_field_by_field():
    done = given().user("q", id="q").when(lambda s: s.retract("q"))
    done.then_outcome(changed=True, entry_id="q", warnings=[])
    with pytest.raises(AssertionError, match="changed is True, not False"):
        done.then_outcome(changed=False)
    assert done.outcome.position == 3


# -- given ---------------------------------------------------------------------------------


def test_what_is_given_may_be_a_tape_events_drafts_or_commands():
    tape = Tape("other")
    tape.user("hi")
    for start in (
        given(tape),
        given(tape.events),
        given([Draft(type(e), e.head, e.body) for e in tape.events]),
        given().command(ask),
    ):
        assert said(start.when(lambda s: None).view()) == ["user: hi"]
    assert given(tape).tape.session_id == "other"
    assert given(tape.events, session_id="third").tape.session_id == "third"


def test_given_and_then_leave_what_they_begin_with_as_it_was():
    tape = Tape()
    tape.user("hi")
    start = given(tape).title("t")
    one = start.when(ask)
    one.when(ask).then(MessageFinalized)
    start.when(ask).then(MessageFinalized)
    assert (tape.position, start.tape.position) == (2, 3)


def test_only_scripting_methods_can_be_chained():
    with pytest.raises(AttributeError, match="no scripting method"):
        given().sing("a song")
    assert "assistant" in dir(given())
    assert "when" in dir(given())


def test_ids_and_times_are_the_same_in_every_run():
    (made,) = given().user("q").when(ask).events
    assert (made.head.entry_id, made.head.timestamp) == ("e2", CLOCK)
    session = Session.start(defaults=counted_defaults())
    assert (session.id, session.pending_events[0].body.incarnation) == (
        "session-1",
        "incarnation-1",
    )
    mine = counted_defaults(7)
    assert given(defaults=mine).when(ask).outcome.entry_id == "e7"


def test_a_command_can_be_run_as_execute_runs_it():
    def answer(session):
        return session.finalize("assistant", "a")

    given().when(answer).then(MessageFinalized)
    given().when(answer, executed=True).then_raises(UnderRequired)
    given().when(answer, expected_position=1).then(MessageFinalized)
    given().when(answer, expected_position=9).then_raises(match="not at 9")


def test_children_of_a_fork_are_handed_out():
    done = given().user("q").when(lambda s: s.fork(fork_id="f"))
    (child,) = done.then("forked").children()
    assert said(child.view()) == ["user: q"]
    assert done.state.position == 3


# -- tapes ---------------------------------------------------------------------------------


def test_a_tape_checks_nothing():
    tape = Tape(start=False)
    tape.add(Retracted, targets=("nobody",))
    tape.add(SessionStarted)
    tape.user("x", id="x", parent_id="later", status="lost", takes_leaf=False)
    tape.user("y", id="x")
    assert [e.position for e in tape] == [1, 2, 3, 4]
    assert fold(tape.events).position == len(tape) == 4


def test_a_fork_of_a_tape_goes_on_with_the_ids_and_leaves_the_parent_alone():
    tape = Tape("p")
    a = tape.user("a")
    child = tape.fork()
    assert child.user("b") == "e2"
    assert child.session_id == "p.3"
    assert (tape.leaf_at(2), child.leaf_at(1), child.leaf) == (a, a, "e2")
    assert tape.fork("silent", receipt=False).parent is tape
    assert [e.head.kind for e in tape.events].count("forked") == 1


def test_a_copy_of_a_fork_is_the_fork_again():
    tape = Tape("p")
    tape.user("a")
    child = tape.fork("c")
    child.version("e1", "a2")
    copy = child.copy()
    assert copy.state().describe() == child.state().describe()
    assert (copy.leaf, copy.role_of("e1"), copy.events) == (child.leaf, "user", child.events)
    copy.user("b")
    assert child.position == 2


def test_content_is_shown_on_one_line():
    tape = Tape()
    tape.assistant(["x", {"type": "image", "data": "…"}], calls={"c1": {"a": 1}})
    assert plain(tape.view().messages[0].content) == "x [image] tool(c1)"


# -- random tapes --------------------------------------------------------------------------


def test_every_verb_can_be_scribbled():
    verbs = (*VERBS, "fork", "turn")
    family = scribble(Stroke(v, n, n, n + i) for n in range(12) for i in (0, 1) for v in verbs)
    kinds = {e.head.kind for tape in family for e in tape.events}
    assert kinds == set(EVENTS)


@pytest.mark.parametrize(
    ("strategy", "shape"),
    [
        (tapes(), lambda t: t.state().labels and t.state().anchors and t.state().facts),
        (tapes(), lambda t: any(m.calls and m.calls[0].result for m in t.view().messages)),
        (tapes(), lambda t: any(e.head.revives for e in t.events)),
        (tapes(hostile=True), lambda t: any(e.head.status == "lost" for e in t.events)),
        (tapes(hostile=True), lambda t: any(e.head.parent_id == "nowhere" for e in t.events)),
        (families(), lambda f: any(t.parent and t.parent.parent for t in f)),
        (families(), lambda f: any(t.parent and t.parent.last.head.kind != "forked" for t in f)),
        (commands(), lambda steps: len(steps) > 20),
    ],
)
def test_random_tapes_reach_the_shapes_that_matter(strategy, shape):
    find(strategy, shape, settings=settings(max_examples=2000, deadline=None))


def test_a_struck_message_is_refused_a_revision():
    given().user("q", id="q").retract("q").when(lambda s: s.revise("q", "?")).then_raises(
        MessageStruck, "restore it first"
    )
