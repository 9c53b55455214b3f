"""What was stored once is read for ever: one stored row of each event class and version.

The rows are never edited. tests/golden/write_rows.py appends those of new fields, classes and
versions.
"""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from eventsourcing.persistence import JSONTranscoder, StoredEvent

from tapefold.domain import events as events_module
from tapefold.domain.content import BLOCKS
from tapefold.domain.events import EVENTS, TOPICS
from tapefold.domain.heads import HEAD_FIELDS
from tapefold.persistence.mapper import TapeMapper

FOLDER = Path(__file__).resolve().parent.parent / "golden"
FILES = ("rows.jsonl", "rows-experimental.jsonl")


def rows_of(file: str) -> list[StoredEvent]:
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return [
        StoredEvent(
            row["originator_id"], row["originator_version"], row["topic"], row["state"].encode()
        )
        for row in map(json.loads, lines)
    ]


ROWS = {
    f"{stored.topic}@{stored.originator_version}.v{json.loads(stored.state).get('v', 1)}": stored
    for file in FILES
    for stored in rows_of(file)
}
# Tests may define events of their own.
OURS = [cls for cls in EVENTS.values() if cls.__module__ == events_module.__name__]


@pytest.fixture(scope="module")
def mapper():
    return TapeMapper(JSONTranscoder())


@pytest.fixture
def write_rows():
    """The script that writes the rows, as a module."""
    spec: Any = importlib.util.spec_from_file_location("write_rows", FOLDER / "write_rows.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ROWS)
def test_a_golden_row_is_read_strictly(name, mapper):
    stored = ROWS[name]
    assert stored.topic in TOPICS, "an event class is gone; its rows are still out there"
    event = mapper.to_domain_event(stored)
    assert type(event) is TOPICS[stored.topic]
    assert (event.session_id, event.position) == (stored.originator_id, stored.originator_version)
    # repr, for NaN is unequal to itself, and 1 equal to 1.0 and True.
    strict = type(event.body).build(**event.body.to_json())
    assert repr(strict) == repr(event.body)
    parsed = json.loads(stored.state)
    if parsed.get("v", 1) == event.class_version:
        assert repr(event.head.to_json()) == repr(tuples(parsed["head"]))
        assert parsed["body"].keys() <= type(event.body).model_fields.keys()


def tuples(head: dict) -> dict:
    """A parsed head with the tuples that a head has."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in head.items()}


@pytest.mark.parametrize("name", ROWS)
def test_a_golden_row_of_the_present_version_is_stored_again_to_the_byte(name, mapper):
    stored = ROWS[name]
    event = mapper.to_domain_event(stored)
    if json.loads(stored.state).get("v", 1) == event.class_version:
        assert mapper.to_stored_event(event) == stored


def test_every_version_of_every_event_class_has_a_golden_row():
    there = {
        (stored.topic, json.loads(stored.state).get("v", 1), stored.topic in experimental())
        for stored in ROWS.values()
    }
    wanted = {
        (cls.TOPIC, version, cls.EXPERIMENTAL)
        for cls in OURS
        for version in range(1, cls.class_version + 1)
    }
    assert there == wanted


def experimental() -> set[str]:
    return {stored.topic for stored in rows_of("rows-experimental.jsonl")}


def test_every_field_of_every_body_and_block_and_of_the_head_stands_in_a_golden_row():
    heads: set[str] = set()
    bodies: dict[type, set[str]] = {}
    blocks: dict[str, set[str]] = {}
    for stored in ROWS.values():
        parsed = json.loads(stored.state)
        heads |= parsed["head"].keys()
        bodies.setdefault(TOPICS[stored.topic].BODY, set()).update(parsed["body"])
        for block in parsed["body"].get("content", ()):
            blocks.setdefault(block["type"], set()).update(block)
    assert heads == HEAD_FIELDS
    assert bodies == {cls.BODY: set(cls.BODY.model_fields) for cls in OURS}
    # "extra" is the same of all blocks.
    wanted = {kind: {"type", *cls.model_fields} - {"extra"} for kind, cls in BLOCKS.items()}
    assert {kind: found - {"extra"} for kind, found in blocks.items()} == wanted


def test_the_script_has_nothing_to_append(write_rows, tmp_path, monkeypatch, capsys):
    for file in FILES:
        (tmp_path / file).write_bytes((FOLDER / file).read_bytes())
    monkeypatch.setattr(write_rows, "ROWS", tmp_path / FILES[0])
    monkeypatch.setattr(write_rows, "EXPERIMENTAL_ROWS", tmp_path / FILES[1])
    write_rows.main()
    assert capsys.readouterr().out.count(" 0 rows appended") == 2
    for file in FILES:
        assert (tmp_path / file).read_bytes() == (FOLDER / file).read_bytes()


def test_the_script_appends_what_is_missing_and_leaves_the_rest(write_rows, tmp_path):
    kept, *missing = write_rows.samples()[:3]
    path = tmp_path / "rows.jsonl"
    assert write_rows.append_missing(path, [kept]) == 1
    before = path.read_text()
    assert write_rows.append_missing(path, [kept, *missing]) == 2
    assert path.read_text().startswith(before)


def test_the_script_refuses_to_change_a_row(write_rows, tmp_path):
    first, second, *_ = write_rows.samples()
    path = tmp_path / "rows.jsonl"
    write_rows.append_missing(path, [first])
    before = path.read_text()
    second.originator_version = first.originator_version  # now it claims the same row
    assert type(first) is type(second)
    with pytest.raises(SystemExit, match="never edited"):
        write_rows.append_missing(path, [second])
    assert path.read_text() == before
