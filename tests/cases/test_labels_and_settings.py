"""Cases of labels, settings, names and extension records in files."""

import pytest

from tapefold.domain.errors import UnknownEntry
from tapefold.domain.view import Settings
from tapefold.testing import given


def labelled(tool):
    return tool.read(
        *tool.h4,
        tool.label("l1", "d", "a", "one"),
        tool.label("l2", "l1", "a", " two "),
        tool.label("l3", "l2", "b", "bee"),
        tool.label("l4", "l3", "b", None),
    )


@pytest.mark.parametrize(("name", "text"), [("tau", "two"), ("pi", " two ")])
def test_the_newest_label_of_an_entry_counts_trimmed_with_tau_and_kept_with_pi(request, name, text):
    """T42"""
    session = labelled(request.getfixturevalue(name))
    assert session.view().labels == {"a": text}
    assert session.replay(name)["state"]["labels"] == {"a": text}


def test_label_lines_are_walked_through_and_are_never_the_tip(tool):
    """T42"""
    session = labelled(tool)
    assert session.view().leaf == "d"
    assert session.said("l4") == session.texts(tool.NAME, "l4") == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [("tau", "  ", {}), ("pi", "  ", {"a": "  "}), ("tau", "", {}), ("pi", "", {})],
)
def test_a_label_of_two_spaces_clears_with_tau_and_stays_with_pi_and_an_empty_one_clears(
    request, name, text, labels
):
    """T44"""
    tool = request.getfixturevalue(name)
    session = tool.read(
        *tool.h4, tool.label("l1", "d", "a", "one"), tool.label("l2", "l1", "a", text)
    )
    assert session.view().labels == session.replay(name)["state"]["labels"] == labels


def test_a_label_may_name_an_entry_that_is_not_in_the_file(tool):
    """T44"""
    session = tool.read(*tool.h4, tool.label("l1", "d", "nowhere", "x"))
    assert session.view().labels == session.replay(tool.NAME)["state"]["labels"] == {"nowhere": "x"}


def test_a_label_that_is_set_here_needs_an_entry_that_exists():
    """T44"""
    given().user("A", id="a").when(lambda s: s.label("nowhere", "x")).then_raises(UnknownEntry)


def test_a_label_without_a_target_is_the_first_message_s(tau):
    """T45"""
    session = tau.read(*tau.h4, tau.line("l", "d", "label", label="mine"))
    assert session.view().labels == session.replay("tau")["state"]["labels"] == {"a": "mine"}


def test_a_model_without_a_provider_leaves_the_provider_and_an_absent_level_is_none(tau):
    """T46"""
    session = tau.read(
        tau.line("m0", None, "model_change", model="m1", provider="p1"),
        tau.line("t0", "m0", "thinking_level_change", thinking_level="low"),
        tau.user("a", "t0"),
        tau.line("m", "a", "model_change", model="m2"),
        tau.line("t", "m", "thinking_level_change"),
    )
    assert session.view("t").settings == Settings("m2", "p1", None)
    state = session.replay("tau", "t")["state"]
    assert (state["model"], state["provider"], state["thinking_level"]) == ("m2", "p1", None)


def test_an_answer_changes_the_model_with_pi_and_with_us_but_not_with_tau(tau, pi):
    """T46"""
    in_tau, in_pi = tau.read(*tau.h4), pi.read(*pi.h4)
    assert in_tau.replay("tau")["state"]["model"] is None
    assert in_pi.replay("pi")["state"]["model"] == "mm"
    assert in_tau.view().settings == in_pi.view().settings == Settings("mm", "p", None)


def test_the_last_model_and_level_of_the_path_count(pi):
    """T46"""
    session = pi.read(
        *pi.h4,
        pi.line("m", "d", "model_change", provider="p2", modelId="m2"),
        pi.line("t", "m", "thinking_level_change", thinkingLevel="high"),
    )
    assert session.view().settings == Settings("m2", "p2", "high")
    state = session.replay("pi")["state"]
    assert (state["model"], state["provider"], state["thinking_level"]) == ("m2", "p2", "high")


def test_state_of_an_extension_is_no_row_and_its_message_is_one(tau, pi):
    """T48"""
    content = {"content": "hint", "display": False}
    in_tau = tau.read(
        *tau.h4,
        {**tau.line("x", "d", "custom", namespace="n", data={"k": 1})},
        {**tau.line("y", "x", "custom_message", custom_type="n", **content), "timestamp": 12.3456},
    )
    in_pi = pi.read(
        *pi.h4,
        pi.line("x", "d", "custom", customType="n", data={"k": 1}),
        pi.line("y", "x", "custom_message", customType="n", **content),
    )
    for session, tool in ((in_tau, "tau"), (in_pi, "pi")):
        assert session.sent() == session.texts(tool) == ["A", "B", "C", "D", "hint"]
        row = session.replay(tool)["messages"][-1]
        assert (row["role"], row["customType"], row["display"]) == ("custom", "n", False)
    assert in_tau.replay("tau")["messages"][-1]["timestamp"] == 12346


@pytest.mark.parametrize("spelling", ["cacheWrite1H", "cacheWrite1h"])
def test_both_spellings_of_the_hour_s_cache_are_read_and_each_tool_gets_its_own(tool, spelling):
    """T49"""
    usage = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 5, "totalTokens": 8}
    session = tool.read(tool.user("a"), tool.assistant("b", "a", usage={**usage, spelling: 3}))
    assert 3 in session.view().messages[1].body.usage.values()
    assert session.replay("tau")["messages"][1]["usage"]["cacheWrite1H"] == 3
    if tool.NAME == "tau":
        assert session.replay("pi")["messages"][1]["usage"]["cacheWrite1h"] == 3


def test_a_message_of_the_oldest_shape_is_read_as_the_newest_release_reads_it(tau):
    """T50"""
    failed = {
        "role": "tool",
        "tool_call_id": "c",
        "name": "saw",
        "content": "",
        "ok": False,
        "error": "permission denied",
    }
    session = tau.read(
        tau.assistant("a", None, "", calls=["c"]), tau.line("b", "a", "message", message=failed)
    )
    assert session.sent() == ["saw(c)", "permission denied"]
    (call,) = session.view().messages[0].calls
    assert call.status == "error"
    row = session.replay("tau")["messages"][1]
    assert (row["role"], row["isError"], row["toolCallId"]) == ("toolResult", True, "c")


def test_the_newest_name_counts_and_an_empty_one_takes_it_away(pi):
    """T59"""
    named = [*pi.h4, pi.line("n", "d", "session_info", name="first")]
    assert pi.read(*named).view().name == "first"
    session = pi.read(pi.header("h2"), *named, pi.line("n2", "n", "session_info", name=""))
    assert session.view().name is None
    assert session.replay("pi")["state"]["name"] is None


def test_a_name_of_two_lines_is_stored_as_one():
    """T59"""
    named = given().when(lambda s: s.set_title("A\nB"))
    assert named.view().name == "A B"


def test_a_name_given_by_hand_may_have_two_lines_and_is_never_made_up():
    """T70"""
    named = given().user("  fix the login bug in auth  ").when(lambda s: s.set_title("Log\nin"))
    assert named.view().name == "Log in"
    assert given().user("fix the login bug").tape.view().name is None
