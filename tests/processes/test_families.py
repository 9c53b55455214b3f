"""A fork and the receipt on its parent are saved together, or neither."""

import pytest
from eventsourcing.application import Application

from tapefold import (
    ConcurrencyConflict,
    InvalidValue,
    SessionNotFound,
    Sessions,
    SpentInstance,
    load_session,
)
from tapefold.forks import forks_of


@pytest.fixture
def sessions():
    with Sessions("memory:") as opened:
        yield opened


@pytest.fixture
def talk(sessions):
    talk = sessions.start("talk")
    talk.finalize("user", "Oak?")
    return talk


def test_a_fork_is_saved_with_its_parent(sessions, talk):
    """A parent that was saved alone kept, for ever, the receipt of a child that was nowhere."""
    child, _ = talk.fork(child_id="child")
    child.finalize("user", "Ash?")
    grandchild, _ = child.fork(child_id="grandchild")
    sessions.save(talk)
    assert [fork.session_id for fork in forks_of(sessions, "talk")] == ["child"]
    assert [m.content[0].text for m in sessions.view("grandchild").messages] == ["Oak?", "Ash?"]
    grandchild.finalize("user", "Elm?")
    child.finalize("user", "Beech?")
    sessions.save(grandchild, child)
    assert len(sessions.view("grandchild").messages) == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_saving_both_in_one_call_saves_each_event_once(sessions, talk, order):
    child, _ = talk.fork(child_id="child")
    both = (talk, child)
    sessions.save(*(both[i] for i in order))
    assert sessions.state("talk").position == 3
    assert sessions.state("child").position == 1
    assert forks_of(sessions, "child") == ()


def test_a_fork_is_not_saved_without_its_parent(sessions, talk):
    sessions.save(talk)
    child, _ = talk.fork(child_id="child")
    with pytest.raises(InvalidValue, match=r"'child' is a fork of 'talk'.*save the parent"):
        sessions.save(child)
    with pytest.raises(SessionNotFound):
        sessions.get("child")
    sessions.save(talk)  # it was refused before anything was taken from it
    assert sessions.get("child").version == 1


def test_of_a_family_that_cannot_be_saved_nobody_may_decide_on(sessions, talk):
    sessions.save(talk)
    late = sessions.get("talk")
    talk.finalize("user", "First")
    sessions.save(talk)
    child, _ = late.fork(child_id="child")
    with pytest.raises(ConcurrencyConflict):
        sessions.save(late)
    for spent in (late, child):
        with pytest.raises(SpentInstance):
            spent.finalize("user", "Second")
    assert forks_of(sessions, "talk") == ()


def test_the_library_s_own_application_saves_a_family_too(tmp_path):
    class Host(Application):
        env = {  # noqa: RUF012
            "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
            "ORIGINATOR_ID_TYPE": "text",
            "SQLITE_DBNAME": str(tmp_path / "host.db"),
        }

    host = Host()
    with Sessions("memory:") as other:
        parent = other.start("parent")
    parent.finalize("user", "Oak?")
    parent.fork(child_id="child")
    host.save(parent)
    assert load_session(host.repository, "child").state.origin.session_id == "parent"
    host.close()


def test_many_forks_of_forks_are_saved_at_once(sessions, talk):
    tip = talk
    for n in range(1_200):
        tip, _ = tip.fork(child_id=f"f{n}")
    assert len(talk.unsaved_children()) == 1_200
    collected = talk.collect_events()
    assert len(collected) == 2 + 2 * 1_200
    assert talk.unsaved_children() == []


def test_a_session_that_exists_is_not_begun_again(sessions, talk):
    sessions.save(talk)
    with pytest.raises(ConcurrencyConflict, match="'talk' already exists"):
        sessions.start("talk", persist=True)
    other = sessions.start("talk")
    other.finalize("user", "Elm?")
    with pytest.raises(ConcurrencyConflict, match="already exists") as conflict:
        sessions.save(other)
    assert (conflict.value.expected, conflict.value.actual) == (0, 2)


def test_start_says_which_options_there_are(sessions):
    with pytest.raises(TypeError, match="titel"):
        sessions.start("talk", titel="A slip")
