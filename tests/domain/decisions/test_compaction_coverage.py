"""What a summary has to cover: what the present context shows before the boundary."""

from tapefold.testing import Tape, event, given


def covered(given_, boundary=None):
    return given_.tape.session().coverage(boundary).covered


def talk():
    """u1 - a1 - u2 - a2 - u3."""
    return (
        given()
        .user("Wood?", id="u1")
        .assistant("Oak.", id="a1")
        .user("Glue?", id="u2")
        .assistant("Hide glue.", id="a2")
        .user("Paint?", id="u3")
    )


def test_coverage_answers_without_writing():
    session = talk().tape.session()
    coverage = session.coverage("u2")
    assert (coverage.boundary, coverage.covered, coverage.moved) == ("u2", ("u1", "a1"), False)
    assert session.pending_events == ()


def test_coverage_says_where_the_boundary_will_be_moved_to():
    calling = (
        given()
        .user("Measure", id="u1")
        .assistant("", id="a1", calls=["c"])
        .result("c", "12", "a1", id="r")
    )
    coverage = calling.tape.session().coverage("r")
    assert (coverage.boundary, coverage.moved) == ("a1", True)


def test_the_messages_that_the_first_compaction_kept_are_covered_by_the_second():
    """The peers lost them: they were in no summary, and in no context any more."""
    again = talk().compact("ONE", id="k1", keep="u2").user("More", id="u4")
    assert covered(again, "u4") == ("k1", "u2", "a2", "u3")


def test_the_ruling_summary_is_covered_first():
    assert covered(talk().compact("ONE", id="k1", keep="u3"))[0] == "k1"


def test_after_a_reset_the_whole_path_is_covered():
    reset = talk().compact("ONE", id="k1", keep="u2").reset()
    assert covered(reset) == ("u1", "a1", "u2", "a2", "u3")


def test_a_hand_off_s_summary_is_covered_as_a_compaction_s_is():
    assert covered(talk().hand_off("ONE", id="h").user("More", id="u4")) == ("h", "u4")


def test_struck_messages_are_not_covered():
    assert covered(talk().retract("a1")) == ("u1", "u2", "a2", "u3")


def test_results_are_covered_with_their_calls():
    calling = (
        given()
        .assistant("", id="a1", calls=["c"])
        .result("c", "12", "a1", id="r")
        .user("Thanks", id="u1")
    )
    assert covered(calling) == ("a1", "r", "u1")


def test_branch_summaries_are_covered():
    """They are rows of the context as messages are, and vanish from it as messages do."""
    told = talk().branch_summary("a2", "Paint was tried", id="b").user("More", id="u4")
    assert covered(told) == ("u1", "a1", "u2", "a2", "u3", "b", "u4")


def test_other_branches_and_settings_are_not_covered():
    aside = talk().assistant("Beech.", id="side", under="u1").model("oak-2").custom().thinking("x")
    assert covered(aside) == ("u1", "a1", "u2", "a2", "u3")


def test_what_an_anchor_replaced_one_by_one_is_not_covered_again():
    listed = talk().compact("ONE", id="k1", replaces=("u1", "u2")).user("More", id="u4")
    assert covered(listed) == ("k1", "a1", "a2", "u3", "u4")


def test_older_summaries_that_a_cumulative_anchor_left_in_the_context_are_covered():
    summed = (
        talk()
        .compact("ONE", id="k1", keep="u2", cumulative=True)
        .user("More", id="u4")
        .compact("TWO", id="k2", keep="a2", cumulative=True)
        .user("Last", id="u5")
    )
    assert covered(summed) == ("k2", "a2", "u3", "k1", "u4", "u5")


def test_coverage_in_a_fork_begins_with_what_is_inherited():
    parent = Tape()
    parent.user("Wood?", id="u1")
    parent.assistant("Oak.", id="a1")
    child = parent.fork("child")
    child.user("Glue?", id="u2")
    assert child.session().coverage(None).covered == ("u1", "a1", "u2")


def test_a_hand_off_names_what_it_covers_too():
    talk().retract("a1").when(lambda s: s.hand_off("ONE")).then(
        event("handoff_anchored", covered=("u1", "u2", "a2", "u3"), first_kept=None)
    )
