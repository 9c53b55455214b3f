"""The code blocks of README.md and docs/ are run: what a page shows is what happens.

* ``python``: executed; the blocks of one page are one module, in the order of the page.
* ``console``: each `$ tapefold …` line is run by `sh`. It must exit with 0, or with the number
  of a line `# exit N` directly before it. Lines after it are its output (stdout and stderr),
  to the letter; a line `...` stands for any lines, `…` for anything within a line. Without
  such lines the output is not looked at. A `\\` at the end continues a command.
* ``sql``: one statement, run on the connection that the page's python has named `db`. The lines
  `-- …` at its end are the rows that it answers: values between ` | `, as SQLite writes them as
  text, NULL where there is none.
* ``text`` and ``json``: shown only. Any other block is a mistake, so that none is passed over.

A page's blocks share a working directory, which holds a copy of examples/, and a database.
"""

import difflib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")]
)
# Pages of words alone. Each other page must have something to run.
PAGES_WITHOUT_CODE = {"docs/benchmarks.md", "docs/cases.md", "docs/differences.md"}

SHOWN_ONLY = {"text", "json"}
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|~{3,}) *(?P<language>[^\s`]*)[^`]*$")
COMMAND = re.compile(r"^\$ (?P<command>([A-Z_]+=\S* )*tapefold\b.*)$")
EXIT = re.compile(r"^# exit (?P<code>\d+)$")


class PageFault(AssertionError):
    """A block of a page is malformed, or what it shows is not what happens."""


@dataclass
class Block:
    """One fenced block: its language, the number of its first line, and its lines."""

    language: str
    line: int
    lines: list[str] = field(default_factory=list)


@dataclass
class Command:
    """One command of a console block, with what the page says of its end and its output."""

    text: str
    line: int
    code: int = 0
    output: list[str] = field(default_factory=list)


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of a page's text, in order."""
    block, fence = None, ""
    indent = 0
    for number, line in enumerate(page.splitlines(), start=1):
        if block is None:
            if opened := FENCE.match(line):
                fence, indent = opened["marks"], len(opened["indent"])
                block = Block(opened["language"], number + 1)
            continue
        bare = line.strip()
        if len(bare) >= len(fence) and set(bare) == {fence[0]}:
            yield block
            block = None
        else:
            block.lines.append(line[indent:] if not line[:indent].strip() else line)
    if block is not None:
        raise PageFault(f"line {block.line - 1}: this block is never closed")


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block, in order."""
    commands: list[Command] = []
    code = 0
    continues = False
    following = [*block.lines[1:], ""]
    for number, (line, after) in enumerate(zip(block.lines, following, strict=True), block.line):
        if continues:
            commands[-1].text += "\n" + line
        elif (said := EXIT.match(line)) and after.startswith("$ "):
            code = int(said["code"])
            continue
        elif found := COMMAND.match(line):
            commands.append(Command(found["command"], number, code))
            code = 0
        elif line.startswith("$ "):
            raise PageFault(f"line {number}: only tapefold is run here; use a text block: {line}")
        elif commands:
            commands[-1].output.append(line.rstrip())
        elif line.strip():
            raise PageFault(f"line {number}: output without a command before it: {line}")
        is_command = continues or line.startswith("$ ")
        continues = is_command and line.endswith("\\")
    return commands


def fits(shown: list[str], real: list[str]) -> bool:
    """Whether real output lines are those that a page shows, with `...` and `…` as wildcards."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("…"))) + "\n"
        for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in real)) is not None


def trimmed(lines: list[str]) -> list[str]:
    """The lines without blanks at their ends, and without empty lines at the end."""
    kept = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def run_console(block: Block, folder: Path) -> None:
    for command in commands_of(block):
        done = subprocess.run(
            ["sh", "-c", command.text],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        where = f"line {command.line}: $ {command.text}"
        if done.returncode != command.code:
            raise PageFault(
                f"{where}\nexits with {done.returncode}, not {command.code}:\n{done.stdout}"
            )
        shown, real = trimmed(command.output), trimmed(done.stdout.splitlines())
        if shown and not fits(shown, real):
            difference = "\n".join(difflib.unified_diff(shown, real, "page", "real", lineterm=""))
            raise PageFault(f"{where}\nprints something else:\n{difference}")


def run_python(block: Block, module: ModuleType, page: str) -> None:
    # Empty lines before it, so that a traceback names the page's own line.
    source = "\n" * (block.line - 1) + "\n".join(block.lines) + "\n"
    code = compile(source, str(ROOT / page), "exec", dont_inherit=True)
    exec(code, module.__dict__)


def run_sql(block: Block, module: ModuleType) -> None:
    where = f"line {block.line}"
    connection = getattr(module, "db", None)
    if not isinstance(connection, sqlite3.Connection):
        raise PageFault(f"{where}: no python block before it has made a connection `db`")
    lines = trimmed(block.lines)
    shown = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
    said = [line for line in lines if not line.startswith("-- ")]
    if not shown or lines[-len(shown) :] != [f"-- {row}" for row in shown]:
        raise PageFault(f"{where}: the rows that it answers stand at its end, as `-- ` lines")
    rows = connection.execute("\n".join(said)).fetchall()
    real = [" | ".join("NULL" if value is None else str(value) for value in row) for row in rows]
    if real != shown:
        difference = "\n".join(difflib.unified_diff(shown, real, "page", "real", lineterm=""))
        raise PageFault(f"{where} answers something else:\n{difference}")


def run_page(page: str, text: str, module: ModuleType, folder: Path) -> int:
    """Runs the blocks of a page in a folder; how many were run."""
    count = 0
    for block in blocks_of(text):
        if block.language == "python":
            run_python(block, module, page)
        elif block.language == "console":
            run_console(block, folder)
        elif block.language == "sql":
            run_sql(block, module)
        elif block.language in SHOWN_ONLY:
            continue
        else:
            raise PageFault(
                f"line {block.line - 1}: a block is python, console, sql, text or json,"
                f" not {block.language or 'without a language'}"
            )
        count += 1
    return count


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory of a page; nothing that it does touches the person's own data."""
    if (ROOT / "examples").is_dir():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignored)
    tools = Path(sys.executable).parent
    settings = {
        "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "TAPEFOLD_DB": str(tmp_path / "sessions.db"),
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def module(request, monkeypatch):
    """The module that a page's python blocks make up.

    It can be found by its name, as a module can: stored events name the classes that a page
    defines by it. The name is the page's own, for the event-sourcing library remembers them.
    """
    name = "docs_" + re.sub(r"\W", "_", request.node.name)
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def test_the_readme_is_among_the_pages():
    assert "README.md" in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_happens(page, folder, module):
    count = run_page(page, (ROOT / page).read_text(encoding="utf-8"), module, folder)
    if page in PAGES_WITHOUT_CODE:
        assert count == 0, "has code now: take it off the list"
    else:
        assert count > 0, "has nothing to run; if that is meant, put it on the list"


def test_the_blocks_of_a_page_share_names_and_a_folder(folder, module):
    page = """
```python
from pathlib import Path
x = 1
```
* in a list:
  ```python
  if x:
      Path("made").write_text(str(x + 1))
  ```
```text
not run
```
"""
    assert run_page("README.md", page, module, folder) == 2
    assert (folder / "made").read_text() == "2"


def test_a_class_of_a_page_is_found_by_its_module(folder, module):
    page = "```python\nimport sys\nclass A: pass\nassert sys.modules[A.__module__].A is A\n```"
    assert run_page("README.md", page, module, folder) == 1


DB = "```python\nimport sqlite3\ndb = sqlite3.connect(':memory:')\n```\n"


def test_a_query_of_a_page_answers_the_rows_that_stand_below_it(folder, module):
    page = f"{DB}```sql\nSELECT 1, 2.5, NULL, 'a'\nUNION ALL SELECT 2, 0, '', 'b';\n"
    page += "-- 1 | 2.5 | NULL | a\n-- 2 | 0 |  | b\n```\n"
    assert run_page("README.md", page, module, folder) == 2


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nassert 1 == 2, 'not equal'\n```", "not equal"),
        ("```python\nx = 1\n", "never closed"),
        ("```\nno language\n```", "without a language"),
        ("```bash\ntapefold --help\n```", "not bash"),
        ("```console\n$ pip install tapefold\n```", "only tapefold"),
        ("```console\noutput of nothing\n```", "without a command"),
        ("```console\n$ tapefold no-such-noun\n```", "exits with 2, not 0"),
        ("```console\n# exit 1\n$ tapefold --help\n```", "exits with 0, not 1"),
        ("```console\n$ tapefold --help\nsomething else\n```", "-something else"),
        ("```sql\nSELECT 1\n-- 1\n```", "connection `db`"),
        (f"{DB}```sql\nSELECT 1\n```", "the rows that it answers"),
        (f"{DB}```sql\n-- 1\nSELECT 1\n```", "the rows that it answers"),
        (f"{DB}```sql\nSELECT 2\n-- 1\n```", "-1"),
        (f"{DB}```sql\nSELECT 1 WHERE 0\n-- 1\n```", "-1"),
    ],
)
def test_a_page_that_does_not_hold_is_noticed(page, complaint, folder, module):
    with pytest.raises(AssertionError, match=complaint):
        run_page("README.md", page, module, folder)


def test_a_console_block_says_how_a_command_ends_and_what_it_prints(folder, module):
    page = """
```console
$ tapefold --help
Usage: tapefold …
...
# exit 2
$ tapefold \\
    no-such-noun
$ TAPEFOLD_DB=other.db tapefold --help | head -n 1
Usage: tapefold …
```
"""
    assert run_page("README.md", page, module, folder) == 1


@pytest.mark.parametrize(
    ("shown", "real", "fit"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["a"], False),
        (["a"], ["a", "b"], False),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["a", "...", "d"], ["a", "d", "e"], False),
        (["..."], [], True),
        (["id … of 3"], ["id 7f of 3"], True),
        (["id … of 3"], ["id 7f of 4"], False),
        (["id …"], ["id 7", "8"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_output_fits_only_as_the_wildcards_allow(shown, real, fit):
    assert fits(shown, real) is fit
