"""A process is killed (SIGKILL) in the middle of its work. What it acknowledged is there."""

from __future__ import annotations

import random

from tapefold import Sessions

MOMENTS = 50


def random_moment() -> dict[str, float]:
    """Now and then before anything was acknowledged, mostly in the middle of an append."""
    return {"lines": random.randrange(12), "seconds": random.uniform(0, 0.004)}


def test_every_acknowledged_message_survives_fifty_kills(store_path, open_sessions, kill):
    """The writer prints each id when it is told of it; printed ids are on the tape afterwards."""
    script = """
        sessions = Sessions(sys.argv[1])
        while True:
            outcome = sessions.execute("s", lambda s: s.finalize("user", "x" * 500))
            say(outcome.position, outcome.message_id)
        """
    with Sessions(store_path) as sessions:
        sessions.start("s", persist=True)
    printed = 0
    for _ in range(MOMENTS):
        lines = kill(script, store_path, **random_moment())
        printed += len(lines)
        sessions = open_sessions(store_path)
        tape = {position: head.message_id for position, head in sessions.heads("s")}
        assert list(tape) == list(range(1, len(tape) + 1))
        for line in lines:
            position, message_id = line.split()
            assert tape[int(position)] == message_id
        if lines:
            assert len(tape) - int(lines[-1].split()[0]) <= 1, "more than was being written"
        outcome = sessions.execute("s", lambda s: s.finalize("user", "the next one"))
        assert outcome.position == len(tape) + 1
        sessions.close()
    assert printed > MOMENTS


def test_a_fork_that_was_killed_is_there_with_receipt_and_child_or_not_at_all(
    store_path, open_sessions, kill
):
    script = """
        sessions = Sessions(sys.argv[1])
        while True:
            child = sessions.fork("s", title="a side way")
            say(child.id)
        """
    with Sessions(store_path) as sessions:
        session = sessions.start("s")
        session.finalize("user", "Where does this road go?")
        sessions.save(session)
    printed = 0
    for _ in range(15):
        lines = kill(script, store_path, **random_moment())
        printed += len(lines)
        sessions = open_sessions(store_path)
        receipts = {e.body.child for e in sessions.tape("s") if e.head.kind == "forked"}
        children = {info.session_id for info in sessions.sessions() if info.parent == "s"}
        assert receipts == children
        assert set(lines) <= children
        assert len(receipts) == sessions.state("s").position - 2
        sessions.close()
    assert printed
    sessions = open_sessions(store_path)
    for child in children:
        assert [m.role for m in sessions.view(child).messages] == ["user"]
    assert sessions.fork("s").id not in children


def test_an_imported_chunk_that_was_killed_is_there_whole_or_not_at_all(
    store_path, open_sessions, kill
):
    """The chunks of an import are transactions, the first one (which begins the tape) too."""
    script = """
        from tapefold.domain.drafts import Draft
        from tapefold.domain.events import MessageFinalized, SessionStarted
        from tapefold.domain.bodies import MessageBody

        def chunk(first):
            for position in range(first, first + 40):
                if position == 1:
                    yield Draft.of(SessionStarted)
                    continue
                yield Draft.of(
                    MessageFinalized,
                    MessageBody(content=f"message {position} " + "x" * 300),
                    entry_id=f"e{position}", parent_id=f"e{position - 1}", takes_leaf=True,
                    message_id=f"e{position}", role="user", status="sent",
                )

        sessions = Sessions(sys.argv[1])
        try:
            position = sessions.state("s").position
        except SessionNotFound:
            position = 0
        while True:
            position = sessions.append("s", list(chunk(position + 1)), expected_position=position)
            say(position)
        """
    printed = 0
    for _ in range(15):
        lines = kill(script, store_path, **random_moment())
        printed += len(lines)
        sessions = open_sessions(store_path)
        positions = [position for position, _ in sessions.heads("s")]
        assert positions == list(range(1, len(positions) + 1))
        assert len(positions) % 40 == 0
        assert not lines or len(positions) in (int(lines[-1]), int(lines[-1]) + 40)
        sessions.close()
    assert printed
    sessions = open_sessions(store_path)
    assert sessions.execute("s", lambda s: s.finalize("user", "on")).position == len(positions) + 1


def test_a_store_whose_first_creation_was_killed_is_begun_by_the_next_process(
    tmp_path, open_sessions, kill
):
    """Whatever stands there of the file: the next one opens it, and what was said is there."""
    script = """
        sessions = Sessions(sys.argv[1])
        session = sessions.start("s")
        session.finalize("user", "first words")
        sessions.save(session)
        say("saved")
        time.sleep(60)
        """
    outcomes = set()
    for n in range(25):
        path = tmp_path / f"{n}" / "sessions.db"
        path.parent.mkdir()
        lines = kill(script, path, seconds=n * 0.001)
        sessions = open_sessions(path)
        there = [info.session_id for info in sessions.sessions()]
        assert there == ["s"] or (there == [] and lines == [])
        outcomes.add((tuple(lines), tuple(there)))
        if not there:
            session = sessions.start("s")
            session.finalize("user", "first words")
            sessions.save(session)
        outcome = sessions.execute("s", lambda s: s.finalize("user", "more words"))
        assert outcome.position == 3
        assert [e.position for e in sessions.tape("s")] == [1, 2, 3]
        sessions.close()
    assert ((), ()) in outcomes, "one was killed before it had written anything"
