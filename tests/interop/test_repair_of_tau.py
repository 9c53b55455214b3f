"""Our repair and Tau's own, of the same broken history."""

from pathlib import Path

import pytest

from tapefold import Sessions
from tapefold.importing import import_file
from tapefold.interop.tau_replay import as_tau

SAMPLES = Path(__file__).parents[3] / "shared" / "conformance" / "tau"

pytestmark = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the samples written by the tools themselves lie elsewhere"
)


def replay(sessions, session_id):
    """(role, call, whether it failed) of each row, and the model."""
    answer = as_tau(sessions.state(session_id), sessions.tapes)
    rows = [(m["role"], m.get("toolCallId"), m.get("isError")) for m in answer["messages"]]
    return rows, answer["state"]["model"]


@pytest.mark.parametrize(("name", "before"), [("tau-0.4.8-repair", 10), ("tau-0.3.13-repair", 11)])
def test_a_repair_leads_to_the_rows_that_taus_own_leads_to(name, before, tmp_path):
    """T39: one result made up, one moved, one of no call and one second one left out."""
    lines = (SAMPLES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    broken, whole = tmp_path / "broken.jsonl", tmp_path / "whole.jsonl"
    broken.write_bytes(b"".join(lines[:before]))
    whole.write_bytes(b"".join(lines))
    with Sessions("memory:") as sessions:
        theirs = replay(sessions, str(import_file(sessions, whole).session_id))
    with Sessions("memory:") as sessions:
        session_id = str(import_file(sessions, broken).session_id)
        assert replay(sessions, session_id) != theirs
        done = sessions.execute(session_id, lambda session: session.repair())
        assert (done.synthesized, done.reordered, done.orphans, done.duplicates) == (1, 1, 1, 1)
        assert replay(sessions, session_id) == theirs
        assert not sessions.execute(session_id, lambda session: session.repair()).changed
