"""Long lines and long chains, as an import meets them: no recursion, no line that is too long.

How the time grows is measured in benchmarks/, not here.
"""

import tracemalloc

import pytest

from tapefold.interop.reading import SessionReading
from tapefold.interop.sources import FileSource

MEGABYTE = 1 << 20


def last_text(session):
    (message,) = session.sessions.view(session.id).messages[-1:]
    return message.content[0].text


@pytest.mark.parametrize(
    "size", [MEGABYTE, pytest.param(50 * MEGABYTE, marks=pytest.mark.slow)], ids=["1M", "50M"]
)
def test_a_line_of_many_megabytes_is_kept_whole(load, tool, size):
    text = "HEAD" + "x" * size + "TAIL"
    session = load(tool.session(tool.user("a", None, "A"), tool.user("b", "a", text)))
    assert session.reasons == []
    assert last_text(session) == text
    assert session.report.bytes_kept == session.path.stat().st_size


@pytest.mark.parametrize(
    "size",
    [MEGABYTE // 4, pytest.param(50 * MEGABYTE, marks=pytest.mark.slow)],
    ids=["256k", "50M"],
)
@pytest.mark.parametrize("rubbish", [b"\0", b"\xff", b"}{", b'{"a":"'], ids=repr)
def test_a_line_of_many_megabytes_that_is_no_record_is_kept_with_its_bytes(load, pi, size, rubbish):
    """It hides neither the record before it nor the one behind."""
    line = rubbish * (size // len(rubbish))
    session = load(pi.session(pi.user("a", None, "A"), line, pi.user("b", "a", "B")))
    assert session.said() == ["A", "B"]
    (foreign,) = [e for e in session.events if e.head.kind == "foreign_recorded"]
    assert foreign.body.end - foreign.body.start == len(line) + 1
    assert session.report.bytes_unread == 0


def test_reading_needs_no_more_than_its_longest_line(tmp_path, tool):
    """A file of 8 MB whose longest line is one of 100 kB: its text is not held."""
    path = tmp_path / "long.jsonl"
    texts = (tool.dump(tool.user(f"m{n}", None, "x" * 100_000)) for n in range(80))
    path.write_bytes(tool.session(tool.user("a", None, "A")) + b"\n".join(texts) + b"\n")
    reading = SessionReading(FileSource(path), "file")
    tracemalloc.start()
    try:
        for _ in reading.drafts():
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reading.report.kept > 80
    assert peak < 3 * MEGABYTE


LENGTHS = [500, pytest.param(20_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("length", [500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_long_chain_is_walked_to_its_root(load, tool, length):
    ids = [f"m{n}" for n in range(length)]
    session = load(
        tool.session(*[tool.user(i, p, i) for i, p in zip(ids, [None, *ids], strict=False)])
    )
    assert session.said() == ids
    assert len(session.replay(tool.NAME)["messages"]) == length


@pytest.mark.parametrize("length", LENGTHS)
def test_a_long_chain_of_marks_is_walked_through(load, tool, length):
    marks = [tool.label(f"l{n}", f"l{n - 1}" if n else "a", "a", f"{n}") for n in range(length)]
    last = tool.user("b", f"l{length - 1}", "B")
    session = load(tool.session(tool.user("a", None, "A"), *marks, last))
    assert session.said() == ["A", "B"]
    assert session.by_id[f"l{length - 1}"].head.stands_for == "a"


@pytest.mark.parametrize("length", LENGTHS)
def test_a_file_whose_links_all_lead_forward_or_nowhere_is_read(load, tool, length):
    """The worst for the links: each parent comes later, and the last one never."""
    backward = [tool.user(f"m{n}", f"m{n + 1}", f"{n}") for n in range(length)]
    session = load(tool.session(*backward))
    assert session.reasons[-1][1] == "unknown_parent"
    assert session.said(leaf="m0") == [f"{n}" for n in reversed(range(length))]
    nowhere = load(
        tool.session(*[tool.user(f"n{n}", f"z{n}", f"{n}") for n in range(length)]), as_new=True
    )
    assert nowhere.said() == [f"{n}" for n in range(length)]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_long_ring_is_cut_once(load, tool, length):
    ring = [tool.user(f"m{n}", f"m{(n + 1) % length}", f"{n}") for n in range(length)]
    session = load(tool.session(*ring))
    assert [reason for _, reason in session.reasons] == ["ring"]
    assert session.parent("m0") is None
    assert len(session.said(leaf="m1")) == length
