"""Versions of one message: which of them shows."""

from hypothesis import given

from tapefold.testing import Tape, said
from tapefold.testing.strategies import families


def unstruck_versions(tape, message_id):
    """(rank, seq) of the versions that compete, by the words of the rule and no more.

    A retraction strikes every version before it; later ones stay struck until one revives.
    """
    versions, strikes = [], []
    begun, offset = False, 0
    for part, upto in tape.lineage():
        for event in part.events[:upto]:
            head, seq = event.head, offset + event.position
            if head.message_id == message_id and head.role is not None:
                rank = {"sent": 2, "error": 2, "pending": 1}.get(head.status, 0)
                versions.append((rank, seq, head.revives))
                begun = True
            elif head.kind == "retracted" and message_id in head.targets and begun:
                strikes.append(seq)
        offset += upto
    last = strikes[-1] if strikes else 0
    after = [v for v in versions if v[1] > last]
    if strikes:
        revived = [seq for _, seq, revives in after if revives]
        after = [v for v in after if revived and v[1] >= revived[0]]
    return [(rank, seq) for rank, seq, _ in after if rank]


@given(families())
def test_the_version_that_shows_is_the_best_of_those_that_compete(family):
    """Final before pending, then the newest; a fork's own are newer than all it inherits."""
    for tape in family:
        state = tape.state()
        for message_id in {event.head.message_id for event in tape.events} - {None}:
            competing = unstruck_versions(tape, message_id)
            best = max(competing, default=None)
            shown = state.message(message_id).winner(include_pending=True)
            assert (None if shown is None else (shown.rank, shown.seq)) == best
            final = state.message(message_id).winner()
            assert final is None or final.rank == 2


def one_message(*versions):
    tape = Tape()
    for n, status in enumerate(versions):
        if n == 0:
            tape.assistant(f"v{n} {status}", id="m", status=status)
        else:
            tape.version("m", f"v{n} {status}", status=status)
    return tape


def test_the_newest_final_version_shows():
    assert said(one_message("sent", "error", "sent").view()) == ["assistant: v2 sent"]
    assert said(one_message("sent", "error").view()) == ["assistant: v1 error"]


def test_a_draft_shows_only_when_it_is_asked_for():
    tape = one_message("pending", "pending")
    assert said(tape.view()) == []
    assert said(tape.view(include_pending=True)) == ["assistant: v1 pending"]


def test_a_final_version_goes_before_a_later_draft():
    tape = one_message("pending", "sent", "pending")
    assert said(tape.view()) == ["assistant: v1 sent"]
    assert said(tape.view(include_pending=True)) == ["assistant: v1 sent"]


def test_a_version_of_another_status_is_dropped():
    tape = one_message("sent", "lost")
    assert said(tape.view(include_pending=True)) == ["assistant: v0 sent"]
    assert said(one_message("lost").view(include_pending=True)) == []


def test_a_dropped_version_is_not_what_a_restore_copies():
    """Else a restored message would stay out of sight."""
    tape = one_message("sent", "lost")
    tape.retract("m")
    session = tape.session()
    session.restore("m")
    assert said(session.view()) == ["assistant: v0 sent"]


def test_a_version_in_a_fork_is_newer_than_all_that_is_inherited():
    """A later generation, although its position on its own tape is smaller."""
    parent = one_message("sent", "sent", "sent")
    child = parent.fork("c", at=3)
    child.version("m", "the child's own")
    parent.version("m", "the parent's newest")
    assert said(child.view()) == ["assistant: the child's own"]
    assert said(parent.view()) == ["assistant: the parent's newest"]


def test_a_draft_in_a_fork_does_not_cover_an_inherited_final_version():
    parent = one_message("sent")
    child = parent.fork("c")
    child.redraft("m", "again")
    assert said(child.view(include_pending=True)) == ["assistant: v0 sent"]


def test_the_first_version_decides_where_a_message_stands_and_later_ones_what_it_says():
    tape = Tape()
    q = tape.user("one")
    tape.user("two")
    tape.version(q, "one, better")
    tape.move_leaf(q)
    tape.version(q, "one, best")
    assert said(tape.view("e2")) == ["user: one, best", "user: two"]
    assert said(tape.view()) == ["user: one, best"]


def test_a_version_of_a_message_that_never_began_begins_it_at_the_root():
    """A tape by others may lack the first version; nothing may be lost."""
    tape = Tape()
    tape.user("hi")
    tape.version("m", "a revision of nothing")
    assert said(tape.view()) == ["user: hi"]
    assert said(tape.view("m")) == ["assistant: a revision of nothing"]


def test_a_message_without_an_id_takes_its_entrys():
    tape = Tape()
    tape.user("hi", id="x", message_id=None)
    assert tape.view().messages[0].message_id == "x"
    tape.user("ho", message_id=None, entry_id=None)
    assert "#3" in tape.state().entries


def test_a_message_may_have_another_id_than_its_entry():
    tape = Tape()
    entry = tape.user("hi", id="entry", message_id="message")
    tape.version("message", "ho")
    (message,) = tape.view().messages
    assert (message.entry_id, message.message_id, message.position) == (entry, "message", 3)


def test_an_imported_later_version_has_a_node_of_its_own_that_is_walked_through():
    """Its ids are a mark; the message shows at its first version."""
    tape = Tape()
    tape.user("one", id="m")
    tape.version("m", "two", entry_id="v2", parent_id="m", stands_for="m")
    tape.assistant("three", parent_id="v2", id="a")
    view = tape.view()
    assert said(view) == ["user: two", "assistant: three"]
    assert [item.kind for item in view.items] == ["message", "mark", "message"]
    assert said(tape.view("v2")) == ["user: two"]
    assert tape.view("v2").leaf == "m"
