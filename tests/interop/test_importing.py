"""Importing into a store: again, grown, changed, interrupted, refused."""

import json

import pytest

from tapefold.importing import import_file, import_files
from tapefold.interop.errors import NotASessionFile, SessionTaken, SourceChanged, UnsupportedFile
from tapefold.interop.reading import SessionReading
from tapefold.interop.report import REASONS, REPAIRS, ImportReport
from tapefold.interop.sources import FileSource
from tapefold.sessions import Sessions


def chain(tool, *ids):
    parents = [None, *ids[:-1]]
    return [tool.user(i, parent, i.upper()) for i, parent in zip(ids, parents, strict=True)]


def test_a_second_import_finds_nothing_new(load, tool):
    first = load(tool.session(*chain(tool, "a", "b", "c")))
    before = list(first.sessions.tape(first.id))
    again = first.again()
    assert (again.report.kept, again.report.already) == (0, first.report.kept)
    assert again.report.problems == []
    assert list(first.sessions.tape(first.id)) == before


def test_of_a_grown_file_only_what_is_new_is_imported(load, tool):
    first = load(tool.session(*chain(tool, "a", "b")))
    first.path.write_bytes(tool.session(*chain(tool, "a", "b", "c")))
    again = first.again()
    assert (again.report.kept, again.report.already) == (1, first.report.kept)
    assert again.said() == ["A", "B", "C"]


def test_records_are_compared_as_parsed_and_not_as_written(load, tool):
    first = load(tool.session(*chain(tool, "a", "b")))
    lines = [json.loads(line) for line in first.path.read_bytes().splitlines()]
    spaced = [json.dumps(dict(reversed(line.items())), indent=None) for line in lines]
    first.path.write_text("\n\n".join(spaced) + "\n")
    again = first.again()
    assert (again.report.kept, again.report.already) == (0, first.report.kept)


def test_a_changed_record_is_refused_with_its_line_and_nothing_is_written(load, tool):
    first = load(tool.session(*chain(tool, "a", "b", "c")))
    before = list(first.sessions.tape(first.id))
    changed = [*chain(tool, "a", "b", "c", "d")]
    changed[1] = tool.user("b", "a", "another text")
    first.path.write_bytes(tool.session(*changed))
    with pytest.raises(SourceChanged, match="--as-new") as caught:
        first.again()
    line = 3 if tool.NAME == "pi" else 2
    assert (caught.value.line, caught.value.report.problems[-1].line) == (line, line)
    assert list(first.sessions.tape(first.id)) == before


def test_a_changed_header_is_refused(load, pi):
    first = load(pi.session(*chain(pi, "a")))
    first.path.write_bytes(pi.file(pi.header(cwd="/elsewhere"), *chain(pi, "a")))
    with pytest.raises(SourceChanged, match="line 1"):
        first.again()


def test_a_file_that_lost_its_end_is_refused(load, tool):
    first = load(tool.session(*chain(tool, "a", "b", "c")))
    first.path.write_bytes(tool.session(*chain(tool, "a", "b")))
    with pytest.raises(SourceChanged, match="is gone"):
        first.again()


def test_as_new_imports_it_as_another_session(load, tool):
    first = load(tool.session(*chain(tool, "a", "b")))
    report = import_file(first.sessions, first.path, as_new=True)
    assert report.session_id != first.id
    assert report.kept == first.report.kept
    assert [e.head for e in first.sessions.tape(report.session_id)] == [
        e.head for e in first.sessions.tape(first.id)
    ]


def test_what_was_appended_here_keeps_the_leaf(load, tool):
    first = load(tool.session(*chain(tool, "a", "b")))
    first.sessions.execute(first.id, lambda s: s.finalize("user", "here"))
    first.path.write_bytes(tool.session(*chain(tool, "a", "b", "c")))
    again = first.again()
    assert again.report.kept == 1
    assert again.said() == ["A", "B", "here"]
    assert again.said(leaf="c") == ["A", "B", "C"]


def test_an_interrupted_import_is_completed_by_importing_again(tmp_path, tool):
    path = tmp_path / "long.jsonl"
    path.write_bytes(tool.session(*chain(tool, *(f"e{n}" for n in range(50)))))
    with Sessions("memory:") as store, Sessions("memory:") as other:
        whole = import_file(store, path)
        session_id = str(whole.session_id)
        reading = SessionReading(FileSource(path), str(path))
        drafts = list(reading.drafts(incarnation="i"))
        other.append(session_id, drafts[:20], expected_position=0)
        again = import_file(other, path)
        assert again.kept + again.already == whole.kept
        assert [e.head for e in other.tape(session_id)] == [e.head for e in store.tape(session_id)]
        assert [e.body for e in other.tape(session_id, gt=1)] == [
            e.body for e in store.tape(session_id, gt=1)
        ]


def test_a_file_of_many_records_is_appended_in_several_transactions(tmp_path, tool):
    path = tmp_path / "long.jsonl"
    ids = [f"e{n}" for n in range(2_100)]
    path.write_bytes(tool.session(*chain(tool, *ids)))
    with Sessions("memory:") as store:
        report = import_file(store, path)
        assert report.kept == len(ids) + (tool.NAME == "pi")
        assert len(store.view(str(report.session_id)).messages) == len(ids)
        assert import_file(store, path).kept == 0


def test_neither_the_file_nor_its_folder_is_written_to(load, tool, tmp_path):
    session = load(tool.session(*chain(tool, "a", "b")))
    data, modified = session.path.read_bytes(), session.path.stat().st_mtime_ns
    session.again()
    assert session.path.read_bytes() == data
    assert session.path.stat().st_mtime_ns == modified
    assert list(tmp_path.iterdir()) == [session.path]


def test_a_read_only_file_is_imported(load, tool, tmp_path):
    path = tmp_path / "kept.jsonl"
    path.write_bytes(tool.session(*chain(tool, "a")))
    path.chmod(0o400)
    assert load(path).said() == ["A"]


def test_counts_add_up_and_the_machine_shape_is_as_documented(load, tool):
    record = tool.user("b", "gone", "B")
    torn = tool.dump(tool.user("z", "b", "Z"))[:40]
    data = tool.session(*chain(tool, "a"), b"", record, b"rubbish", end=b"\n") + torn
    report = load(data).report
    assert report.read == report.kept + report.already + report.skipped
    assert (report.repaired, report.foreign, report.skipped) == (1, 1, 2)
    shape = report.to_json()
    assert list(shape) == [
        "path",
        "format",
        "session_id",
        "read",
        "kept",
        "already",
        "repaired",
        "foreign",
        "skipped",
        "problems",
        "size",
        "sizes",
    ]
    assert shape["size"] == len(data)
    assert shape["sizes"] == {
        "kept": len(data) - 1 - len(torn),
        "already": 0,
        "torn": len(torn),
        "blank": 1,
        "unread": 0,
    }
    assert [p["reason"] for p in shape["problems"]] == [
        "blank_line",
        "unknown_parent",
        "unreadable_line",
        "torn_tail",
    ]
    assert all(set(p) == {"line", "reason", "detail"} for p in shape["problems"])


def test_every_reason_is_declared_and_every_repair_is_a_reason():
    assert set(REASONS) >= REPAIRS
    with pytest.raises(KeyError):
        ImportReport("x").add(1, "no_such_reason")


def test_of_very_many_problems_the_rest_is_counted(load, tool):
    report = load(tool.session(*chain(tool, "a"), *[b""] * 10_500)).report
    shape = report.to_json()
    assert len(shape["problems"]) == 10_001
    assert shape["problems"][-1] == {"line": None, "reason": "and_more", "detail": "500 more"}


def test_a_second_import_counts_all_bytes_as_there_already(load, tool):
    torn = tool.dump(tool.user("z", "a", "Z"))[:40]
    data = tool.session(*chain(tool, "a", "b"), tool.user("b", "a", "b")) + torn
    shape = load(data).again().report.to_json()
    assert shape["sizes"] == {
        "kept": 0,
        "already": len(data) - len(torn),
        "torn": len(torn),
        "blank": 0,
        "unread": 0,
    }


@pytest.mark.parametrize(
    "data",
    [
        b"no json at all\n",
        b"\x89PNG\r\n\x1a\n\0\0\0",
        b"SQLite format 3\0" + b"\0" * 200,
        b'{"uuid":"1","type":"user","parentUuid":null,"message":{"role":"user"}}\n',
        b'[{"role":"user","content":"x"}]\n',
        b'{"a":1}\n{"b":2}\n',
        b"{" * 100_000,
    ],
    ids=["text", "png", "sqlite", "claude", "array", "other", "braces"],
)
def test_a_file_that_is_no_session_of_these_tools_is_refused(load, sessions, data):
    with pytest.raises(NotASessionFile) as caught:
        load(data)
    shape = caught.value.report.to_json()
    assert shape["problems"][-1]["reason"] == "not_a_session_file"
    assert (shape["size"], shape["sizes"]["unread"]) == (len(data), len(data))
    assert list(sessions.sessions()) == []


@pytest.mark.parametrize(
    ("data", "says"), [(b"", "the file is empty"), (b"\n\n  \n", "nothing in the file but blank")]
)
def test_an_empty_file_has_a_reason_of_its_own(load, data, says):
    with pytest.raises(NotASessionFile, match=says) as caught:
        load(data)
    assert caught.value.reason == "empty_file"


def test_a_folder_and_a_missing_file_are_refused(load, tmp_path):
    for path, reason in (
        (tmp_path, "unreadable_file"),
        (tmp_path / "missing.jsonl", "missing_file"),
    ):
        with pytest.raises(NotASessionFile, match="cannot be read") as caught:
            load(path)
        assert caught.value.reason == reason


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_another_encoding_is_refused_by_name(load, tool, encoding):
    with pytest.raises(UnsupportedFile, match=r"UTF-(16|32)"):
        load(tool.session(*chain(tool, "a")).decode().encode(encoding))


def test_a_session_of_the_same_id_that_is_none_of_the_file_is_not_written_to(load, sessions, pi):
    session = sessions.start("pi-session")
    session.finalize("user", "mine")
    sessions.save(session)
    with pytest.raises(SessionTaken, match="--as-new"):
        load(pi.session(*chain(pi, "a")))
    assert len(sessions.view("pi-session").messages) == 1


def test_one_refused_file_does_not_stop_the_others(sessions, pi, tau, tmp_path):
    good, bad, also_good = (tmp_path / name for name in ("1.jsonl", "2.jsonl", "3.jsonl"))
    good.write_bytes(pi.session(*chain(pi, "a")))
    bad.write_bytes(b"rubbish\n")
    also_good.write_bytes(tau.session(*chain(tau, "a")))
    reports = import_files(sessions, [good, bad, also_good])
    assert [report.refused for report in reports] == [False, True, False]
    assert [report.format for report in reports] == ["pi", None, "tau"]


def test_every_event_that_is_stored_could_have_been_validated(load, pi_file):
    for event in load(pi_file).events:
        assert type(event.body).build(**event.body.to_json()) == event.body


def test_every_event_of_tau_that_is_stored_could_have_been_validated(load, tau_file):
    for event in load(tau_file).events:
        assert type(event.body).build(**event.body.to_json()) == event.body
