"""A session that is an imported file comes out as that file."""

import json
from pathlib import Path

import pytest

from tapefold import Sessions
from tapefold.exporting import export_lines
from tapefold.importing import import_file
from tapefold.interop.pi_replay import as_pi
from tapefold.interop.tau_replay import as_tau

REPLAY = {"pi": as_pi, "tau": as_tau}
PARENT = {"pi": "parentId", "tau": "parent_id"}
OLDER = ("tau-0.1.", "tau-0.3.", "version-", "pi-0.13.", "pi-0.30.", "pi-0.32.")
"""Samples of generations older than the newest."""


def exported(sessions, session_id, form, **options):
    export = export_lines(sessions, session_id, form, **options)
    return b"".join(export.lines), export.report


def parsed(data):
    """Each line as JSON, or as its bytes; without blank lines."""
    return [value(line) for line in data.split(b"\n") if line.strip()]


def value(line):
    try:
        return json.loads(line)
    except ValueError:
        return line


def at_every_tip(sessions, session_id, form):
    """The tool's replay at the leaf and at every node without a child."""
    state = sessions.state(session_id)
    parents = {node.parent_id for node in state.entries.values()}
    tips = sorted(key for key in state.entries if key not in parents)
    found = {tip: REPLAY[form](state, sessions.tapes, tip) for tip in tips}
    return {None: REPLAY[form](state, sessions.tapes), **found}


def is_older(path: Path) -> bool:
    return path.name.startswith(OLDER)


def check(path, form, same_json, tmp_path):
    """The records of the newest generation come back; older ones replay the same."""
    with Sessions("memory:") as sessions:
        session_id = import_file(sessions, path).session_id
        data, report = exported(sessions, session_id, form)
        before = at_every_tip(sessions, session_id, form) if is_older(path) else {}
    assert report.as_it_came
    lines = parsed(data)
    assert report.lines == len(lines)
    assert report.size == len(data)
    if not is_older(path):
        assert same_json(lines, parsed(path.read_bytes()))
        assert not report.reasons
        return
    assert not same_json(lines, parsed(path.read_bytes()))
    again = tmp_path / "again.jsonl"
    again.write_bytes(data)
    with Sessions("memory:") as sessions:
        session_id = import_file(sessions, again).session_id
        after = at_every_tip(sessions, session_id, form)
        assert {tip: after[tip] for tip in before if tip in after} == {
            tip: answer for tip, answer in before.items() if tip in after
        }
        assert same_json(parsed(exported(sessions, session_id, form)[0]), lines)


def test_the_records_of_every_file_of_tau_come_back(tau_file, same_json, tmp_path):
    check(tau_file, "tau", same_json, tmp_path)


def test_the_records_of_every_file_of_pi_come_back(pi_file, same_json, tmp_path):
    check(pi_file, "pi", same_json, tmp_path)


def test_a_file_of_taus_older_generations_comes_out_as_the_newest_writes_it(load, tau):
    user = {"role": "user", "content": "hi"}
    old = [
        {"id": "i", "parent_id": None, "timestamp": 1.0, "type": "session_info", "created_at": 1.0},
        {"id": "l1", "parent_id": "i", "timestamp": 1.0, "type": "leaf", "entry_id": "i"},
        tau.record("message", "u", "l1", message=user),
        tau.record("leaf", "l2", "u", entry_id="u"),
        tau.record(
            "message",
            "t",
            "l2",
            message={"role": "tool", "tool_call_id": "c", "name": "ls", "content": "a", "ok": True},
        ),
        tau.record("leaf", "l3", "t", entry_id="t"),
        tau.record("label", "b", "l3", label="here"),
        tau.record(
            "message", "x", "b", message={"role": "user", "content": "!", "custom_type": "ext"}
        ),
    ]
    session = load(tau.file(*old))
    data, report = exported(session.sessions, session.id, "tau")
    info, message, result, label, custom = parsed(data)
    assert report.reasons == {"old_leaf": 3}
    assert "parent_id" not in info
    assert message["parent_id"] == "i"
    assert message["message"] == {**user, "timestamp": 1772355601250}
    assert result["parent_id"] == "u"
    assert result["message"]["role"] == "toolResult"
    assert (label["parent_id"], label["target_id"]) == ("t", "u")
    assert (custom["type"], custom["custom_type"], custom["parent_id"]) == (
        "custom_message",
        "ext",
        "b",
    )


def test_old_lines_stay_in_a_file_that_the_newest_release_of_tau_has_gone_on_with(load, tau):
    lines = [
        tau.user("a", None, "A"),
        tau.record("leaf", "l", "a", entry_id="a"),
        tau.label("b", "a", "a", "here"),
    ]
    session = load(tau.file(*lines))
    data, report = exported(session.sessions, session.id, "tau")
    assert parsed(data) == lines
    assert not report.reasons


def test_a_file_of_pis_older_versions_comes_out_with_ids_and_the_newest_number(load, pi):
    header = {k: v for k, v in pi.header(provider="p").items() if k != "version"}
    lines = [
        {
            "type": "message",
            "timestamp": "2025-01-01T00:00:00.000Z",
            "message": {"role": role, "customType": "ext", "content": text},
        }
        for role, text in (("user", "one"), ("hookMessage", "two"))
    ]
    session = load(pi.file(header, *lines))
    first, one, two = parsed(exported(session.sessions, session.id, "pi")[0])
    assert first == {**header, "version": 3}
    assert (one["parentId"], two["parentId"]) == (None, one["id"])
    assert two["message"]["role"] == "custom"


@pytest.mark.parametrize(
    "damage",
    [
        b"{not json",
        b'{"type":"message","id":"z',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'"text"',
        b"\x00\x00",
    ],
)
def test_what_could_not_be_read_comes_out_as_its_bytes(load, tool, damage):
    data = tool.session(tool.user("a", None, "A"), damage, tool.user("b", "a", "B"))
    session = load(data)
    out, report = exported(session.sessions, session.id, tool.NAME)
    assert parsed(out) == parsed(data)
    assert report.as_it_came


def test_a_record_that_was_not_read_whole_comes_out_as_its_bytes(load, tool):
    twice = tool.dump(tool.user("a", None, "A"))[:-1] + b',"type":"message"}'
    session = load(tool.session(twice))
    assert twice in exported(session.sessions, session.id, tool.NAME)[0].split(b"\n")


@pytest.mark.parametrize(
    "text", ["\\ud800 alone", "line\\u2028sep", "\\u0000", "NaN-like", "\\ud83d\\ude00"]
)
def test_text_comes_back_character_by_character(load, pi, text):
    record = pi.dump(pi.user("a", None, "TEXT")).replace(b"TEXT", text.encode())
    session = load(pi.session(record))
    out = exported(session.sessions, session.id, "pi")[0].split(b"\n")
    assert json.loads(out[1]) == json.loads(record)


def test_numbers_come_back_as_they_were(load, pi):
    numbers = b'{"big":123456789012345678901234567890,"small":1e-7,"float":1.0,"whole":1}'
    record = pi.dump(pi.record("custom", "a", None, customType="n", data="DATA"))
    record = record.replace(b'"DATA"', numbers)
    session = load(pi.session(record, pi.user("b", "a", "B")))
    out = exported(session.sessions, session.id, "pi")[0].split(b"\n")
    data = json.loads(out[1])["data"]
    assert data == json.loads(numbers)
    assert [type(v) for v in data.values()] == [int, float, float, int]


def test_a_session_that_was_gone_on_with_keeps_the_records_that_it_had(load, tool):
    lines = [
        tool.user("a", None, "A"),
        tool.assistant("b", "a", "B"),
        tool.label("l", "b", "a", "x"),
    ]
    session = load(tool.session(*lines))
    session.sessions.execute(session.id, lambda s: s.finalize("user", "more", entry_id="m"))
    data, report = exported(session.sessions, session.id, tool.NAME)
    out = parsed(data)[1 if tool.NAME == "pi" else 0 :]
    assert out[:3] == lines
    assert (out[3]["id"], out[3][PARENT[tool.NAME]]) == ("m", "b")
    assert not report.as_it_came
    assert report.leaf == "m"


def test_a_line_that_tau_would_refuse_is_left_out_of_a_session_that_went_on(load, tau, pi):
    for tool, there in ((tau, 0), (pi, 1)):
        session = load(tool.session(tool.user("a", None, "A"), b"{torn", tool.user("b", "a", "B")))
        session.sessions.execute(session.id, lambda s: s.finalize("user", "more"))
        data, report = exported(session.sessions, session.id, tool.NAME)
        assert data.split(b"\n").count(b"{torn") == there
        assert report.reasons["unreadable"] == 1 - there
