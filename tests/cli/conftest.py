"""Running the command line: in a process of its own, or (quick) inside this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tapefold import Sessions
from tapefold.cli.commands import cli

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = str(Path(sys.executable).with_name("tapefold"))


@pytest.fixture
def store(tmp_path):
    """Where the store of a test is, or will be."""
    return tmp_path / "sessions.db"


@pytest.fixture
def environment(store, tmp_path):
    """What a process of a test sees: its own store and home, UTC, a terminal of 80 columns."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "SYSTEMROOT", "VIRTUAL_ENV")}
    return {
        **kept,
        "TAPEFOLD_DB": str(store),
        "HOME": str(tmp_path),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
        "TERM": "xterm",
    }


@pytest.fixture
def program(environment, tmp_path):
    """Runs the installed program; answers the completed process, its output as bytes."""

    def run(*arguments, stdin=b"", env=None, timeout=60, **how):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            env={**environment, **(env or {})},
            input=stdin,
            stdout=how.get("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def run(store):
    """Runs a command inside this process; it has to end with `code`. Answers its stdout."""

    def invoke(*arguments, code=0, stdin=None):
        result = CliRunner().invoke(
            cli, list(map(str, arguments)), input=stdin, env={"TAPEFOLD_DB": str(store)}
        )
        assert result.exit_code == code, result.output
        return result.stderr if code else result.stdout

    return invoke


@pytest.fixture
def run_json(run):
    """The same with --json: the answer, or a list of answers where it prints one a line."""

    def invoke(*arguments, **how):
        lines = run(*arguments, "--json", **how).splitlines()
        values = [json.loads(line) for line in lines]
        return values[0] if len(values) == 1 else values

    return invoke


@pytest.fixture
def sessions(store):
    """The application on the store of the test; it makes the store."""
    with Sessions(store) as opened:
        yield opened


@pytest.fixture
def talk(sessions):
    """A session with a branch, a call, a label and a struck message; its entry ids by name."""
    talk = sessions.start("talk", title="A talk", directory="/home/user/talk")
    ids = {"question": talk.finalize("user", "How long is it?", timestamp=T[0]).entry_id}
    call = {"type": "tool_call", "call_id": "c1", "name": "measure", "arguments": {"side": "left"}}
    ids["call"] = talk.finalize(
        "assistant",
        [{"type": "text", "text": "I measure."}, call],
        model="m-1",
        provider="p",
        usage={"input": 3},
        timestamp=T[1],
    ).entry_id
    ids["result"] = talk.finalize(
        "tool_result", "118 cm", for_call="c1", tool_name="measure", timestamp=T[2]
    ).entry_id
    ids["answer"] = talk.finalize("assistant", "118 cm.", timestamp=T[3]).entry_id
    ids["side"] = talk.finalize(
        "user", "Another way", under=ids["question"], timestamp=T[4]
    ).entry_id
    ids["slip"] = talk.finalize("user", "Oops", timestamp=T[5]).entry_id
    talk.retract(ids["slip"], timestamp=T[6])
    talk.label(ids["answer"], "the length", timestamp=T[7])
    sessions.save(talk)
    return ids


T = [f"2026-03-02T09:00:0{n}.000000Z" for n in range(10)]
"""The times of `talk`, by position - 2."""
