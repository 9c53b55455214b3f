"""The command line, through the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import which

from .measuring import Bench, Figure, side_by_side
from .stores import SESSION, filled


def command() -> str:
    """The path of the installed command of this Python."""
    beside = Path(sys.executable).parent
    found = which("tapefold", path=str(beside)) or which("tapefold")
    if found is None:
        raise SystemExit("the command tapefold is not installed; run ./dev setup")
    return found


def measure(bench: Bench) -> Iterator[Figure]:
    """Wall time of a whole process, beside one of Python that does nothing."""
    tapefold = command()
    messages = bench.size(1_000, 20)
    path = filled(bench.folder, messages)
    # An installed package has its bytecode; a checkout may not, or is not allowed to keep it.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bench.folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(*arguments: str) -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment)

    actions = [
        partial(run, tapefold, "--version"),
        partial(run, tapefold, "--db", str(path), "view", SESSION),
        partial(run, sys.executable, "-c", "pass"),
    ]
    for action in actions:
        action()
    sides = side_by_side(actions, rounds=bench.size(5, 1), times=bench.size(5, 1))
    detail = sides.describe("version", "view", "Python alone", over=0, under=2)
    yield Figure("tapefold --version", sides.least(0), "seconds", limit=0.25, detail=detail)
    yield Figure(f"tapefold view of {messages} messages", sides.least(1), "seconds", limit=0.5)
