"""Writes the generated parts of docs/cli.md: commands with examples, machine shapes, codes.

    python docs/generate_cli.py            writes them
    python docs/generate_cli.py --check    exits 1 if the page is not what would be written

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`; all else is
written by hand. The machine shapes come from real runs on examples/short-talk.pi.jsonl; the
examples of the commands are those of their --help, and tests/test_docs_run.py runs them all.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from tapefold.cli.commands import cli
from tapefold.cli.effects import EFFECTS
from tapefold.cli.examples import EXAMPLES as COMMAND_EXAMPLES
from tapefold.cli.prompt import WHY_EXCLUDED
from tapefold.interop.report import REASONS
from tapefold.persistence.checkup_findings import MEANINGS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cli.md"
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
WIDTH = 96
"""A JSON value that fits in this many columns stands on one line."""


# -- commands ------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    """The program and each command: usage, what it does, its options, examples."""
    context = click.Context(cli, info_name="tapefold", **cli.context_settings)
    yield from _command(cli, context, "## The program")
    for title, names in cli.sections.items():
        yield f"* **{title}**: {', '.join(f'[{name}](#tapefold-{name})' for name in names)}"
    yield ""
    for title, names in cli.sections.items():
        yield f"## {title}"
        yield ""
        for name in names:
            command = cli.get_command(context, name)
            assert command is not None
            inner = click.Context(command, info_name=name, parent=context)
            yield from _command(command, inner, f"### tapefold {name}")
            if isinstance(command, click.Group):
                yield from _subcommands(command, inner, name)
            yield "```console"
            yield from (f"$ {example}" for example in COMMAND_EXAMPLES[name])
            yield "```"
            yield ""


def _subcommands(group: click.Group, context: click.Context, name: str) -> Iterator[str]:
    for inner_name in group.list_commands(context):
        command = group.get_command(context, inner_name)
        assert command is not None
        inner = click.Context(command, info_name=inner_name, parent=context)
        yield from _command(command, inner, f"#### tapefold {name} {inner_name}")


def _command(command: click.Command, context: click.Context, title: str) -> Iterator[str]:
    yield title
    yield ""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"`{context.command_path} {usage}`"
    yield ""
    yield " ".join((command.help or "").split("\n\n")[0].split())
    for paragraph in (command.help or "").split("\n\n")[1:]:
        yield ""
        yield " ".join(paragraph.split())
    options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    rows = [row for option in options if (row := option.get_help_record(context))]
    yield ""
    yield "| option | |"
    yield "|---|---|"
    for option, text in rows:
        yield f"| `{_cell(option)}` | {_cell(text)} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- codes ---------------------------------------------------------------------------------------


def _codes(meanings: dict[str, str]) -> Callable[[], Iterator[str]]:
    def table() -> Iterator[str]:
        yield "| code | |"
        yield "|---|---|"
        for code, meaning in meanings.items():
            yield f"| `{code}` | {_cell(meaning)} |"

    return table


DOCTOR_CODES = {code: f"{level}. {advice}" for code, (level, advice) in MEANINGS.items()}


# -- examples ------------------------------------------------------------------------------------

EXAMPLES: dict[str, tuple[str, ...]] = {
    "import": ("import", "examples/short-talk.pi.jsonl"),
    "sessions": ("sessions",),
    "view": ("view", "short-talk"),
    "tree": ("tree", "short-talk"),
    "diff": ("diff", "short-talk", "6", "9"),
    "tape": ("tape", "short-talk", "--from", "6", "--to", "7"),
    "replay": ("replay", "short-talk", "--from", "9", "--to", "10"),
    "context": ("context", "short-talk"),
    "context-as": ("context", "short-talk", "--as", "pi"),
    "append": ("append", "short-talk", "It is at the wall."),
    "fork": ("fork", "short-talk", "--at", "6", "--id", "oak"),
    "doctor": ("doctor",),
    "new": ("new", "--id", "shelf", "--title", "The shelf", "--dir", "/home/user/shelf"),
    "show": ("show", "short-talk", "a0000005"),
    "covered": ("compact", "short-talk", "--keep", "1", "--show-covered"),
}
"""What is run, in this order; each with --json."""
UNSTEADY = ("incarnation", "digest", "record", "store", "bytes")
"""Keys of what differs from run to run."""


def examples() -> dict[str, list[str]]:
    """The lines of each example: the command, then what it prints, laid out for a reader."""
    shown: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {"TAPEFOLD_DB": str(Path(folder) / "sessions.db")}
        for name, arguments in EXAMPLES.items():
            with contextlib.chdir(ROOT):
                done = CliRunner().invoke(cli, [*arguments, "--json"], env=environment)
            if done.exit_code:
                raise RuntimeError(f"{_shell(arguments)}: {done.output}")
            lines = [f"`tapefold {_shell(arguments)} --json`", "", "```json"]
            for line in done.stdout.splitlines():
                value = json.loads(line)
                # Only what --as adds: the rest was shown already.
                if name == "context-as":
                    value = {"…": "as above", **{k: value[k] for k in ("messages", "state")}}
                lines.extend(_layout(_steady(value)).splitlines())
            shown[name] = [*lines, "```"]
    return shown


def _shell(arguments: tuple[str, ...]) -> str:
    return " ".join(f"'{a}'" if " " in a else a for a in arguments)


def _steady(value: Any) -> Any:
    """The value with `…` in the place of what is another one at each run."""
    if isinstance(value, dict):
        return {key: "…" if key in UNSTEADY else _steady(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_steady(inner) for inner in value]
    is_random = isinstance(value, str) and re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{64}", value)
    return "…" if is_random else value


def _layout(value: Any, indent: str = "") -> str:
    """JSON text of one line where that fits, else a line for each member."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = [
            f"{json.dumps(k, ensure_ascii=False)}: {_layout(v, deeper)}" for k, v in value.items()
        ]
        left, right = "{", "}"
    else:
        inner = [_layout(v, deeper) for v in value]
        left, right = "[", "]"
    body = ",\n".join(deeper + member for member in inner)
    return f"{left}\n{body}\n{indent}{right}"


# -- the page ------------------------------------------------------------------------------------


def generated() -> dict[str, list[str]]:
    """Every generated part by its name."""
    parts = {
        "commands": list(commands()),
        "import-reasons": list(_codes(dict(REASONS))()),
        "excluded-reasons": list(_codes(WHY_EXCLUDED)()),
        "effects": list(_codes(EFFECTS)()),
        "doctor-codes": list(_codes(DOCTOR_CODES)()),
    }
    return parts | {f"example-{name}": lines for name, lines in examples().items()}


def write(page: str, parts: dict[str, list[str]]) -> str:
    """The page with these parts in it. Raises `KeyError` where one has no place."""
    missing = parts.keys() - {found[2] for found in PART.finditer(page)}
    if missing:
        raise KeyError(f"the page has no place for {', '.join(sorted(missing))}")
    return PART.sub(lambda found: found[1] + "\n".join(parts[found[2]]) + "\n" + found[3], page)


def main() -> int:
    """Write the page, or check it."""
    before = PAGE.read_text(encoding="utf-8")
    after = write(before, generated())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(after, encoding="utf-8")
        return 0
    compared = (before.splitlines(), after.splitlines())
    changed = "\n".join(difflib.unified_diff(*compared, "docs/cli.md", "now", lineterm=""))
    if changed:
        print(f"{changed}\ndocs/cli.md is out of date: run python docs/generate_cli.py")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
