"""What people type for a session or an entry, and what it means."""

import pytest

from tapefold import SessionNotFound, UnknownEntry
from tapefold.finding import AmbiguousReference, find_entry, find_session


def start(sessions, session_id, **options):
    session = sessions.start(session_id, **options)
    first = session.finalize("user", "hi")
    sessions.save(session)
    return first.entry_id


def test_an_exact_id_names_a_session_even_where_it_begins_others(sessions):
    for name in ("abc", "abcd", "last"):
        start(sessions, name)
    start(sessions, "newest")
    assert find_session(sessions, "abc") == "abc"
    assert find_session(sessions, "last") == "last"


def test_an_exact_id_is_found_without_looking_at_any_other_session(sessions, monkeypatch):
    start(sessions, "abc")
    monkeypatch.setattr(type(sessions.tapes), "streams", lambda self: pytest.fail("looked"))
    assert find_session(sessions, "abc") == "abc"


def test_last_is_the_session_with_the_newest_event(sessions):
    start(sessions, "one")
    start(sessions, "two")
    sessions.execute("one", lambda s: s.finalize("user", "again"))
    assert find_session(sessions, "last") == "one"


def test_a_beginning_or_an_end_that_one_id_alone_has_names_it(sessions):
    start(sessions, "0190-aaaa-left")
    start(sessions, "0190-bbbb-right")
    assert find_session(sessions, "0190-b") == "0190-bbbb-right"
    assert find_session(sessions, "left") == "0190-aaaa-left"


def test_a_beginning_that_several_ids_have_lists_them(sessions):
    start(sessions, "0190-aaaa")
    start(sessions, "0190-bbbb")
    with pytest.raises(AmbiguousReference) as error:
        find_session(sessions, "0190")
    assert set(error.value.candidates) == {"0190-aaaa", "0190-bbbb"}
    assert "0190-aaaa" in str(error.value)


def test_many_candidates_are_counted_and_not_all_listed(sessions):
    for n in range(20):
        start(sessions, f"s-{n:02}")
    with pytest.raises(AmbiguousReference, match=r"fits 20 sessions: .* and 12 more"):
        find_session(sessions, "s-")


def test_forks_of_a_session_do_not_make_its_own_id_ambiguous(sessions):
    start(sessions, "0190-aaaa")
    child = sessions.fork("0190-aaaa")
    sessions.fork(child.id)
    assert find_session(sessions, "0190") == "0190-aaaa"
    assert find_session(sessions, child.id) == child.id


def test_a_fork_is_found_by_the_end_of_its_id(sessions):
    start(sessions, "0190-aaaa")
    child = sessions.fork("0190-aaaa", fork_id="try-two")
    assert find_session(sessions, "try-two") == child.id


def test_who_the_parent_is_is_never_read_from_an_id(sessions):
    """An id that only looks like a fork's belongs to a session of its own."""
    start(sessions, "x-1")
    start(sessions, "x-1::fork::look-alike")
    with pytest.raises(AmbiguousReference):
        find_session(sessions, "x-")


def test_a_title_that_one_session_alone_has_names_it(sessions):
    start(sessions, "a1", title="The shelf")
    start(sessions, "b2", title="The box")
    assert find_session(sessions, "The box") == "b2"
    assert find_session(sessions, "the box ") == "b2"


def test_a_title_that_two_sessions_have_is_ambiguous(sessions):
    start(sessions, "a1", title="The box")
    start(sessions, "b2", title="The box")
    with pytest.raises(AmbiguousReference):
        find_session(sessions, "The box")


@pytest.mark.parametrize("reference", ["", "nothing like it", "\udcff"])
def test_what_names_no_session_is_said_so(sessions, reference):
    start(sessions, "a1")
    with pytest.raises(SessionNotFound):
        find_session(sessions, reference)


@pytest.mark.parametrize("mark", ["…", "..."])
def test_an_end_is_taken_as_lists_show_it(sessions, mark):
    start(sessions, "0190-aaaa-left")
    start(sessions, "0190-bbbb-right")
    assert find_session(sessions, f"{mark}aa-left") == "0190-aaaa-left"
    for none in (mark, f"{mark}0190"):
        with pytest.raises(SessionNotFound):
            find_session(sessions, none)


def test_a_session_that_begins_with_these_words_is_told_of_and_not_taken(sessions):
    start(sessions, "a1")
    session = sessions.start("b2")
    session.finalize("user", "How long is  the plank?")
    sessions.save(session)
    with pytest.raises(SessionNotFound, match="b2 begins with these words"):
        find_session(sessions, "how long is the")
    with pytest.raises(SessionNotFound, match="lists those that do"):
        find_session(sessions, "long is")


def test_an_empty_store_has_no_last_session(sessions):
    with pytest.raises(SessionNotFound, match="no session yet"):
        find_session(sessions, "last")


# -- entries -----------------------------------------------------------------------------------


@pytest.fixture
def entries(sessions):
    """A session whose entries have awkward ids."""
    session = sessions.start("s")
    for entry_id in ("e-one", "e-two", "3", "none", "@at"):
        session.finalize("user", entry_id, entry_id=entry_id)
    session.finalize("user", "other", entry_id="e-other", message_id="m-1")
    session.revise("m-1", "other, better")
    session.label("e-one", "first")
    sessions.save(session)
    return lambda reference, **how: find_entry(sessions, sessions.state("s"), reference, **how)


@pytest.mark.parametrize(
    ("reference", "means"),
    [
        ("e-one", "e-one"),
        ("3", "e-two"),  # position 3
        ("@3", "3"),
        ("none", None),
        ("@none", "none"),
        ("@at", "@at"),
        ("e-tw", "e-two"),
        ("m-1", "e-other"),
        ("8", "e-other"),  # a later version is about the entry of the first
    ],
)
def test_digits_are_a_position_and_anything_else_an_entry(entries, reference, means):
    assert entries(reference) == means


def test_after_leaf_digits_are_an_id(entries):
    assert entries("3", digits_are_ids=True) == "3"
    assert entries("@3", digits_are_ids=True) == "3"


def test_digits_after_leaf_are_never_the_beginning_of_an_id(sessions, run):
    session = sessions.start("s")
    session.finalize("user", "hi", entry_id="16c0ffee")
    sessions.save(session)
    for command in (("view",), ("tree",), ("context",), ("fork",), ("export", "--format", "pi")):
        said = run(command[0], "s", *command[1:], "--leaf", "16", code=1)
        assert "has no entry '16'" in said
        assert "write #16 for the position" in said
        assert said.count("\n") == 1
    assert find_entry(sessions, sessions.state("s"), "16c", digits_are_ids=True) == "16c0ffee"
    with pytest.raises(UnknownEntry, match="tree for the ids"):
        find_entry(sessions, sessions.state("s"), "9" * 400, digits_are_ids=True)


def test_a_beginning_that_several_entries_have_lists_them(entries):
    with pytest.raises(AmbiguousReference, match="e-one, e-other, e-two"):
        entries("e-")


@pytest.mark.parametrize("reference", ["zzz", "@e-tw", "9" * 4000])
def test_what_names_no_entry_is_said_so(entries, reference):
    with pytest.raises(UnknownEntry):
        entries(reference)


@pytest.mark.parametrize("reference", ["1", "9"])
def test_a_position_without_an_entry_is_named_by_its_event(entries, reference):
    with pytest.raises(Exception, match=f"position {reference} is (SessionStarted|Labelled)"):
        entries(reference)


def test_a_position_that_the_tape_does_not_have_is_out_of_range(entries):
    with pytest.raises(Exception, match="positions 1 to 9"):
        entries("10")
