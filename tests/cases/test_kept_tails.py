"""A compaction of a Pi file that carries the messages which it keeps, without a boundary."""


def test_a_tail_that_is_what_came_before_is_the_boundary(pi):
    lines = pi.h4
    tail = [lines[2]["message"], lines[3]["message"]]
    session = pi.read(*lines, pi.compaction("k", "d", "S", retainedTail=tail))
    assert session.sent() == ["S", "C", "D"]
    assert [row.entry_id for row in session.context().rows] == ["k", "c", "d"]
    assert session.texts("pi") == ["S"]  # the tool itself overlooks it
    assert session.reasons == []


def test_a_tail_of_other_messages_follows_the_summary_with_its_pairs(pi):
    tail = [
        pi.user("x")["message"],
        pi.assistant("y", None, "", calls=["1"])["message"],
        pi.result("z", None, "1")["message"],
    ]
    session = pi.read(*pi.h4, pi.compaction("k", "d", "S", retainedTail=tail), pi.user("e", "k"))
    assert session.sent() == ["S", "X", "saw(1)", "Z", "E"]
    assert session.context().rows[3].call_id == "1"
    assert session.reasons == ["tail_differs"]
