"""`replay --follow`: what other processes append, as it comes."""

import json
import os
import select
import signal
import subprocess

import pytest

from .conftest import PROGRAM

PATIENCE = 30


class Following:
    """A process of `replay --follow`, read line by line."""

    def __init__(self, environment, folder, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, "replay", *arguments, "--follow"],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self._out = self.process.stdout.fileno()
        self._read = b""

    def line(self):
        """The next line; it must come in a generous time."""
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._out], [], [], PATIENCE)
            assert ready, "no line came"
            data = os.read(self._out, 65_536)
            assert data, self.process.stderr.read()
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def lines(self, number):
        return [self.line() for _ in range(number)]

    def end(self, number=signal.SIGINT):
        """End it by a signal; its exit code, and what it still printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self._read + out, err


@pytest.fixture
def following(environment, tmp_path):
    opened = []

    def follow(*arguments):
        opened.append(Following(environment, tmp_path, *arguments))
        return opened[-1]

    yield follow
    for one in opened:
        one.process.kill()
        one.process.communicate()


def say(sessions, text, session_id="talk"):
    sessions.execute(session_id, lambda session: session.finalize("user", text))


def test_what_is_there_is_printed_and_then_what_comes(following, sessions, talk):
    follower = following("talk")
    assert "session started" in follower.lines(9)[0]
    for n in range(3):
        say(sessions, f"news {n}")
        assert follower.line().endswith(f"+ user  news {n}")
    assert follower.end() == (130, b"", b"")


def test_each_step_is_an_object_on_a_line_of_its_own_at_once(following, sessions, talk):
    follower = following("talk", "--json", "--from", "9")
    assert json.loads(follower.line())["position"] == 9
    say(sessions, "news")
    step = json.loads(follower.line())
    assert (step["position"], step["messages"]) == (10, 5)
    assert [effect["effect"] for effect in step["effects"]] == ["added"]
    assert follower.end()[0] == 130


def test_it_can_begin_with_what_comes_next(following, run, sessions, talk):
    follower = following("talk", "--from", "10")
    say(sessions, "the first")
    assert follower.line().endswith("the first")
    assert "positions 1 to 10" in run("replay", "talk", "--follow", "--from", "12", code=1)


def test_events_of_other_sessions_are_not_shown(following, sessions, talk):
    other = sessions.start("other")
    other.finalize("user", "of another")
    sessions.save(other)
    follower = following("talk", "--from", "9")
    follower.line()
    say(sessions, "of another", "other")
    say(sessions, "of this")
    assert follower.line().endswith("of this")


@pytest.mark.slow
def test_many_events_at_once_come_whole_and_in_order(following, sessions, talk):
    follower = following("talk", "--json", "--from", "10")

    def many(session):
        for n in range(1200):
            session.finalize("user", f"{n}")

    sessions.execute("talk", many)
    positions = [json.loads(line)["position"] for line in follower.lines(1200)]
    assert positions == list(range(10, 1210))


def test_a_session_that_is_forked_meanwhile_is_followed_on(following, sessions, talk):
    follower = following("talk", "--from", "9")
    follower.line()
    sessions.fork("talk", child_id="child")
    assert "* forked child · from position 9" in follower.line()
    say(sessions, "of the child", "child")
    say(sessions, "of the parent")
    assert follower.line().endswith("of the parent")


@pytest.mark.slow
def test_a_fork_is_followed_on_its_own_tape(following, sessions, talk):
    sessions.fork("talk", child_id="child")
    follower = following("child")
    assert "inherits 4 messages" in follower.line()
    say(sessions, "of the parent")
    say(sessions, "of the child", "child")
    assert follower.line().endswith("of the child")


def test_a_writer_that_holds_the_store_does_not_end_it(following, sessions, talk):
    follower = following("talk", "--from", "9")
    follower.line()
    with sessions.recorder.writing():  # nothing else can be written, and nothing comes
        assert select.select([follower.process.stdout], [], [], 0.3)[0] == []
        assert follower.process.poll() is None
    say(sessions, "after it")
    assert follower.line().endswith("after it")


def test_a_reader_that_goes_away_ends_it_quietly_also_without_news(following, talk):
    follower = following("talk")
    follower.lines(9)
    follower.process.stdout.close()
    assert follower.process.wait(timeout=PATIENCE) == 0
    assert follower.process.stderr.read() == b""


@pytest.mark.slow
def test_a_request_to_end_ends_it_at_once(following, talk):
    follower = following("talk")
    follower.lines(9)
    code, out, err = follower.end(signal.SIGTERM)
    assert (code, out, err) == (-signal.SIGTERM, b"", b"")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--follow", "--to", "3"), "--follow has no end"),
        (("--follow", "--at", "3"), "--follow has no end"),
        (("--step", "--json"), "--json"),
        (("--step", "--from", "3"), "--at says where it begins"),
        (("--step", "--to", "3"), "--at says where it begins"),
        (("--from", "5", "--to", "3"), "comes after"),
    ],
)
def test_options_that_say_nothing_together_are_wrong_use(run, talk, arguments, said):
    assert said in run("replay", "talk", *arguments, code=2)


def test_tape_takes_one_end(run, talk):
    assert "--at says the same as --to" in run("tape", "talk", "--at", "3", "--to", "2", code=2)
    assert "comes after" in run("tape", "talk", "--from", "5", "--to", "3", code=2)
    assert len(run("tape", "talk", "--from", "2", "--at", "3").splitlines()) == 2
