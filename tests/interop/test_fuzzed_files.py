"""Files cut, spliced, flipped, doubled and shuffled: reading ends, and no byte is lost."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tapefold.domain.context import build_context
from tapefold.domain.kernel import fold
from tapefold.domain.tree import LEAF
from tapefold.domain.view import build_view
from tapefold.interop.errors import ImportRefused
from tapefold.interop.lines import LineReader
from tapefold.interop.pi import PI
from tapefold.interop.pi_replay import as_pi
from tapefold.interop.reading import SessionReading
from tapefold.interop.sources import BytesSource
from tapefold.interop.tau import TAU
from tapefold.interop.tau_replay import as_tau


class Tape:
    """The events of one session, in memory."""

    def __init__(self):
        self.events = []

    def events_at(self, session_id, positions):
        return [self.events[position - 1] for position in positions]

    def read(self, data):
        """Append what is new in a file; its report."""
        reading = SessionReading(BytesSource(data), "file")
        known = [event.head for event in self.events] or None
        drafts = list(reading.drafts(known))
        for draft in drafts:
            self.events.append(draft.at(reading.session_id, len(self.events) + 1))
        return reading.report

    def state(self):
        return fold(self.events)


FIXTURES = Path(__file__).parents[1] / "fixtures"
WHOLE = [
    data for path in sorted(FIXTURES.glob("*/*.jsonl")) if len(data := path.read_bytes()) < 12_000
]

EARLIER_ONLY = [
    path.read_bytes()
    for path in sorted(FIXTURES.glob("*/*.jsonl"))
    if not path.stem.startswith(("tree-", "old-"))
]
"""Files in which every record speaks of earlier ones alone."""

SPLICES = [b"\n", b"\0\0\0", b"}{", b'"', b"\\", b"\xff", b'{"type":', b"null", b"[", b"\r\n", b" "]


@st.composite
def damages(draw):
    """A few changes: (kind, where, how long, what)."""
    return draw(
        st.lists(
            st.tuples(
                st.sampled_from(["cut", "flip", "double", "insert", "end", "join", "move"]),
                st.integers(0, 1_000_000),
                st.integers(1, 60),
                st.sampled_from(SPLICES),
                st.integers(0, 255),
            ),
            max_size=5,
        )
    )


def damaged(data, changes):
    for kind, where, length, splice, byte in changes:
        if not data:
            return data
        at = where % len(data)
        if kind == "cut":
            data = data[:at] + data[at + length :]
        elif kind == "flip":
            data = data[:at] + bytes([byte]) + data[at + 1 :]
        elif kind == "double":
            data = data[: at + length] + data[at:]
        elif kind == "insert":
            data = data[:at] + splice + data[at:]
        elif kind == "end":
            data = data[:at]
        elif kind == "join":
            newline = data.find(b"\n", at)
            data = data if newline < 0 else data[:newline] + data[newline + 1 :]
        else:
            lines = data.split(b"\n")
            lines.insert(where % len(lines), lines.pop(length % len(lines)))
            data = b"\n".join(lines)
    return data


@given(st.sampled_from(WHOLE), damages())
def test_a_damaged_file_is_read_to_its_end_or_refused_and_no_byte_is_lost(data, changes):
    data = damaged(data, changes)
    tape = Tape()
    try:
        report = tape.read(data)
    except ImportRefused:
        return
    lines = list(LineReader(data))
    assert sum(line.end - line.start for line in lines) == len(data)
    assert report.read == report.kept + report.already + report.skipped
    assert report.read == len(list(LineReader(data, is_record_of(report))))
    assert len(tape.events) == report.kept + (tape.events[0].head.line is None)


@given(st.sampled_from(WHOLE), damages())
def test_what_was_read_of_a_damaged_file_can_be_used(data, changes):
    tape = Tape()
    try:
        tape.read(damaged(data, changes))
    except ImportRefused:
        return
    state = tape.state()
    for leaf in (LEAF, None, *[key for key, _ in state.entries.items()][:5]):
        build_context(build_view(state, tape, leaf))
        as_tau(state, tape, leaf)
        as_pi(state, tape, leaf)
    for event in tape.events:
        assert type(event.body).build(**event.body.to_json()) is not None
        parent = event.head.parent_id
        assert parent is None or state.entry(parent) is not None


@given(st.sampled_from(WHOLE), damages())
def test_reading_a_damaged_file_again_finds_nothing_new(data, changes):
    data = damaged(data, changes)
    tape = Tape()
    try:
        first = tape.read(data)
    except ImportRefused:
        return
    again = tape.read(data)
    assert (again.kept, again.already) == (0, first.kept + first.already)


@given(st.sampled_from(EARLIER_ONLY), st.integers(0, 40_000), st.integers(0, 40_000))
def test_a_growing_file_gives_what_one_import_at_the_end_gives(data, first, second):
    """A parent that comes later may not be there yet: then the record hangs elsewhere for good."""
    whole, grown = Tape(), Tape()
    whole.read(data)
    for size in sorted((first % len(data), second % len(data), len(data))):
        try:
            grown.read(data[:size])
        except ImportRefused:
            assert grown.events == []
    assert [event.head for event in grown.events] == [event.head for event in whole.events]
    assert [event.body for event in grown.events] == [event.body for event in whole.events]


def is_record_of(report):
    return {"pi": PI, "tau": TAU}[report.format].is_record
