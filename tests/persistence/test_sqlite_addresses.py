"""Where a store is: odd paths, rights of the files, folders, memory, URIs."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tapefold.persistence.errors import (
    StoreMissing,
    StoreNotWritable,
    StoreSettingsRefused,
    StoreUnreadable,
)
from tapefold.persistence.sqlite_address import parse_address

ODD_NAMES = [
    "with space.db",
    "what?mode=memory.db",
    "hash#tag.db",
    "percent%20.db",
    "plus+and&=.db",
    "-leading-dash.db",
    "ünïcödé-日本.db",
    "line\nbreak.db",
    "a:memory:b.db",
    "quote'\".db",
    "back\\slash.db",
]

needs_posix = pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX's")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", ODD_NAMES)
@needs_posix
def test_a_path_may_hold_any_character(name, tmp_path, open_store, event):
    open_store(tmp_path / name).insert_events([event("s", 1)])
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".db"] == [name]
    assert open_store(tmp_path / name).stream_version("s") == 1


@needs_posix
def test_a_path_need_not_be_valid_text(tmp_path, open_store):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.db")
    open_store(path)
    assert b"\xff\xfe.db" in {os.fsencode(each.name) for each in tmp_path.iterdir()}


def test_a_relative_path_may_begin_with_a_dash_or_with_file(tmp_path, monkeypatch, open_store):
    monkeypatch.chdir(tmp_path)
    open_store("-x.db")
    open_store("./file:y.db")
    names = {path.name for path in tmp_path.iterdir()}
    assert {"-x.db", "file:y.db"} <= names


def test_a_relative_path_is_kept_when_the_working_folder_changes(
    tmp_path, monkeypatch, open_store, event
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = open_store("x.db", pool_size=1)
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.insert_events([event("s", 1)])
    assert list((tmp_path / "elsewhere").iterdir()) == []


@needs_posix
def test_files_are_readable_by_their_owner_alone(store_path, open_store, event):
    before = os.umask(0)
    try:
        open_store(store_path).insert_events([event("s", 1)])
    finally:
        os.umask(before)
    files = sorted(store_path.parent.iterdir())
    assert len(files) == 3, "the store, its write-ahead log and the index of that"
    assert {mode_of(path) for path in files} == {0o600}


@needs_posix
def test_rights_that_somebody_gave_to_an_existing_file_stay(store_path, open_store):
    store_path.touch()
    store_path.chmod(0o640)
    open_store(store_path)
    assert mode_of(store_path) == 0o640


@needs_posix
def test_folders_are_made_on_request_for_their_owner_alone(tmp_path, open_store):
    path = tmp_path / "a" / "b" / "x.db"
    open_store(path, create_parents=True)
    assert [mode_of(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


@needs_posix
def test_the_target_of_a_dangling_link_is_made_with_the_same_rights(tmp_path, open_store):
    (tmp_path / "link.db").symlink_to(tmp_path / "target.db")
    open_store(tmp_path / "link.db")
    assert mode_of(tmp_path / "target.db") == 0o600


def test_without_the_request_a_missing_folder_is_an_error(tmp_path, open_store):
    with pytest.raises(StoreMissing, match="its folder does not exist"):
        open_store(tmp_path / "no" / "x.db")
    assert not (tmp_path / "no").exists()


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path, open_store):
    (tmp_path / "file").write_text("")
    for options in ({}, {"create_parents": True}):
        with pytest.raises(StoreMissing, match="is no folder"):
            open_store(tmp_path / "file" / "x.db", **options)


def test_a_missing_file_is_an_error_where_none_may_be_made(store_path, open_store):
    with pytest.raises(StoreMissing, match="does not exist"):
        open_store(store_path, create=False)
    assert not store_path.exists()


@needs_posix
def test_what_is_no_regular_file_is_not_opened(tmp_path, open_store):
    os.mkfifo(tmp_path / "fifo")
    for path, kind in [(tmp_path, "a folder"), (tmp_path / "fifo", "no regular file")]:
        with pytest.raises(StoreUnreadable, match=kind):
            open_store(path)


def test_a_name_that_is_too_long_is_an_error(tmp_path, open_store):
    with pytest.raises(StoreNotWritable, match="cannot be opened"):
        open_store(tmp_path / ("x" * 5000))


@pytest.mark.parametrize("name", ["", "nul\0.db", "surrogate\ud800.db", "file://host/x", "file:"])
def test_what_cannot_be_a_path_is_refused(name):
    with pytest.raises(StoreSettingsRefused):
        parse_address(name)


def test_a_uri_is_understood_as_sqlite_does(tmp_path, open_store, event):
    path = tmp_path / "a b.db"
    open_store(f"file://{tmp_path}/a%20b.db").insert_events([event("s", 1)])
    assert path.exists()
    store = open_store(f"file:{tmp_path}/a%20b.db?mode=ro")
    assert store.stream_version("s") == 1
    with pytest.raises(StoreNotWritable, match="read-only"):
        store.insert_events([event("s", 2)])


def test_each_anonymous_memory_is_a_store_of_its_own(open_store, event):
    for name in (":memory:", "memory:", "file::memory:?cache=shared", "file:?mode=memory"):
        open_store(name).insert_events([event("s", 1)])
        assert open_store(name).stream_version("s") is None


def test_a_named_memory_is_shared_by_those_who_name_it(open_store, event):
    open_store("file:shared-by-a-test?mode=memory").insert_events([event("s", 1)])
    other = open_store("file:shared-by-a-test?mode=memory")
    assert other.stream_version("s") == 1
