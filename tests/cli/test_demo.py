"""./dev demo ends in something worth looking at."""

import subprocess
import sys
from pathlib import Path

from .conftest import ROOT


def test_the_demo_runs_to_its_end_and_shows_each_step(environment, tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        env={**environment, "TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        timeout=300,
        check=False,
    )
    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b""), shown
    for step in ("import", "tree", "replay", "context", "fork", "append", "sessions"):
        assert f"$ tapefold {step}" in shown
    assert "◀ leaf" in shown
    assert "left with their branch" in shown
    assert "hidden from the context" in shown
    assert "before_boundary" in shown
    assert shown.count("nothing new") == 2
    (line,) = [line for line in shown.splitlines() if "export TAPEFOLD_DB=" in line]
    assert Path(line.partition("=")[2]).is_file()
