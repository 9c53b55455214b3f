"""Sessions written here, as files of Tau and Pi: what they hold, and what the report names."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapefold import Sessions, build_context, build_view
from tapefold.domain.content import content_json
from tapefold.exporting import export_lines
from tapefold.importing import import_file
from tapefold.interop.pi_replay import as_pi
from tapefold.interop.tau_replay import as_tau
from tapefold.testing.strategies import families, tapes

REPLAY = {"pi": as_pi, "tau": as_tau}
FIXTURES = Path(__file__).parents[1] / "fixtures"
PEERS = Path(__file__).with_name("peers")

MAY_DIFFER = {
    "repeated_call_id",
    "result_owner",
    "order_number",
    "paths_differ",
    "older_summary",
    "dropped_stays_dropped",
    "replaced_one_by_one",
    "leaf",
    "interruption_text",
}
"""Reasons that say that the context is another one in the tool."""
ELSEWHERE = {"reset_elsewhere", "summary_reset", "reset_summary", "edit_applied", "edit_left_out"}
"""Reasons that say so of the branches beside the leaf's."""


def rows_of(context):
    """What is sent: role, content, call; a made-up result as such."""
    rows = []
    for row in context.rows:
        content = [
            {k: v for k, v in block.items() if k != "arguments" or v}
            for block in content_json(row.content)
        ]
        made_up = row.kind == "synthetic" and row.position is None
        rows.append((row.role, "made up" if made_up else content, row.call_id, row.is_error))
    return rows


def known(settings):
    """Settings without the words that the formats have for none."""
    provider = None if settings.provider == "unknown" else settings.provider
    level = None if settings.thinking_level == "off" else settings.thinking_level
    return settings.model, provider, level


def check(written_as, tape, form, folder):
    written = written_as(tape, form, folder)
    if not written.writer.plan.order:
        return
    named = set(written.report.reasons)
    with Sessions("memory:") as sessions:
        session_id = written.imported(sessions)
        ours = build_view(written.state, written.tapes, written.state.leaf)
        theirs = sessions.view(session_id)
        assert theirs.name == ours.name
        here = {k: v for k, v in ours.labels.items() if k in written.writer.written}
        assert theirs.labels == here
        if "leaf" not in named:
            assert known(theirs.settings) == known(ours.settings)
        if named & MAY_DIFFER:
            return
        assert rows_of(build_context(theirs)) == rows_of(build_context(ours))
        if named & ELSEWHERE:
            return
        parents = {node.parent_id for node in written.state.entries.values()}
        for tip in sorted(set(written.state.entries) - parents):
            if tip in written.writer.written and tip not in written.writer.found.facts:
                there = build_view(written.state, written.tapes, tip)
                sent = sessions.context(session_id, leaf=tip)
                assert rows_of(sent) == rows_of(build_context(there))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(max_examples=25, deadline=None)
@given(tapes(max_size=16), st.sampled_from(["pi", "tau"]))
def test_a_tape_written_and_imported_says_the_same_but_for_what_the_report_names(
    written_as, folder, tape, form
):
    check(written_as, tape, form, folder)


@settings(max_examples=8, deadline=None)
@given(families(max_size=20), st.sampled_from(["pi", "tau"]))
def test_so_does_every_fork(written_as, folder, family, form):
    for tape in family:
        check(written_as, tape, form, folder)


@settings(max_examples=12, deadline=None)
@given(tapes(max_size=20, hostile=True), st.sampled_from(["pi", "tau"]))
def test_tapes_that_no_command_writes_come_out_too(written_as, folder, tape, form):
    written = written_as(tape, form, folder)
    assert len(written.records) == written.report.lines
    ids = [record["id"] for record in written.records]
    assert len(set(ids)) == len(ids)


# -- everything --------------------------------------------------------------------------------


def everything(sessions):
    """A session that uses all there is, and a fork of it."""
    s = sessions.start("all/of it", title="Every thing", directory="/home/user/x")
    s.set_model("m-1", "prov")
    s.set_thinking_level("high")
    s.finalize("system", "Be kind.")
    picture = {"type": "image", "data": "QUJD", "mime_type": "image/png"}
    by_address = {"type": "image", "url": "https://example.org/y.png"}
    document = {"type": "file", "name": "a.pdf", "data": "AAAA"}
    half = {"type": "text", "text": "half \ud83d of it"}
    q = s.finalize("user", [half, by_address, document, picture], name="ann", actor="ann", key="k")
    calls = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_call", "call_id": "c1", "name": "read", "arguments": {"n": float("nan")}},
        {"type": "tool_call", "call_id": "c2", "name": "ls", "arguments": ["x"]},
    ]
    usage = {"input": 3, "output": "many", "odd": 1}
    a = s.finalize(
        "assistant", calls, model="m-1", provider="prov", usage=usage, stop_reason="tool_use"
    )
    s.record_call(a.message_id, "c3", "extra", {"z": 1})
    s.record_result(a.message_id, "c3", "fact result", status="error")
    s.finalize("tool_result", "late", for_call="c2", details={"a": None})
    s.finalize("tool_result", "first", for_call="c1", is_error=True)
    s.finalize("bash_execution", "out", details={"command": "ls", "exit_code": 1})
    s.finalize("custom", "note", custom_type="ext", display=False, details=[1])
    s.record_custom("mine", [1, 2])
    failed = s.finalize("assistant", "failed", status="error", error="overloaded")
    u = s.finalize("user", "failed user", status="error")
    s.finalize("user", "not sent", status="error")
    slip = s.finalize("user", "slip")
    s.finalize("assistant", "under slip", under=slip.entry_id)
    s.retract(slip.entry_id)
    s.revise(u.message_id, "mended", reason="typo")
    s.compact("first summary", first_kept=u.entry_id, tokens_before=10, model="m-1")
    s.finalize("user", "after")
    s.hand_off("handed on", state={"k": 1})
    work = s.finalize("user", "work")
    s.edit_context(work.entry_id, "work, edited")
    s.reset_summary()
    s.finalize("assistant", "answer", model="m-2", provider="prov2")
    s.compact("second", first_kept=work.entry_id)
    s.label(q.entry_id, "start")
    s.label(slip.entry_id, "lost")
    s.record_usage({"input": 1}, purpose="warm")
    s.summarize_branch(failed.entry_id, "learnt", under=u.entry_id)
    s.finalize("user", "side", under=u.entry_id)
    s.draft("assistant", "half")
    s.set_title("New name")
    sessions.save(s)
    child = sessions.fork("all/of it", child_id="kid")
    child.finalize("user", "in the fork")
    child.finalize("assistant", "yes", under=child.state.leaf)
    sessions.save(child)


EVERYTHING = {
    "pi": {
        *("struck", "draft", "older_version", "retraction", "call_fact", "result_fact", "block"),
        *("arguments", "status", "field", "system_message", "not_a_number", "reset_summary"),
        *("summary_reset", "label", "provenance", "receipt"),
    },
    "tau": {
        *("struck", "draft", "older_version", "retraction", "call_fact", "result_fact", "block"),
        *("arguments", "status", "field", "system_message", "not_a_number", "reset_summary"),
        *("summary_reset", "label", "provenance", "receipt"),
        *("lone_surrogate", "usage", "stop_reason", "custom_data", "edit_applied", "usage_record"),
        *("session_id", "model"),
    },
}
"""What the report names of that session, beside what depends on the order of the summaries."""


def test_the_report_names_all_that_a_file_cannot_hold(sessions, form):
    everything(sessions)
    export = export_lines(sessions, "all/of it", form)
    for _ in export.lines:
        pass
    assert set(export.report.reasons) >= EVERYTHING[form]
    listed = {loss.reason for loss in export.report.losses}
    assert listed == set(export.report.reasons)


# -- the tools themselves ----------------------------------------------------------------------


@pytest.fixture
def tool(form):
    """The command that asks the tool itself."""
    if form == "pi":
        folder, node = os.environ.get("TAPEFOLD_PI_PACKAGE"), shutil.which("node")
        if not folder or not node:
            pytest.skip("needs Node, and in TAPEFOLD_PI_PACKAGE the folder of Pi's package")
        return [node, str(PEERS / "open_in_pi.mjs"), folder]
    python = os.environ.get("TAPEFOLD_TAU_PYTHON")
    if not python:
        pytest.skip("needs in TAPEFOLD_TAU_PYTHON a Python 3.13 that has tau-ai")
    return [python, str(PEERS / "open_in_tau.py")]


def ask(command, paths):
    """What the tool itself makes of files."""
    asked = json.dumps({"files": [{"path": str(path)} for path in paths]})
    done = subprocess.run(
        command, input=asked.encode(), stdout=subprocess.PIPE, check=True, timeout=120
    )
    return json.loads(done.stdout)["answers"]


def plain(value):
    """1.0 is 1, and what Tau stamps with the moment of replay has no time."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v != 1_800_000_000_000}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if type(value) is int:
        value = float(value)  # as JavaScript has it: a longer one loses its last digits
    return value


def compare(form, answer, path, leaf):
    """The tool's own replay of a file, and ours at the line at which the tool opened it."""
    assert "error" not in answer, (path, answer)
    with Sessions("memory:") as sessions:
        session_id = str(import_file(sessions, path).session_id)
        ours = REPLAY[form](sessions.state(session_id), sessions.tapes, answer["leaf"])
    theirs = answer["context"] if form == "pi" else answer
    rows = [plain(row) for row in theirs["messages"]]
    assert len(rows) == len(ours["messages"])
    for row, mine in zip(rows, ours["messages"], strict=True):
        assert row == plain({k: v for k, v in mine.items() if k in row})
    state = ours["state"]
    assert (answer["labels"], answer["name"]) == (state["labels"], state["name"])
    if form == "pi":
        assert not answer["rewritten"]
        assert theirs["thinkingLevel"] == state["thinking_level"]
        assert (theirs["model"] or {}).get("modelId") == state["model"]
        assert leaf in (None, *answer["path"])
    else:
        named = ("model", "provider", "thinking_level")
        assert [answer[k] for k in named] == [state[k] for k in named]


def test_the_tool_itself_reads_what_is_written(sessions, form, tool, tmp_path):
    everything(sessions)
    paths, leaves = [], []
    for session_id in ("all/of it", "kid"):
        export = export_lines(sessions, session_id, form)
        path = tmp_path / f"{len(paths)}.jsonl"
        path.write_bytes(b"".join(export.lines))
        paths.append(path)
        leaves.append(export.report.leaf)
    for n, answer in enumerate(ask(tool, paths)):
        compare(form, answer, paths[n], leaves[n])


def test_the_tool_itself_reads_the_files_of_the_other(form, tool, tmp_path):
    other = {"pi": "tau", "tau": "pi"}[form]
    paths, leaves = [], []
    for file in sorted((FIXTURES / other).glob("*.jsonl")):
        with Sessions("memory:") as sessions:
            export = export_lines(sessions, str(import_file(sessions, file).session_id), form)
            path = tmp_path / file.name
            path.write_bytes(b"".join(export.lines))
        paths.append(path)
        leaves.append(export.report.leaf)
    for n, answer in enumerate(ask(tool, paths)):
        compare(form, answer, paths[n], leaves[n])


@pytest.mark.slow
def test_the_tool_itself_reads_random_tapes_as_they_were_written(
    form, tool, written_as, tmp_path_factory
):
    written = []

    @settings(max_examples=200, deadline=None, database=None)
    @given(families(max_size=30))
    def collect(family):
        for tape in family:
            made = written_as(tape, form, tmp_path_factory.mktemp("tape"))
            if made.writer.plan.order and made.report.leaf is not None:
                written.append(made)

    collect()
    assert len(written) > 100
    for made, answer in zip(written, ask(tool, [w.path for w in written]), strict=True):
        compare(form, answer, made.path, made.report.leaf)
