"""A file that is imported in pieces, and whose links lead forward over the cut."""

from tapefold.following import follow_file


def grow(session, data):
    """What one more import of the file says, when it has become this."""
    session.path.write_bytes(data)
    return session.again()


def test_a_parent_that_comes_later_is_told_when_it_comes(load, tool):
    """One import at the end would have hung the record under it; the tape is not changed."""
    first = [tool.user("a", None, "A"), tool.user("c", "b", "C")]
    session = load(tool.session(*first))
    assert [reason for _, reason in session.reasons] == ["unknown_parent"]
    assert session.parent("c") == "a"
    line = session.report.problems[0].line
    grown = grow(session, tool.session(*first, tool.user("b", "a", "B")))
    (problem,) = grown.report.problems
    assert (problem.line, problem.reason) == (line, "late_parent")
    assert problem.detail == (f"its parent b has come in line {line + 1}; the record stays under a")
    assert grown.parent("c") == "a"
    assert grown.report.repaired == 0
    assert grown.again().reasons == [], "it is said once"


def test_each_record_that_named_it_is_told_with_its_own_line(load, tool):
    first = [tool.user("a", "z", "A"), tool.user("b", "z", "B"), tool.label("l", "z", "a", "x")]
    session = load(tool.session(*first))
    begin = session.by_id["a"].head.line
    grown = grow(session, tool.session(*first, tool.user("z", None, "Z")))
    assert grown.reasons == [(begin + n, "late_parent") for n in range(3)]
    assert grown.report.problems[0].detail.endswith("the record stays a root")


def test_a_ring_over_the_cut_is_told_too(load, tool):
    session = load(tool.session(tool.user("a", "b", "A")))
    line = session.by_id["a"].head.line
    grown = grow(session, tool.session(tool.user("a", "b", "A"), tool.user("b", "a", "B")))
    assert grown.reasons == [(line, "late_parent")]
    assert (grown.parent("a"), grown.parent("b")) == (None, "a")


def test_links_that_were_settled_within_one_import_are_not_told_later(load, tool):
    """Forward, into a ring, to itself, to an id that cannot be used: all known by then."""
    first = [
        tool.user("b", "a", "B"),
        tool.user("a", None, "A"),
        tool.user("c", "d", "C"),
        tool.user("d", "c", "D"),
        tool.user("e", "e", "E"),
        tool.user("f", "x" * 300, "F"),
        tool.user("x" * 300, "a", "X"),
        tool.user("g", 7, "G"),
        tool.user(7, "a", "seven"),
    ]
    session = load(tool.session(*first))
    grown = grow(session, tool.session(*first, tool.user("h", "g", "H")))
    assert grown.reasons == []
    assert grown.report.kept == 1


def test_a_file_without_ids_has_no_links_that_could_come_late(load, pi):
    header = pi.header()
    del header["version"]
    bare = [
        {k: v for k, v in pi.user("", None, t).items() if k not in ("id", "parentId")} for t in "AB"
    ]
    session = load(pi.file(header, bare[0]))
    grown = grow(session, pi.file(header, *bare))
    assert grown.reasons == []
    assert grown.said() == ["A", "B"]


def test_of_a_file_that_is_followed_it_is_told_when_it_comes(sessions, tmp_path, tool):
    path = tmp_path / "growing.jsonl"
    path.write_bytes(tool.session(tool.user("a", None, "A"), tool.user("c", "b", "C")))

    def steps():
        yield
        with path.open("ab") as file:
            file.write(tool.file(tool.user("b", "a", "B")))
        yield

    waits = steps()
    report = follow_file(sessions, str(path), stop=lambda: next(waits, True) is True)
    assert [p.reason for p in report.problems] == ["unknown_parent", "late_parent"]
    assert report.problems[0].line == report.problems[1].line
