"""The benchmarks run and print what they are for. No time is judged here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "benchmarks" / "run.py"
NAMES = sorted(
    path.stem for path in RUN.parent.glob("*.py") if "def measure(" in path.read_text("utf-8")
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUN), *arguments], capture_output=True, text=True, check=False
    )


def test_the_help_names_every_benchmark():
    answer = run("--help")
    assert answer.returncode == 0
    for name in NAMES:
        assert re.search(rf"^  {name} +\w", answer.stdout, re.MULTILINE), name


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_prints_its_figures(name, tmp_path):
    answer = run("--quick", "--folder", str(tmp_path), name)
    assert answer.returncode == 0, answer.stderr
    first, *figures = answer.stdout.splitlines()
    assert first.startswith(f"{name}: ")
    assert re.match(r" +[0-9.e+-]+ (times|seconds|bytes/entry) +\w", figures[0])
    assert "MISSED" not in answer.stdout
    assert list(tmp_path.iterdir()) == [], "it takes its stores away"


@pytest.mark.parametrize("arguments", [["nothing"], ["--quick", "--check"]])
def test_what_cannot_be_measured_is_refused(arguments):
    answer = run(*arguments)
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr


def test_a_missed_limit_is_an_exit_code_when_it_is_asked_for(tmp_path):
    """The folder's own `benchmarks` is used, with a figure that no machine reaches."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for path in RUN.parent.glob("*.py"):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    (folder / "thin_state.py").write_text(
        "from .measuring import Figure\n"
        "def measure(bench):\n"
        "    yield Figure('one side : the other', 3.0, limit=2.0)\n"
        "    yield Figure('the other : one side', 1.0, limit=2.0)\n"
    )
    for options, expected in ((["--check"], 1), ([], 0)):
        answer = subprocess.run(
            [sys.executable, str(folder / "run.py"), *options, "thin_state"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert answer.returncode == expected
        assert answer.stdout.count("MISSED") == 1
        assert "1 limits missed" in answer.stderr
