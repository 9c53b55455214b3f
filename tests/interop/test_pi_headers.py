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


@pytest.mark.parametrize("version", [None, 1, 2, "2", 2.5, True, "three"])
def test_an_older_version_is_refused_by_name(load, pi, version):
    header = pi.header(version=version)
    with pytest.raises(UnsupportedFile, match=r"version .*3 is read"):
        load(pi.file(header, pi.user("a", None, "A")))


def test_a_header_without_a_version_means_version_one(load, pi):
    header = pi.header()
    del header["version"]
    with pytest.raises(UnsupportedFile, match="no version, which means 1"):
        load(pi.file(header))


def test_entries_without_ids_and_header_are_version_one(load, pi):
    entry = pi.user("a", None, "A")
    del entry["id"]
    with pytest.raises(UnsupportedFile, match="version 1"):
        load(pi.file(entry))


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


def test_without_any_usable_id_a_session_is_named_after_its_content(load, pi):
    entry = {**pi.user("a", None, "A"), "id": 5}
    data = pi.file(pi.header(id=None), entry)
    session = load(data)
    assert session.id == f"import:{sha256(data).hexdigest()}"
    assert session.again().report.kept == 0
