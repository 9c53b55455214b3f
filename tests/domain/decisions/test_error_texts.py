"""An error says in which session and where it happened, and what to do next."""

import pytest

from tapefold.domain import errors
from tapefold.domain.errors import TapefoldError
from tapefold.domain.session import Session
from tapefold.testing import given


def talk():
    return (
        given()
        .user("Wood?", id="u1", key="k")
        .assistant("Oak.", id="a1")
        .user("Gone", id="x")
        .retract("x")
        .user("Beech?", id="side", under="u1")
    )


def spent(session):
    session.spend()
    session.finalize("user", "Hi")


def orphaned(session):
    child, _ = session.fork()
    Session.from_events(child.id, child.pending_events).finalize("user", "Hi")


def keyed_twice(session):
    session.set_title("One", key="title")
    session.set_title("Two", key="title")


ERRORS = [
    (errors.UnknownEntry, lambda s: s.move_leaf("zz"), ["'zz'", "look at its tree"]),
    (errors.UnknownMessage, lambda s: s.retract("zz"), ["'zz'", "look at its view"]),
    (errors.DuplicateId, lambda s: s.finalize("user", "y", message_id="u1"), ["'u1'", "revise"]),
    (errors.DuplicateId, lambda s: s.finalize("user", "y", entry_id="u1"), ["'u1'", "another id"]),
    (errors.WrongKind, lambda s: s.restore("u1"), ["'u1'", "nothing to restore"]),
    (errors.WrongKind, lambda s: s.draft("user", "y", message_id="u1"), ["'u1'", "revise it"]),
    (errors.WrongKind, lambda s: s.move_leaf_before("a1"), ["'a1'", "move_leaf()"]),
    (errors.WrongKind, lambda s: s.retract_from("side"), ["'side'", "move the leaf"]),
    (errors.MessageStruck, lambda s: s.revise("x", "y"), ["'x'", "restore it first"]),
    (errors.InvalidBoundary, lambda s: s.compact("S", first_kept="side"), ["'side'", "boundary"]),
    (errors.InvalidBoundary, lambda s: s.compact("S", first_kept="u1"), ["a later entry"]),
    (
        errors.StaleSummary,
        lambda s: s.compact("S", first_kept=None, expected_position=3),
        ["position 3", "compact anew"],
    ),
    (errors.ConcurrencyConflict, lambda s: s.expect(2), ["at 2", "load it again", "execute()"]),
    (errors.ProvenanceConflict, keyed_twice, ["'title'", "a key of its own"]),
    (errors.SpentInstance, spent, ["load the session again"]),
    (errors.BasisMissing, orphaned, ["fork of 's'", "load_session()"]),
    (errors.OutOfOrder, lambda s: s.state.apply_head(9, None), ["position 9", "is next"]),
    (errors.PositionOutOfRange, lambda s: s.fork(at=Session.start("t").state), ["positions 1 to"]),
]


@pytest.mark.parametrize(("kind", "fail", "parts"), ERRORS)
def test_an_error_names_the_place_and_the_next_step(kind, fail, parts):
    session = talk().tape.session()
    with pytest.raises(TapefoldError) as raised:
        fail(session)
    assert type(raised.value) is kind
    for part in ["'s'", *parts]:
        assert part in str(raised.value)


def test_an_assistant_message_without_a_place_is_told_what_to_say():
    error = talk().when(lambda s: s.finalize("assistant", "Oak"), executed=True).error
    assert type(error) is errors.UnderRequired
    for part in ("'s'", "under=", "expected_position="):
        assert part in str(error)


def test_every_error_is_of_one_hierarchy_and_lookups_and_values_are_python_s_too():
    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(kinds) >= 18
    assert all(issubclass(kind, TapefoldError) for kind in kinds)
    assert issubclass(errors.UnknownEntry, LookupError)
    assert issubclass(errors.InvalidValue, ValueError)


WRONG = [
    lambda s: s.retract(7),
    lambda s: s.retract([7]),
    lambda s: s.retract(None),
    lambda s: s.revise(None, "x"),
    lambda s: s.revise("u1", "x", status=["sent"]),
    lambda s: s.restore(7),
    lambda s: s.finalize("user", "x", message_id=7),
    lambda s: s.finalize("user", "x", entry_id=["a"]),
    lambda s: s.finalize("user", "x", status=["sent"]),
    lambda s: s.finalize(["user"], "x"),
    lambda s: s.finalize("user", "x", timestamp=object()),
    lambda s: s.finalize("user", "x", timestamp=True),
    lambda s: s.finalize("user", "x", key=7),
    lambda s: s.finalize("user", "x", under={}),
    lambda s: s.finalize("user", "x", under=object(), key="k2"),
    lambda s: s.finalize("user", "x", interruption=True),
    lambda s: s.finalize("tool_result", "x", for_call=7),
    lambda s: s.finalize("tool_result", "x", for_call="c", for_message_id=7),
    lambda s: s.finalize("tool_result", "x", for_call="c", interruption="yes"),
    lambda s: s.record_call("a1", "c", None),
    lambda s: s.record_call("a1", "c", "saw", {1, 2}),
    lambda s: s.record_result("a1", "c", "x", name=7),
    lambda s: s.record_result(["a1"], "c"),
    lambda s: s.compact("S", first_kept=7),
    lambda s: s.compact("S", first_kept=None, expected_position="4"),
    lambda s: s.compact("S", first_kept=None, tokens_before="many"),
    lambda s: s.hand_off("S", state={1}),
    lambda s: s.hand_off("S", first_kept=["u1"]),
    lambda s: s.summarize_branch(7, "S"),
    lambda s: s.edit_context(None, "x"),
    lambda s: s.move_leaf(7),
    lambda s: s.move_leaf(["u1"]),
    lambda s: s.move_leaf("u1", reason=7),
    lambda s: s.label(None, "x"),
    lambda s: s.set_info(data={1}),
    lambda s: s.record_usage({1: 2}),
    lambda s: s.fork(leaf=7),
    lambda s: s.fork(at=3),
    lambda s: s.coverage(7),
    lambda s: s.start(7),
    lambda s: s.start("t", title=7),
    lambda s: s.start("t", key=""),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_argument_is_an_error_of_ours_and_changes_nothing(wrong):
    session = talk().tape.session()
    before = session.state.describe()
    with pytest.raises(TapefoldError):
        wrong(session)
    assert session.state.describe() == before
    assert session.pending_events == ()


def test_a_saved_event_cannot_be_copied_where_its_tape_is_not_attached():
    struck = talk().tape
    session = Session.from_events("s", struck.events)
    with pytest.raises(errors.InvalidValue, match=r"load_session\(\)"):
        session.restore("x")
    with pytest.raises(errors.InvalidValue, match=r"load_session\(\)"):
        session.view()
