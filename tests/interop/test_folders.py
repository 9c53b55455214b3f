"""Which files of a folder are taken for session files, and what is said of the others."""

import os
from pathlib import Path

from tapefold.importing import import_files
from tapefold.interop.folders import SessionFiles
from tapefold.interop.report import ImportReport
from tapefold.tape_files import write_tape


def names(found, top):
    return [os.path.relpath(one, top) for one in found if isinstance(one, str)]


def test_files_come_in_the_order_of_their_names_folder_by_folder(tmp_path, pi, tau):
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "b" / "1").write_bytes(pi.session(pi.user("a", None, "A")))
    (tmp_path / "b" / "c" / "2.log").write_bytes(tau.session(tau.user("a", None, "A")))
    (tmp_path / "z.jsonl").write_text("whatever")
    found = SessionFiles([tmp_path])
    assert names(found, tmp_path) == ["a.jsonl", "b/1", "b/c/2.log", "z.jsonl"]
    assert found.passed_over == 0


def test_files_that_begin_with_a_mark_or_blanks_are_known_too(tmp_path, sessions, pi):
    session = sessions.start("s", persist=True)
    (tmp_path / "mark").write_bytes(b"\xef\xbb\xbf" + pi.session(pi.user("a", None, "A")))
    (tmp_path / "blank").write_bytes(b"\n\n" + pi.session(pi.user("a", None, "A")))
    (tmp_path / "tape").write_bytes(b"".join(write_tape(sessions, session.id)))
    (tmp_path / "array").write_bytes(b"[" + pi.session(pi.user("a", None, "A")))
    (tmp_path / "empty").touch()
    found = SessionFiles([tmp_path])
    assert names(found, tmp_path) == ["blank", "mark", "tape"]
    assert found.passed_over == 2


def test_a_path_that_is_named_comes_out_whatever_is_there(tmp_path):
    (tmp_path / "notes.txt").write_text("milk")
    paths = [str(tmp_path / "notes.txt"), str(tmp_path / "missing")]
    assert list(SessionFiles(paths)) == paths


def test_a_pipe_in_a_folder_blocks_nobody(tmp_path):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    assert list(SessionFiles([tmp_path])) == []


def test_folders_that_link_to_each_other_are_read_once(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "b").symlink_to(tmp_path / "b")
    (tmp_path / "b" / "a").symlink_to(tmp_path / "a")
    (tmp_path / "b" / "x.jsonl").touch()
    found = list(SessionFiles([tmp_path]))
    assert names(found, tmp_path) == ["a/b/x.jsonl"]
    seen = [one for one in found if isinstance(one, ImportReport)]
    assert [(r.problems[0].reason, r.refused) for r in seen] == [("seen_before", False)] * 2


def test_import_files_takes_folders_and_dry_runs(tmp_path, sessions, pi, tau):
    (tmp_path / "1.jsonl").write_bytes(pi.session(pi.user("a", None, "A")))
    (tmp_path / "2.jsonl").write_bytes(b"rubbish\n")
    (tmp_path / "3.jsonl").write_bytes(tau.session(tau.user("a", None, "A")))
    (tmp_path / "4").symlink_to(tmp_path)
    dry = import_files(sessions, [tmp_path], dry_run=True)
    assert list(sessions.sessions()) == []
    real = import_files(sessions, [tmp_path])
    assert dry == real
    assert [report.refused for report in real] == [False, True, False, False]
    assert [report.kept for report in real] == [2, 0, 1, 0]


def test_what_may_not_be_looked_into_is_reported_and_stops_nothing(tmp_path, monkeypatch):
    """As the system says it: root may look into everything, so the rights alone show nothing."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "later.jsonl").touch()
    (tmp_path / "odd").touch()
    listed, asked = Path.iterdir, Path.is_dir

    def iterdir(path):
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    def is_dir(path):
        if path.name == "odd":
            raise PermissionError(13, "Permission denied")
        return asked(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    monkeypatch.setattr(Path, "is_dir", is_dir)
    closed, later = SessionFiles([tmp_path])
    assert isinstance(closed, ImportReport)
    (problem,) = closed.problems
    assert (problem.reason, problem.detail) == ("folder_unreadable", "Permission denied")
    assert closed.refused
    assert later == str(tmp_path / "later.jsonl")
