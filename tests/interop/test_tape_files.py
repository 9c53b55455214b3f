"""Tape files: written from one store, imported into another, the tapes are the same."""

import json
import random

import pytest
from eventsourcing.persistence import StoredEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold.domain.bodies import BodyBase, CustomBody
from tapefold.domain.errors import (
    BasisMissing,
    ConcurrencyConflict,
    PositionOutOfRange,
    SessionNotFound,
    TapefoldError,
)
from tapefold.domain.events import EVENTS, TOPICS, CustomRecorded, Event, SessionStarted
from tapefold.domain.heads import Origin
from tapefold.domain.jsonvalues import MAX_DEPTH
from tapefold.importing import import_file
from tapefold.interop.sources import BytesSource
from tapefold.persistence.upcasting import UPCASTERS
from tapefold.sessions import Sessions
from tapefold.tape_files import write_tape
from tapefold.tape_imports import TapeReading
from tapefold.testing.strategies import families, tapes

from .tapes import lines_of, record, rows, take, written

# -- the same tape -------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.one_of(families(max_size=25), families(max_size=25, hostile=True)))
def test_any_tape_with_all_its_ancestors_comes_out_of_an_empty_store_as_it_went_in(family):
    with Sessions("memory:") as store:
        for tape in family:
            record(store, tape.events)
        for tape in family:
            if not tape.events:
                continue
            with Sessions("memory:") as empty:
                report = take(empty, written(store, tape.session_id))
                lineage = tape.lineage()
                assert report.session_id == tape.session_id
                assert report.kept == sum(upto for _, upto in lineage)
                assert report.problems == []
                for one, upto in lineage:
                    assert rows(empty, one.session_id) == rows(store, one.session_id, upto)
                assert len(list(empty.recorder.streams())) == len(lineage)


@settings(max_examples=15)
@given(tapes(max_size=25), st.data())
def test_a_longer_file_adds_what_is_new_and_a_shorter_one_nothing(tape, data):
    cut = data.draw(st.integers(1, tape.position))
    with Sessions("memory:") as store, Sessions("memory:") as grown:
        record(store, tape.events)
        assert take(grown, written(store, "s", at=cut)).kept == cut
        report = take(grown, written(store, "s"))
        assert (report.kept, report.already) == (tape.position - cut, cut)
        assert rows(grown, "s") == rows(store, "s")
        again = take(grown, written(store, "s", at=cut))
        assert (again.kept, again.already) == (0, cut)
        assert written(grown, "s") == written(store, "s")


def test_every_kind_of_event_that_was_ever_stored_is_the_same_afterwards(sessions, other):
    from tests.persistence.test_golden_rows import ROWS

    stored = [StoredEvent("g", 1, SessionStarted.TOPIC, b'{"n":26,"head":' + HEAD + b"}")]
    for n, row in enumerate(ROWS.values(), 2):
        stored.append(StoredEvent("g", n, row.topic, row.state))
    sessions.recorder.insert_events(stored)
    report = take(other, written(sessions, "g"))
    assert (report.kept, report.problems) == (len(stored), [])
    assert rows(other, "g") == rows(sessions, "g")


HEAD = b'{"kind":"session_started"},"body":{}'

PAIR = "\ud83d" + "\ude00"
"""The two halves of a pair, as two characters: no text in UTF-8 holds them."""


def deep(levels):
    value: list = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        "lone \ud800 and \udfff",
        PAIR,
        f"😀{PAIR}",
        10**4000,
        -(2**64),
        1.0,
        float("inf"),
        "\u2028\u0085\r\n\0\x1b[31m",
        {"a": {"": [None, True, 0.1, 1e300]}},
        deep(MAX_DEPTH - 1),
        "",
    ],
    ids=range(11),
)
def test_whatever_json_can_bring_in_is_the_same_afterwards(sessions, other, value):
    body = CustomBody(namespace="n", data=value, extra={"key": value})
    record(sessions, [SessionStarted.make("s", 1), CustomRecorded.make("s", 2, body)])
    data = written(sessions, "s")
    data.decode()
    assert take(other, data).kept == 2
    assert rows(other, "s") == rows(sessions, "s")


def test_nan_is_the_same_afterwards(sessions, other):
    record(
        sessions,
        [
            SessionStarted.make("s", 1),
            CustomRecorded.make("s", 2, CustomBody(namespace="n", data=float("nan"))),
        ],
    )
    data = written(sessions, "s")
    assert take(other, data).kept == 2
    assert rows(other, "s") == rows(sessions, "s")
    assert take(other, data).already == 2


def test_a_line_is_json_that_a_person_can_read(sessions, talk):
    first, *events = [json.loads(line) for line in lines_of(written(sessions, talk))]
    assert (first["format"], first["version"], first["session_id"]) == ("tapefold-tape", 1, "talk")
    assert first["tapes"] == [{"session_id": "talk", "position": 6}]
    assert first["class_versions"]["tapefold.MessageFinalized"] == 1
    assert [event["position"] for event in events] == [1, 2, 3, 4, 5, 6]
    assert list(events[2]) == ["session_id", "position", "topic", "class_version", "head", "body"]
    assert events[2]["topic"] == "tapefold.MessageFinalized"
    assert events[2]["head"]["role"] == "user"
    assert events[2]["body"]["content"] == [{"type": "text", "text": "words 1"}]


def test_spaces_and_the_order_of_keys_say_nothing(sessions, other, talk):
    data = written(sessions, talk)
    told = [json.dumps(json.loads(line), sort_keys=True) for line in lines_of(data)]
    report = take(sessions, "\r\n\n".join(told).encode() + b"\n")
    assert (report.kept, report.already) == (0, 6)
    assert take(other, "\n".join(told).encode()).kept == 6
    assert [e.body for e in other.tape(talk)] == [e.body for e in sessions.tape(talk)]


def test_a_compressed_store_and_a_plain_one_hold_the_same_events(sessions, talk):
    with Sessions("memory:", env={"COMPRESSOR_TOPIC": "zlib"}) as packed:
        data = written(sessions, talk)
        take(packed, data)
        assert [e.body for e in packed.tape(talk)] == [e.body for e in sessions.tape(talk)]
        assert rows(packed, talk) != rows(sessions, talk)
        assert written(packed, talk) == data
        assert take(packed, data).already == 6


def test_a_file_can_be_imported_from_disk_and_gone_on_with(sessions, other, talk, tmp_path):
    path = tmp_path / "talk.tape.jsonl"
    path.write_bytes(written(sessions, talk))
    assert import_file(other, path).format == "jsonl"
    other.execute(talk, lambda s: s.finalize("user", "and on"))
    assert other.state(talk).position == 7
    report = import_file(other, path)
    assert (report.kept, report.already) == (0, 6)


def test_a_fork_whose_parent_is_there_already_brings_itself_alone(sessions, other, talk):
    take(other, written(sessions, talk))
    child = sessions.fork(talk, at=4, child_id="child").id
    sessions.execute(child, lambda s: s.finalize("user", "elsewhere"))
    report = take(other, written(sessions, child))
    assert (report.kept, report.already, report.session_id) == (2, 4, "child")
    assert [m.entry_id for m in other.view(child).messages] == [
        m.entry_id for m in sessions.view(child).messages
    ]


def test_a_fork_that_inherits_nothing_stands_alone_in_its_file(sessions, other, talk):
    child = sessions.fork(talk, inherit=False, child_id="child").id
    assert take(other, written(sessions, child)).kept == 1
    assert [info.session_id for info in other.sessions()] == ["child"]


def test_as_new_gives_the_session_another_id_and_leaves_its_ancestors(sessions, talk):
    child = sessions.fork(talk, at=4, child_id="child").id
    sessions.execute(child, lambda s: s.finalize("user", "elsewhere"))
    report = take(sessions, written(sessions, child), as_new=True)
    assert report.session_id not in (talk, child)
    assert (report.kept, report.already) == (2, 4)
    assert rows(sessions, report.session_id) == rows(sessions, child)
    assert len(sessions.view(report.session_id).messages) == 4


def test_a_dry_run_says_the_same_and_writes_nothing(sessions, other, talk):
    data = written(sessions, talk)
    assert take(other, data, dry_run=True) == take(other, data)
    with Sessions("memory:") as empty:
        take(empty, data, dry_run=True)
        assert list(empty.sessions()) == []


# -- older versions ------------------------------------------------------------------------------


class BedBody(BodyBase):
    """At version 1 `metres` was text."""

    metres: float = 0.0


@pytest.fixture
def bed_dug():
    """An event that is at version 2, with its upcaster."""

    class BedDug(Event):
        __slots__ = ()
        BODY = BedBody
        class_version = 2

    UPCASTERS.step(BedDug.KIND, 1)(
        lambda head, body: (head, {**body, "metres": float(body["metres"])})
    )
    yield BedDug
    del EVENTS[BedDug.KIND], TOPICS[BedDug.TOPIC], UPCASTERS._steps[BedDug.KIND, 1]


def test_an_event_of_an_older_class_version_is_stored_as_it_was_and_read_as_today(bed_dug):
    with Sessions("memory:") as store, Sessions("memory:") as other:
        old = b'{"n":18,"head":{"kind":"bed_dug"},"body":{"metres":"2.5"}}'
        record(store, [SessionStarted.make("s", 1)])
        store.recorder.insert_events([StoredEvent("s", 2, bed_dug.TOPIC, old)])
        data = written(store, "s")
        assert b'"class_version":1,"head":{"kind":"bed_dug"}' in data
        assert b'"tapefold.BedDug":2' in data
        assert take(other, data).kept == 2
        assert rows(other, "s")[1][2] == old
        assert [event.body.metres for event in other.tape("s", gt=1)] == [2.5]


# -- writing -------------------------------------------------------------------------------------


def test_what_is_not_there_is_said_before_the_first_line(sessions, talk):
    with pytest.raises(SessionNotFound):
        write_tape(sessions, "nobody")
    for at in (0, 7, -1):
        with pytest.raises(PositionOutOfRange):
            write_tape(sessions, talk, at)


def test_a_fork_without_its_parent_is_no_whole_file(sessions):
    record(sessions, [SessionStarted.make("child", 1, origin=Origin("gone", 3))])
    with pytest.raises(BasisMissing):
        write_tape(sessions, "child")


def test_a_damaged_event_is_not_written(sessions, talk):
    sessions.recorder.insert_events(
        [
            StoredEvent(
                talk, 7, "tapefold.Labelled", b'{"n":19,"head":{"kind":"labelled"},"body":{]}'
            )
        ]
    )
    with pytest.raises(TapefoldError, match="position 7"):
        written(sessions, talk)


def test_events_that_come_while_the_file_is_written_belong_to_the_next_one(sessions, talk):
    lines = write_tape(sessions, talk)
    first = next(lines)
    sessions.execute(talk, lambda s: s.finalize("user", "late"))
    assert len([first, *lines]) == 7


def test_an_import_that_meets_another_writer_says_so_and_can_be_repeated(sessions, other, talk):
    """Between the check and the writing somebody else begins the same session."""
    data = written(sessions, talk)
    reading = TapeReading(BytesSource(data), "tape.jsonl")
    reading.check(other)
    take(other, b"".join(lines_of(data)[:4]))
    with pytest.raises(ConcurrencyConflict):
        reading.write(other)
    assert take(other, data).kept == 3
    assert rows(other, talk) == rows(sessions, talk)


def test_a_long_tape_goes_in_in_several_transactions_which_may_be_broken_off(sessions, other):
    record(sessions, [SessionStarted.make("s", 1)])
    filler = "".join(random.Random(3).choices("abc", k=40))
    record(
        sessions,
        [
            CustomRecorded.make("s", n, CustomBody(namespace="n", data=filler))
            for n in range(2, 2_500)
        ],
    )
    data = written(sessions, "s")
    take(other, b"".join(lines_of(data)[:2_100]))
    report = take(other, data)
    assert report.kept + report.already == 2_499
    assert rows(other, "s") == rows(sessions, "s")
