"""A walk through the command line on two example sessions. Run it with `./dev demo`.

Each step prints the command and runs it, on a store of its own in a temporary folder.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
TAU = EXAMPLES / "kitchen-garden.tau.jsonl"
PI = EXAMPLES / "bird-box.pi.jsonl"
BIRD = "01a222ff"
"""The beginning of a session's id is enough, while no other session has it."""
FORK = "bird-again"

TAPEFOLD = Path(sys.executable).with_name("tapefold")


class Demo:
    """Runs commands on one store, and shows them."""

    def __init__(self, store: Path) -> None:
        self.store = store

    def say(self, heading: str, *lines: str) -> None:
        """A step's heading, and what there is to see."""
        bar = "─" * (70 - len(heading))
        print(f"\n{self.bold(heading)} {bar}", *lines, sep="\n", flush=True)

    def run(self, *arguments: str | Path) -> None:
        """Show a command and run it; its output goes straight to the terminal."""
        shown = [one.name if isinstance(one, Path) else one for one in arguments]
        print(self.bold(f"\n$ tapefold {shlex.join(shown)}"), flush=True)
        subprocess.run(self._command(arguments), check=True)

    def messages(self, session: str) -> int:
        """How many messages a session's view shows."""
        command = self._command(("view", session, "--json"))
        done = subprocess.run(command, check=True, capture_output=True)
        return len(json.loads(done.stdout)["messages"])

    def _command(self, arguments: tuple[str | Path, ...]) -> list[str]:
        return [str(TAPEFOLD), "--db", str(self.store), *map(str, arguments)]

    def bold(self, text: str) -> str:
        """Bold on a terminal."""
        return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() else text


def main() -> None:
    """The walk."""
    folder = Path(tempfile.mkdtemp(prefix="tapefold-demo-"))
    demo = Demo(folder / "sessions.db")

    demo.say(
        "1  Import",
        "Two session files, one written by Tau, one by Pi. Every record is kept.",
    )
    demo.run("import", TAU, PI)
    demo.run("sessions")

    demo.say(
        "2  The tree",
        "Every entry of a session. ● is on the path to the leaf; branches that were left",
        "stand beside it. Nothing is ever deleted.",
    )
    demo.run("tree", BIRD)

    demo.say(
        "3  Replay",
        "Event by event, and what each did to the view: + added, ✓ answered, - gone with its",
        "branch, ~ changed for the model only.",
    )
    demo.run("replay", BIRD, "--from", "24", "--to", "48")

    demo.say(
        "4  The context",
        "What a model would be sent now: the summary, what follows it, and for the call that",
        "was interrupted a result that says so. Below: what is left out, and why.",
    )
    demo.run("context", BIRD)

    demo.say(
        "5  A fork in the past",
        "Go back to position 26, where somebody asks for a picture, and go on from there. The",
        "fork is two small events; its parent stays as it is.",
    )
    demo.run("fork", BIRD, "--at", "26", "--id", FORK, "--title", "Another picture")
    demo.run("append", FORK, "A sound instead of a picture: nine chirps.")
    demo.run("replay", FORK)
    print(f"\nmessages in view: parent {demo.messages(BIRD)}, fork {demo.messages(FORK)}")

    demo.say("6  Import again", "A second import finds that there is nothing new.")
    demo.run("import", TAU, PI)

    demo.say(
        "Where to go from here",
        f"  the store of this demo   {demo.store}",
        f"  look around              {TAPEFOLD.name} --db {demo.store} view last",
        "  in a program             README.md, docs/concepts.md",
        "  in your own application  docs/embedding.md",
    )


if __name__ == "__main__":
    main()
