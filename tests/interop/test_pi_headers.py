"""The header of Pi's files: identity, version, and what is done where it is missing or odd."""

import json
from hashlib import sha256

import pytest

from tapefold.interop.errors import UnsupportedFile


def test_the_header_gives_id_directory_and_time_and_is_kept_whole(load, pi):
    header = pi.header(parentSession="/home/user/older.jsonl", more={"kept": None})
    started = load(pi.file(header)).started
    assert started.session_id == "pi-session"
    assert started.body.directory == "/home/user/demo"
    assert started.timestamp == header["timestamp"]
    assert started.body.imported_from == {
        "format": "pi",
        "version": 3,
        "name": "session.jsonl",
    }
    assert started.body.extra["pi"]["header"] == header


def test_the_path_of_the_file_is_nowhere_on_the_tape(load, pi, tmp_path):
    session = load(pi.session(pi.user("a", None, "A")))
    for event in (session.started, *session.events):
        assert str(tmp_path) not in json.dumps([event.head.to_json(), event.body.to_json()])


def test_a_second_header_is_no_entry(load, pi):
    session = load(pi.session(pi.user("a", None, "A"), pi.header(id="other")))
    assert session.id == "pi-session"
    assert session.events[1].head.entry_id is None
    assert session.reasons == [(3, "second_header")]


@pytest.mark.parametrize(
    ("version", "read_as"),
    [(None, 1), (1, 1), (2, 2), ("2", 2), (2.5, 2), (0, 1), (-7, 1), (True, 1), ("three", 1)],
)
def test_an_older_version_is_read_and_told(load, pi, version, read_as):
    session = load(pi.file(pi.header(version=version), pi.user("a", None, "A")))
    assert session.said() == ["A"]
    told = [(p.reason, p.detail) for p in session.report.problems]
    assert told[-1] == ("older_version", f"version {read_as} is read as version 3")
    odd = type(version) is not int or version < 1
    assert [reason for reason, _ in told[:-1]] == ["header_version"] * (odd and version is not None)
    assert session.again().reasons == []


def test_a_header_without_a_version_means_version_one(load, pi):
    header = pi.header()
    del header["version"]
    session = load(pi.file(header, pi.user("a", None, "A")))
    assert [p.detail for p in session.report.problems] == ["version 1 is read as version 3"]
    assert session.started.body.imported_from["version"] == 1
    assert session.started.body.extra["pi"]["header"] == header


def test_entries_without_ids_and_header_are_version_one(load, pi):
    entries = [pi.user("a", None, "A"), pi.assistant("b", "a", "B")]
    for entry in entries:
        del entry["id"], entry["parentId"]
    session = load(pi.file(*entries))
    assert session.said() == ["A", "B"]
    assert session.reasons == [(None, "header_missing")]
    assert "read as Pi version 1" in session.report.problems[0].detail
    assert session.started.body.imported_from["version"] == 1


def test_without_a_header_a_role_of_version_two_is_read_too(load, pi):
    session = load(pi.file(pi.user("a", None, "A"), pi.message("b", "a", "hookMessage", "B")))
    assert session.said() == ["A", "B"]
    assert session.by_id["b"].head.role == "custom"
    assert session.started.body.imported_from["version"] == 3


@pytest.mark.parametrize("version", [4, "3", 3.0])
def test_a_newer_or_odd_version_is_read_and_told(load, pi, version):
    session = load(pi.file(pi.header(version=version), pi.user("a", None, "A")))
    assert session.reasons == [(1, "header_version")]
    assert session.said() == ["A"]


def test_version_four_of_the_harness_is_refused(load):
    with pytest.raises(UnsupportedFile, match="version 4"):
        load(b'{"kind":"header","v":4,"id":"x"}\n{"seq":1}\n')


@pytest.mark.parametrize("session_id", [None, 5, "", "bell\x07", "x" * 256])
def test_an_unusable_session_id_is_replaced_by_one_from_the_first_entry(load, pi, session_id):
    session = load(pi.file(pi.header(id=session_id), pi.user("a", None, "A")))
    assert session.id == "pi-a"
    assert session.reasons == [(1, "session_id_unusable")]


def test_without_any_usable_id_a_session_is_named_after_its_first_record(load, pi):
    entry = {**pi.user("a", None, "A"), "id": 5}
    header = pi.dump(pi.header(id=None))
    session = load(pi.file(header, entry))
    assert session.id == f"import:{sha256(header).hexdigest()}"
    assert session.again().report.kept == 0


def test_a_file_without_any_id_stays_the_same_session_when_it_grows(load, pi):
    """Version 1 with a damaged header: no record has an id."""
    lines = [{**pi.user("x", None, text)} for text in "ABC"]
    for line in lines:
        del line["id"], line["parentId"]
    session = load(pi.file(b'{"type":"sess', lines[0], end=b""))
    assert session.id.startswith("import:")
    with session.path.open("ab") as file:
        file.write(b"\n" + pi.file(*lines[1:]))
    grown = session.again()
    assert (grown.id, grown.counts[1:3]) == (session.id, (2, 2))
    assert grown.said() == ["A", "B", "C"]
