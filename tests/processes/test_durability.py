"""What an acknowledged append means: it is on the disk."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest


def test_the_writer_of_the_application_syncs_every_commit(store_path, open_sessions):
    """Asked on its own connection: another one may well have other settings."""
    sessions = open_sessions(store_path)
    session = sessions.start("s")
    session.finalize("user", "Is it written down?")
    sessions.save(session)

    def ask(cursor, pragma):
        cursor.execute(f"PRAGMA {pragma}")
        return cursor.fetchone()[0]

    with sessions.recorder.datastore.transaction(commit=True) as cursor:
        assert cursor.connection is sessions.recorder.datastore.pool._writer
        assert ask(cursor, "journal_mode") == "wal"
        assert ask(cursor, "synchronous") == 2, "FULL"
        assert ask(cursor, "fullfsync") == 1


@pytest.fixture
def strace(tmp_path):
    """The command that notes the syncs of a process, and its writes to standard error."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = tmp_path / "strace.txt"
    command = ("strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(log))
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("strace may not trace here")
    return command, log


def test_an_acknowledged_execute_is_one_sync_of_the_disk(store_path, strace, start_process):
    command, log = strace
    script = """
        with Sessions(sys.argv[1]) as sessions:
            sessions.start("s", persist=True)
            sessions.execute("s", lambda s: s.finalize("user", "the first one"))
            for n in range(30):
                os.write(2, b"before %d" % n)
                sessions.execute("s", lambda s: s.finalize("user", f"message {n}"))
                os.write(2, b"acknowledged %d" % n)
            for n in range(5):
                os.write(2, b"before fork %d" % n)
                sessions.fork("s")
                os.write(2, b"acknowledged fork %d" % n)
        """
    process = start_process(script, store_path, before=command)
    assert process.wait(timeout=120) == 0
    calls = re.findall(
        r'(fsync|fdatasync|write\(2, "before|write\(2, "acknowledged)\b', log.read_text()
    )
    between = re.findall(r'write\(2, "before(.*?)write\(2, "acknowledged', " ".join(calls))
    assert [len(syncs.split()) for syncs in between] == [1] * 35
