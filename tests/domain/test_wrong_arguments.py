"""Whatever a caller passes: a typed error and nothing appended, or events that can be stored."""

import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from tapefold import Session, TapefoldError
from tapefold.testing import Tape, counted_defaults

WRONG = [
    None,
    5,
    -1,
    True,
    1.5,
    "",
    " ",
    "\x00",
    "\ud800",
    "a" * 300,
    b"bytes",
    [],
    ["x"],
    [[]],
    {},
    {"type": "text"},
    {"type": "text", "text": 5},
    ("e1",),
    object(),
    datetime(2026, 1, 1, tzinfo=UTC),
]

RIGHT: dict[str, dict[str, Any]] = {
    "finalize": {"role": "user", "content": "x"},
    "draft": {"role": "assistant", "content": "x"},
    "revise": {"message_id": "q", "content": "y"},
    "retract": {"message_ids": "q"},
    "retract_from": {"entry_id": "a"},
    "restore": {"message_id": "struck"},
    "record_call": {"message_id": "a", "call_id": "c1", "name": "tool"},
    "record_result": {"message_id": "a", "call_id": "c1", "content": "x"},
    "compact": {"summary": "s", "first_kept": "a"},
    "hand_off": {"summary": "s"},
    "summarize_branch": {"left": "a", "summary": "s"},
    "edit_context": {"target": "q", "content": "x"},
    "move_leaf": {"to": "q"},
    "move_leaf_before": {"message_id": "q"},
    "label": {"target": "q", "text": "l"},
    "set_title": {"title": "x"},
    "set_info": {"directory": "d"},
    "set_model": {"model": "m"},
    "set_thinking_level": {"level": "x"},
    "record_custom": {"namespace": "n"},
    "record_usage": {"usage": 1},
    "fork": {},
    "reset_summary": {},
    "view": {},
    "context": {},
}
FURTHER = {
    "finalize": (
        "message_id entry_id under status order_seq for_call for_message_id interruption "
        "model usage is_error details display"
    ),
    "draft": "message_id entry_id under order_seq",
    "revise": "status order_seq",
    "retract": "reason",
    "record_call": "arguments status",
    "record_result": "details status",
    "compact": "how expected_position tokens_before details",
    "hand_off": "state name first_kept",
    "summarize_branch": "entry_id under details",
    "edit_context": "under",
    "set_info": "data",
    "set_model": "provider under",
    "record_custom": "data under",
    "fork": "leaf fork_id child_id at title",
    "reset_summary": "under",
    "view": "leaf",
    "context": "leaf policy",
}
META = "key timestamp source actor extra"


def written():
    tape = Tape()
    tape.user("q", id="q")
    tape.assistant("a", id="a", calls=["c1"])
    tape.result("c1", "out", owner="a", id="r")
    tape.draft("d", id="d")
    tape.user("struck", id="struck")
    tape.retract("struck")
    return tape


TAPE = written()
BEFORE = TAPE.state().describe()


def session():
    return TAPE.session(defaults=counted_defaults(50))


def cases():
    for command, right in RIGHT.items():
        further = FURTHER.get(command, "").split()
        meta = [] if command in ("view", "context") else META.split()
        for name in [*right, *further, *meta]:
            yield command, name


@pytest.mark.parametrize(("command", "name"), list(cases()))
def test_a_wrong_argument_is_refused_in_words_or_stored(command, name):
    for value in WRONG:
        arguments = {**RIGHT[command], name: value}
        if name in ("for_call", "for_message_id", "interruption"):
            answers = {"role": "tool_result", "for_call": "c1", "for_message_id": "a"}
            arguments = {"content": "x", **answers, name: value}
        one = session()
        if _succeeds(partial(getattr(one, command), **arguments)):
            for event in one.pending_events:
                json.dumps([event.head.to_json(), event.body.to_json()])
        else:
            assert one.state.describe() == BEFORE
            assert one.pending_events == ()


def _succeeds(command):
    try:
        command()
    except TapefoldError:
        return False
    return True


@pytest.mark.parametrize("name", ["session_id", "title", "directory", "owner", *META.split()])
def test_a_wrong_argument_of_start_is_refused_in_words_or_stored(name):
    for value in WRONG:
        try:
            arguments: dict[str, Any] = {"session_id": "s", name: value}
            one = Session.start(**arguments)
        except TapefoldError:
            continue
        (event,) = one.pending_events
        json.dumps([event.head.to_json(), event.body.to_json()])


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("finalize", {"role": "user", "content": "x", "order_seq": -1}),
        ("revise", {"message_id": "q", "content": "x", "order_seq": -1}),
        ("revise", {"message_id": "q", "content": "x", "order_seq": True}),
        ("finalize", {"role": "tool_result", "for_call": 5, "for_message_id": "a"}),
        ("finalize", {"role": "tool_result", "for_call": "", "for_message_id": "a"}),
        ("finalize", {"role": "user", "content": "x", "timestamp": datetime(2026, 1, 1)}),  # noqa: DTZ001
        ("set_title", {"title": "x", "timestamp": True}),
        ("retract", {"message_ids": None}),
        ("label", {"target": ["q"], "text": "x"}),
        ("fork", {"at": 5}),
    ],
)
def test_what_would_only_fail_later_is_refused_at_once(command, arguments):
    with pytest.raises(TapefoldError):
        getattr(session(), command)(**arguments)
