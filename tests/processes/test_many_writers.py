"""Several processes append to one session at the same time, through `execute`."""

from __future__ import annotations

import pytest

from tapefold import ConcurrencyConflict, Sessions, UnderRequired

BUSY_TIMEOUT = 30.0
"""The default of a store. Unit: seconds."""


def test_eight_processes_append_two_thousand_messages_to_one_session(
    store_path, open_sessions, start_process, finish, record_property
):
    """None lost, none doubled, no gap, no error of the driver, and nobody waits for long."""
    script = """
        with Sessions(sys.argv[1]) as sessions:
            say("ready")
            sys.stdin.readline()
            worst = 0.0
            for n in range(250):
                text = f"{sys.argv[2]}:{n}"
                started = time.monotonic()
                outcome = sessions.execute("s", lambda s: s.finalize("user", text))
                worst = max(worst, time.monotonic() - started)
                say(outcome.position, outcome.message_id, text)
            say(worst)
        """
    sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    processes = [start_process(script, store_path, who) for who in range(8)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    acknowledged: dict[int, tuple[str, str]] = {}
    waits = []
    for process in processes:
        *lines, wait = finish(process)
        waits.append(float(wait))
        assert len(lines) == 250
        for line in lines:
            position, message_id, text = line.split()
            acknowledged[int(position)] = (message_id, text)
    tape = list(sessions.tape("s"))
    assert [event.position for event in tape] == list(range(1, 2002))
    said = {
        event.position: (event.head.message_id, event.body.content[0].text) for event in tape[1:]
    }
    assert said == acknowledged, "what was acknowledged is what stands there"
    texts = {text for _, text in said.values()}
    assert texts == {f"{who}:{n}" for who in range(8) for n in range(250)}
    for before, event in zip([None, *tape[1:]], tape[1:], strict=False):
        assert event.head.parent_id == (None if before is None else before.head.entry_id)
        assert event.head.takes_leaf
    assert len(sessions.view("s").messages) == 2000
    record_property("worst_wait_seconds", max(waits))
    print(f"worst wait of one call: {max(waits):.3f} s")
    assert max(waits) < BUSY_TIMEOUT / 3, "the next slower disk must not bring StoreBusy"


def test_answers_to_different_questions_hang_under_their_own_question(
    store_path, open_sessions, start_process, finish
):
    """Two writers ask and answer at once, while a third moves the leaf about."""
    writer = """
        with Sessions(sys.argv[1]) as sessions:
            sys.stdin.readline()
            for n in range(60):
                text = f"{sys.argv[2]}:{n}"
                asked = sessions.execute("s", lambda s: s.finalize("user", text))
                time.sleep(random.uniform(0, 0.004))
                sessions.execute(
                    "s", lambda s: s.finalize("assistant", text, under=asked.entry_id)
                )
        """
    mover = """
        with Sessions(sys.argv[1]) as sessions:
            sys.stdin.readline()
            for n in range(60):
                def move(session):
                    entries = list(session.state.entries)
                    return session.move_leaf(random.choice([*entries, None]))
                sessions.execute("s", move)
                time.sleep(random.uniform(0, 0.004))
        """
    sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    processes = [start_process(writer, store_path, who) for who in ("left", "right")]
    processes.append(start_process(mover, store_path))
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        finish(process)
    messages = [e for e in sessions.tape("s") if e.head.role in ("user", "assistant")]
    text_of = {e.head.entry_id: e.body.content[0].text for e in messages}
    answers = [e for e in messages if e.head.role == "assistant"]
    assert len(messages) == 240
    assert len(answers) == 120
    assert len({e.head.parent_id for e in answers}) == 120
    for answer in answers:
        assert text_of[answer.head.parent_id] == answer.body.content[0].text
    roles = {e.head.entry_id: e.head.role for e in messages}
    assert {roles[e.head.parent_id] for e in answers} == {"user"}


def test_an_answer_that_does_not_say_what_it_answers_is_refused(store_path, open_sessions):
    sessions: Sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    sessions.execute("s", lambda s: s.finalize("user", "Which day is it?"))
    with pytest.raises(UnderRequired):
        sessions.execute("s", lambda s: s.finalize("assistant", "Monday."))
    assert sessions.state("s").position == 2


def test_of_two_answers_that_expect_the_same_position_one_is_refused(
    store_path, open_sessions, start_process, finish
):
    """With `expected_position` an answer may leave out `under`: it goes nowhere else."""
    script = """
        with Sessions(sys.argv[1]) as sessions:
            for line in sys.stdin:
                position = int(line)
                try:
                    outcome = sessions.execute(
                        "s",
                        lambda s: s.finalize("assistant", sys.argv[2]),
                        expected_position=position,
                    )
                    say("appended", outcome.position)
                except ConcurrencyConflict as conflict:
                    say("refused", conflict.expected, conflict.actual)
        """
    sessions = open_sessions(store_path)
    sessions.start("s", persist=True)
    processes = [start_process(script, store_path, who) for who in ("left", "right")]
    for n in range(20):
        asked = sessions.execute("s", lambda s, n=n: s.finalize("user", f"{n}?"))
        for process in processes:
            process.stdin.write(f"{asked.position}\n")
            process.stdin.flush()
        answers = sorted(process.stdout.readline().split() for process in processes)
        now = asked.position + 1
        assert answers == [["appended", f"{now}"], ["refused", f"{asked.position}", f"{now}"]]
    for process in processes:
        finish(process)
    roles = [message.role for message in sessions.view("s").messages]
    assert roles == ["user", "assistant"] * 20
    with pytest.raises(ConcurrencyConflict):
        sessions.execute("s", lambda s: s.finalize("user", "?"), expected_position=3)
