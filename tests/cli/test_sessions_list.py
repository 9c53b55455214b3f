"""sessions: order, filters, searching, and that no tape is folded for it."""

from datetime import UTC, datetime, timedelta

import pytest

from tapefold import Sessions
from tapefold.activity import describe
from tapefold.cli.directories import is_below
from tapefold.cli.listed import Wanted
from tapefold.cli.listing import listed_sessions
from tapefold.cli.sessiontable import print_sessions, size_text
from tapefold.cli.since import parse_since
from tapefold.cli.terminal import Lines
from tapefold.domain.instants import instant
from tapefold.finding import find_session
from tapefold.testing import Tape

from .conftest import ROOT
from .screens import Terminal


def ids(shape):
    return [one["session_id"] for one in shape["sessions"]]


def said(sessions, session_id, *texts, at, **options):
    s = sessions.start(session_id, **options)
    for text in texts:
        s.finalize("user", text, timestamp=at)
    sessions.save(s)


def test_the_newest_activity_comes_first_whatever_form_its_time_has(sessions, run_json):
    """Tau writes seconds, Pi ISO text, others milliseconds: as text or number they sort wrongly."""
    said(sessions, "march", "a", at="2026-03-02T09:00:00Z")
    said(sessions, "may", "a", at=1_777_600_000.5)
    said(sessions, "april", "a", at="2026-04-02T09:00:00+02:00")
    said(sessions, "june", "a", at=1_780_300_000_000)
    said(sessions, "never", "a", at="some day")
    assert ids(run_json("sessions")) == ["june", "may", "april", "march", "never"]
    assert find_session(sessions, "last") == "june"


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("2026-03-02T09:00:00Z", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("2026-03-02T09:00:00", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        (1_772_442_000, datetime(2026, 3, 2, 9, tzinfo=UTC)),
        (1_772_442_000_000, datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("1772442000.0", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("nan", None),
        (float("inf"), None),
        (True, None),
        (None, None),
        ("0001-01-01T00:00:00+05:00", None),
        (10**40, None),
    ],
)
def test_a_stored_time_is_an_instant_or_none(written, means):
    assert instant(written) == means


def test_a_list_says_what_folding_each_tape_says(run, sessions, talk):
    for name in ("short-talk.pi.jsonl", "bird-box.pi.jsonl", "kitchen-garden.tau.jsonl"):
        run("import", ROOT / "examples" / name)
    sessions.execute("talk", lambda s: s.draft("assistant", "Half", under=None, message_id="m"))
    sessions.execute("talk", lambda s: s.finalize("assistant", "Whole", message_id="m"))
    sessions.execute("talk", lambda s: s.set_info(directory="/elsewhere"))
    sessions.execute("talk", lambda s: s.move_leaf(talk["call"]))
    sessions.fork("talk", child_id="kid", at=4)
    sessions.fork("kid", child_id="kid-2")
    sessions.execute("kid-2", lambda s: s.set_title("Grandchild"))
    sessions.fork("talk", child_id="empty", inherit=False)
    folded = {info.session_id: info for info in sessions.sessions()}
    listed = {one.session_id: one for one in listed_sessions(sessions)}
    assert listed.keys() == folded.keys()
    for session_id, one in listed.items():
        info = folded[session_id]
        for name in (
            "position title directory created last_activity messages leaf parent parent_position"
        ).split():
            assert getattr(one, name) == getattr(info, name), (session_id, name)


def test_a_title_that_was_taken_away_is_none_also_in_a_fork(sessions):
    said(sessions, "s", "hi", at=None, title="First")
    sessions.execute("s", lambda s: s.set_title("Second"))
    sessions.fork("s", child_id="titled")
    sessions.execute("s", lambda s: s.set_title(None))
    sessions.fork("s", child_id="untitled")
    titles = {name: describe(sessions, name).title for name in ("s", "titled", "untitled")}
    assert titles == {"s": None, "titled": "Second", "untitled": None}


def test_of_each_session_a_few_events_are_read_however_long_it_is(sessions, monkeypatch):
    for n in range(4):
        s = sessions.start(f"s{n}")
        for _ in range(100):
            s.finalize("user", "hi", timestamp=n)
            s.finalize("assistant", "ho", model="m", timestamp=n)
        sessions.save(s)
    read = []
    mapper = type(sessions.mapper)

    def counted(name):
        real = getattr(mapper, name)

        def call(*arguments, **how):
            read.append(name)
            return real(*arguments, **how)

        monkeypatch.setattr(mapper, name, call)

    counted("head_of")
    counted("to_domain_event")
    assert len(list(listed_sessions(sessions))) == 4
    assert 0 < len(read) < 4 * 30
    read.clear()
    assert next(listed_sessions(sessions, Wanted(limit=1))).session_id == "s3"
    assert 0 < len(read) < 40


# -- filters -------------------------------------------------------------------------------------


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("3h", NOW - timedelta(hours=3)),
        ("2 days", NOW - timedelta(days=2)),
        ("1 week ago", NOW - timedelta(days=7)),
        ("1d 12h", NOW - timedelta(hours=36)),
        ("90 min", NOW - timedelta(minutes=90)),
        ("yesterday", datetime(2026, 3, 9, tzinfo=UTC)),
        ("today", datetime(2026, 3, 10, tzinfo=UTC)),
        ("2026-03-02", datetime(2026, 3, 2, tzinfo=UTC)),
        ("2026-03-02T09:30+02:00", datetime(2026, 3, 2, 7, 30, tzinfo=UTC)),
        ("999999999 years", datetime.min.replace(tzinfo=UTC)),
        ("", None),
        ("soon", None),
        ("3 lightyears", None),
        ("3", None),
    ],
)
def test_since_takes_days_and_how_long_ago(text, means):
    assert parse_since(text, NOW) == means


def test_since_leaves_older_sessions_out(sessions, run_json, run):
    said(sessions, "old", "a", at="2020-01-01T00:00:00Z")
    said(sessions, "new", "a", at=datetime.now(UTC).isoformat())
    assert ids(run_json("sessions", "--since", "2 days")) == ["new"]
    assert ids(run_json("sessions", "--since", "2019-12-31")) == ["new", "old"]
    assert "no moment" in run("sessions", "--since", "whenever", code=2)


def test_dir_means_the_directory_and_all_below_it(sessions, run_json, run, tmp_path, monkeypatch):
    said(sessions, "home", "a", at=3, directory=str(tmp_path))
    said(sessions, "below", "a", at=2, directory=str(tmp_path / "deep" / "er"))
    said(sessions, "beside", "a", at=1, directory=f"{tmp_path}-other")
    said(sessions, "nowhere", "a", at=0)
    assert ids(run_json("sessions", "--dir", tmp_path)) == ["home", "below"]
    assert ids(run_json("sessions", "--dir", tmp_path / "deep")) == ["below"]
    monkeypatch.chdir(tmp_path)
    assert ids(run_json("sessions", "--here")) == ["home", "below"]
    assert "not both" in run("sessions", "--here", "--dir", ".", code=2)
    assert "no session fits" in run("sessions", "--dir", tmp_path / "none")


def test_a_linked_directory_is_found_by_where_it_leads(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert is_below(str(tmp_path / "real" / "x"), str(tmp_path / "link"))
    assert is_below(str(tmp_path / "link" / "x"), str(tmp_path / "link"))
    assert not is_below(None, "/")
    assert is_below("/anything", "/")


@pytest.mark.parametrize("text", ["PLANK", "118 cm lo", "shelf", "what wood"])
def test_grep_finds_titles_messages_and_summaries_in_any_case(run, run_json, talk, text):
    run("import", ROOT / "examples" / "short-talk.pi.jsonl")
    assert ids(run_json("sessions", "--grep", text)) == ["short-talk"]


def test_grep_says_where_and_shows_the_words_around(run, run_json, talk):
    (found,) = run_json("sessions", "--grep", "oops")["sessions"]
    assert found["match"] == {"position": 7, "role": "user", "text": "Oops"}
    assert "└─ #7 user: Oops" in run("sessions", "--grep", "OOPS")
    assert run_json("sessions", "--grep", "A TALK")["sessions"][0]["match"]["position"] is None
    assert ids(run_json("sessions", "--grep", "nowhere to be found")) == []
    assert "empty" in run("sessions", "--grep", "", code=2)


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("Grüße", "GRÜSSE"),
        ('say "so"', 'SAY "SO"'),
        ("back\\slash", "k\\s"),
        ("two\nlines", "two\nlines"),
        ("273 K\u212a", "kk"),
        ("lone \ud800 one", "lone"),
        ("日本語", "本"),
    ],
)
def test_grep_finds_what_is_stored_as_an_escape_or_beyond_ascii(sessions, run_json, stored, text):
    said(sessions, "s", "first", stored, at=1)
    assert ids(run_json("sessions", "--grep", text)) == ["s"]


def test_a_limit_takes_the_newest(sessions, run_json, run):
    for n in range(5):
        said(sessions, f"s{n}", "a", at=n)
    assert ids(run_json("sessions", "--limit", "2")) == ["s4", "s3"]
    assert "0" in run("sessions", "--limit", "0", code=2)


# -- what is printed -----------------------------------------------------------------------------


def test_size_model_and_forks_have_their_columns(run, talk):
    run("fork", "talk", "--at", "3", "--id", "kid")
    head, kid, parent = run("sessions").splitlines()
    assert head.split()[:5] == ["SESSION", "MESSAGES", "LAST", "ACTIVITY", "SIZE"]
    assert "fork of talk at 3" in kid
    assert "m-1" in parent
    assert "KB" in parent


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (12_345, "12 KB"), (5_000_000_000, "5.0 GB")],
)
def test_sizes_are_written_for_people(size, text):
    assert size_text(size) == text


def test_twenty_columns_are_enough(environment, tmp_path, talk):
    with Terminal(["sessions"], environment, tmp_path, columns=20) as terminal:
        assert terminal.quit() == 0
        assert next(row for row in terminal.rows if row) == "A talk"


def test_a_session_that_cannot_be_read_is_listed_with_its_problem(store, run, run_json, talk):
    with Sessions(store) as sessions:
        said(sessions, "broken", "a", "b", at=1)
        with sessions.recorder.datastore.transaction(commit=True) as cursor:
            cursor.execute(
                "UPDATE tapefold_events SET state = x'00' WHERE originator_id = 'broken'"
            )
    shape = run_json("sessions")
    assert ids(shape) == ["talk", "broken"]
    assert "position 3" in shape["sessions"][1]["problem"]
    assert "(unreadable: " in run("sessions")


@pytest.mark.parametrize("narrowed", [("--grep", "hi"), ("--since", "2020-01-01"), ("--dir", "/")])
def test_what_no_filter_can_read_is_left_out_and_said_so(sessions, program, narrowed):
    said(sessions, "fine", "hi", at="2026-03-02T09:00:00Z", directory="/home")
    said(sessions, "timeless", "ho", at="some day", directory="/home")
    said(sessions, "broken", "a", "b", at=1, directory="/home")
    with sessions.recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute("UPDATE tapefold_events SET state = x'00' WHERE originator_id = 'broken'")
    result = program("sessions", *narrowed)
    assert result.returncode == 0
    assert b"fine" in result.stdout
    assert b"broken" not in result.stdout
    said_so = result.stderr.decode()
    assert "left out: " in said_so
    assert "'broken'" in said_so
    assert ("'timeless'" in said_so) == (narrowed[0] == "--since")


def test_a_tape_that_begins_with_something_else_is_listed(sessions, run_json):
    tape = Tape("s", start=False)
    tape.user("hi", id="e")
    with sessions.recorder.writing() as transaction:
        transaction.insert_events([sessions.mapper.to_stored_event(e) for e in tape.events])
    (found,) = run_json("sessions")["sessions"]
    assert (found["title"], found["first_words"], found["problem"]) == (None, "hi", None)


def test_a_column_that_has_no_room_is_left_out_with_its_heading(sessions):
    said(sessions, "0190c0de-1111-7222-8333-944455556666", "word " * 30, directory="/a/b", at=0)
    sessions.fork("0190c0de-1111-7222-8333-944455556666", child_id="child")
    paper = Lines(80)
    print_sessions(paper, list(listed_sessions(sessions)))
    head, *rows = ["".join(span.text for span in line) for line in paper.take()]
    assert head.split("  ")[-1].strip() == "TITLE OR FIRST WORDS"
    assert "fork of" not in "".join(rows)
    shown = rows[1].split()[0]
    assert shown.startswith("…")
    assert find_session(sessions, shown) == "0190c0de-1111-7222-8333-944455556666"


def test_the_messages_of_a_fork_are_told_to_be_its_own(sessions, run):
    said(sessions, "parent", "a", "b", at=0)
    child = sessions.fork("parent", child_id="child")
    sessions.execute("child", lambda s: s.finalize("user", "mine", timestamp=0))
    assert child.id == "child"
    listed = run("sessions")
    assert "1 own" in listed
    assert listed.count(" own") == 1
    assert "1 own message" in run("forks", "parent")
