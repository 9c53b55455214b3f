"""Ids: 1 to 255 characters without control characters, unique, compared and never parsed."""

import pytest

from tapefold.domain.errors import DuplicateId, InvalidValue
from tapefold.domain.identifiers import Defaults, new_entry_id
from tapefold.domain.session import Session
from tapefold.testing import event, given

BAD = [
    pytest.param("", id="empty"),
    pytest.param("x" * 256, id="256 characters"),
    pytest.param("a\x00b", id="nul"),
    pytest.param("a\nb", id="line feed"),
    pytest.param("a\x1b[2J", id="escape"),
    pytest.param("a\x7f", id="delete"),
    pytest.param("a\x9b", id="C1 control"),
    pytest.param("a\ud800", id="lone surrogate"),
    pytest.param(7, id="number"),
    pytest.param(b"a", id="bytes"),
]
GOOD = [
    pytest.param("x", id="1 character"),
    pytest.param("x" * 255, id="255 characters"),
    pytest.param("日" * 255, id="255 characters of 3 bytes"),
    pytest.param("../../etc/passwd", id="path"),
    pytest.param("a::fork::b", id="looks like a fork"),
    pytest.param("42", id="digits"),
    pytest.param(" ", id="a space"),
    pytest.param("Ünïcode 🪵", id="beyond ASCII"),
]
TAKES = {
    "session_id": Session.start,
    "message_id": lambda i: Session.start("s").finalize("user", "x", message_id=i),
    "entry_id": lambda i: Session.start("s").finalize("user", "x", entry_id=i),
    "draft's message_id": lambda i: Session.start("s").draft("user", "x", message_id=i),
    "child_id": lambda i: Session.start("s").fork(child_id=i),
    "fork_id": lambda i: Session.start("s").fork(fork_id=i),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)
def test_an_unusable_id_is_refused(take, bad):
    with pytest.raises(InvalidValue):
        take(bad)


@pytest.mark.parametrize("good", GOOD)
@pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)
def test_any_plain_text_is_an_id(take, good):
    assert take(good) is not None


def test_the_error_says_which_id_and_what_is_wrong_with_it():
    with pytest.raises(InvalidValue, match=r"session_id must have 1 to 255 characters, not 256"):
        Session.start("x" * 256)
    with pytest.raises(InvalidValue, match=r"message_id 'a\\nb' has control characters"):
        Session.start("s").finalize("user", "x", message_id="a\nb")


def test_an_entry_id_that_is_taken_is_refused():
    given().user("Wood?", id="x").when(lambda s: s.finalize("user", "y", entry_id="x")).then_raises(
        DuplicateId, "'x'"
    )
    given().model("oak-2", id="x").when(
        lambda s: s.finalize("user", "y", entry_id="x")
    ).then_raises(DuplicateId)


def test_an_entry_id_is_not_another_message_s_id_either():
    """Commands take either id of a message, so one text must not mean two of them."""
    named = given().user("Wood?", id="e", message_id="m")
    named.when(lambda s: s.finalize("user", "y", entry_id="m")).then_raises(DuplicateId)


def test_a_mark_s_id_is_taken_as_well():
    marked = given().user("Wood?", id="u1").usage({}, entry_id="x", parent_id="u1", stands_for="u1")
    marked.when(lambda s: s.finalize("user", "y", entry_id="x")).then_raises(DuplicateId)


def test_ids_differ_by_every_character():
    after = given().user("one", id="A").when(lambda s: s.finalize("user", "two", message_id="a"))
    after.then(event("message_finalized", message_id="a"))
    composed = given().user("one", id="\u00e9")
    composed.when(lambda s: s.finalize("user", "two", message_id="e\u0301")).then(
        "message_finalized"
    )


def test_a_made_up_id_that_is_taken_is_made_again():
    made = iter(["a", "a", "b"])
    session = Session.start("s", defaults=Defaults(new_entry_id=lambda: next(made)))
    session.finalize("user", "one")
    assert session.finalize("user", "two").entry_id == "b"


def test_a_source_of_ids_that_never_gives_a_new_one_is_an_error_and_not_a_loop():
    session = Session.start("s", defaults=Defaults(new_entry_id=lambda: "a"))
    session.finalize("user", "one")
    with pytest.raises(DuplicateId):
        session.finalize("user", "two")


def test_default_entry_ids_are_twelve_hex_digits():
    made = Session.start("s").finalize("user", "one").entry_id or ""
    assert len(made) == 12
    assert set(made) <= set("0123456789abcdef")


def test_no_id_that_is_made_consists_of_digits_alone(monkeypatch):
    """On the command line digits are a position; one id in 280 could not be copied and used."""
    drawn = iter([0x458170610361, 0x000000000042, 0xA58170610361])
    monkeypatch.setattr("secrets.randbits", lambda _: next(drawn))
    assert new_entry_id() == "a58170610361"
