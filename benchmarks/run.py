"""Run benchmarks and print their figures: `python benchmarks/run.py --help`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

NAMES = {
    "durable_append": "one durable append against a raw insert of the same bytes",
    "warm_append": "a warm append to a long session against one to a short session",
    "importing": "an import against a bare loop of json.loads and inserts; its memory",
    "opening": "opening and folding, opening and appending",
    "thin_state": "memory of a folded session",
    "forks": "a fork against an append, warm and cold",
    "deep_chain": "a view of a deep tree against one of a shallow tree",
    "commands": "start-up and view through the command line",
    "projections": "rebuilding the projections against a bare loop, and event by event",
    "projection_sizes": "memory and reading of projections where there is much (--full: a million)",
    "stepping": "a key of replay --step at 10,000 events, to the end of its redraw",
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options, checked."""
    listed = "\n".join(f"  {name:<18}{what}" for name, what in NAMES.items())
    parser = argparse.ArgumentParser(
        description="Measure two things in one run, and print their ratio.",
        epilog=f"benchmarks:\n{listed}\n\nSee docs/benchmarks.md for how to read them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="which ones; default: all")
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is missed")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes: shows that it runs, measures nothing"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="importing: a file of 1.5 million lines, 1 GB; projection_sizes: a million events",
    )
    parser.add_argument("--folder", type=Path, help="where to put the stores; default: temporary")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; see --help")
    if options.check and options.quick:
        parser.error("--quick measures nothing that --check could judge")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 1 when a limit is missed and `--check` is given."""
    options = parse(arguments)
    # Last, so that it shadows nothing: a script's own folder may be kept off the path.
    sys.path.append(str(Path(__file__).resolve().parent.parent))
    from benchmarks.measuring import Bench

    missed = 0
    for name in options.names or NAMES:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            print(f"{name}: {NAMES[name]}", flush=True)
            measure = import_module(f"benchmarks.{name}").measure
            for figure in measure(Bench(Path(folder), options.quick, options.full)):
                print(figure.spell(judged=not options.quick), flush=True)
                missed += figure.is_missed and not options.quick
    if missed:
        print(f"{missed} limits missed", file=sys.stderr)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
