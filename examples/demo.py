"""A walk through tapefold on two example sessions: run it with ./dev demo, or with Python.

Each step prints the command that it runs, then runs it: what you see is the real command line.
The store is a new file in a temporary folder, so nothing of yours is touched.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
GARDEN = "kitchen-garden.tau.jsonl"
BIRDS = "bird-box.pi.jsonl"

BLUE = ("\x1b[1;34m", "\x1b[0m")

QUESTION = "Could the table list only what is due this month? Then it would fit."


class Walk:
    """Runs commands of tapefold, in the folder of the examples, on one store."""

    def __init__(self, store: Path) -> None:
        self.environment = {**os.environ, "TAPEFOLD_DB": str(store)}

    def say(self, *lines: str) -> None:
        """Print what comes next."""
        plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR")
        before, after = ("", "") if plain or os.environ.get("TERM") == "dumb" else BLUE
        print()
        for line in lines:
            print(f"{before}# {line}{after}", flush=True)

    def run(self, *arguments: str) -> None:
        """Print one command and run it."""
        print(f"$ tapefold {shlex.join(arguments)}", flush=True)
        subprocess.run(
            [sys.executable, "-m", "tapefold.cli", *arguments],
            cwd=EXAMPLES,
            env=self.environment,
            check=True,
        )


def main() -> None:
    """Walk through import, tree, replay, context, fork, and a second import."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    folder = Path(tempfile.mkdtemp(prefix="tapefold-demo-"))
    store = folder / "sessions.db"
    walk = Walk(store)

    walk.say("Two sessions of other tools, brought into one store: one of Tau, one of Pi.")
    walk.run("import", GARDEN, BIRDS)
    walk.run("sessions")

    walk.say("Everything that was ever said, abandoned branches included. ● is the path to here.")
    walk.run("tree", "What to sow this week", "--at", "43")

    walk.say("The same stretch as it happened: what each event did to the view.")
    walk.run("replay", "What to sow this week", "--from", "21", "--to", "30")

    walk.say("Later a side question was left, and a compaction hid the beginning from the model.")
    walk.run("replay", "What to sow this week", "--from", "38", "--to", "44")
    walk.run("replay", "What to sow this week", "--from", "54", "--to", "59")

    walk.say(
        "What a model would be sent now: the summary, and only what follows. Row 4 was never",
        "written: the call was interrupted, and models want every call answered.",
    )
    walk.run("context", "Nine wrens 🐦")

    walk.say("Go on from an earlier moment: a fork at position 26, where the table was too wide.")
    walk.run("fork", "What to sow this week", "--at", "26", "--id", "narrow-table")
    walk.run("append", "narrow-table", QUESTION)
    walk.run("replay", "narrow-table")

    walk.say("The parent has a receipt, and goes on unchanged; the fork knows where it came from.")
    walk.run("replay", "tau-", "--from", "62")
    walk.run("sessions")

    walk.say("Importing again is harmless.")
    walk.run("import", GARDEN, BIRDS)

    walk.say(f"The store is {store}. Look around in it:")
    activate = Path(sys.executable).with_name("activate")
    if shutil.which("tapefold") is None and activate.is_file():
        print(f"  . {shlex.quote(str(activate)):32} first: it puts tapefold on your path")
    print(f"  export TAPEFOLD_DB={shlex.quote(str(store))}")
    print("  tapefold view last                 the fork as a conversation")
    print("  tapefold view tau- --at 26         the parent, as it was then")
    print("  tapefold tree 'Nine wrens 🐦'      the other session's branches")
    print("  tapefold tape tau- --json          every event, for programs")
    print("README.md shows how to use the library, docs/cli.md has every command.")


if __name__ == "__main__":
    main()
