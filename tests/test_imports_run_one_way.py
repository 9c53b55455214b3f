"""What import-linter cannot say of the imports: parts of foreign packages, and allow-lists.

The rooms are the folders that setup.cfg maps to `tapefold.<room>`; "front" is `tapefold/`
itself, which joins them. Files are parsed, never imported, so late imports count too.
"""

import ast
import configparser
import importlib.resources
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FRONT = "front"

# What each room may import of tapefold besides itself.
MAY_IMPORT = {
    "domain": set(),
    "persistence": {"domain"},
    "interop": {"domain", "persistence"},
    FRONT: {"domain", "persistence", "interop", "projections"},
    # Of the front only how tapes are read and folded; the layers of import-linter hold that.
    "projections": {"domain", "persistence", FRONT},
    "cli": {"domain", "persistence", "interop", "projections", FRONT},
}

# The domain is pure: the standard library without what reaches the outside, and two packages.
DOMAIN_PACKAGES = {"pydantic", "pydantic_core", "eventsourcing.domain", "eventsourcing.utils"}
REACHES_OUTSIDE = set(
    "asyncio builtins concurrent ctypes curses dbm fcntl fileinput ftplib getpass glob http imaplib"
    " importlib io logging mmap multiprocessing os pathlib pickle poplib pty readline runpy"
    " selectors shelve shutil signal smtplib socket socketserver sqlite3 ssl subprocess"
    " tempfile tty urllib webbrowser xmlrpc".split()
)
CALLS_THAT_REACH_OUTSIDE = {"open", "print", "input", "exec", "eval", "compile", "__import__"}

STORES = {"sqlite3", "psycopg", "eventsourcing.sqlite", "eventsourcing.postgres"}
TERMINAL = {"click", "prompt_toolkit", "rich"}
FORBIDDEN = {
    "domain": STORES | TERMINAL,
    "persistence": TERMINAL | {"platformdirs"},
    "interop": STORES | TERMINAL | {"eventsourcing", "platformdirs"},
    FRONT: STORES | TERMINAL,
    "projections": (STORES - {"sqlite3"}) | TERMINAL | {"platformdirs"},
    "cli": STORES | {"eventsourcing"},
}


def mapped_packages() -> dict[str, Path]:
    """The packages that setup.cfg names, each with its folder."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    options = config["options"]
    folders = {}
    for line in options["package_dir"].strip().splitlines():
        package, _, folder = line.partition("=")  # "tapefold.domain = domain"
        folders[package.strip()] = folder.strip()
    found = {}
    for package in options["packages"].split():
        mapped = package
        inner: list[str] = []
        while mapped not in folders:
            mapped, _, last = mapped.rpartition(".")
            inner.insert(0, last)
        found[package] = ROOT.joinpath(folders[mapped], *inner)
    return found


def rooms() -> dict[str, Path]:
    """Each room's folder, by the room's name."""
    found = {FRONT: ROOT / "tapefold"}
    for package, folder in mapped_packages().items():
        if package.count(".") == 1 and folder.parent == ROOT:
            found[package.removeprefix("tapefold.")] = folder
    return found


def sources() -> list[tuple[str, Path]]:
    return [(room, path) for room, folder in rooms().items() for path in folder.rglob("*.py")]


def module_name(room: str, path: Path) -> str:
    """The dotted name that a source file is installed as."""
    inner = path.relative_to(rooms()[room]).with_suffix("").parts
    names = ["tapefold", *([] if room == FRONT else [room]), *inner]
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def imports_of(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that a source text imports.

    `from a import b` gives `a.b`: b may be a module, and a rule on `a` holds for it too.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - 1 if is_package else node.level
                here = module.split(".")
                base = ".".join([*here[: len(here) - up], *([base] if base else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def is_of(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def room_of(name: str) -> str:
    """The room that an imported name `tapefold…` lies in."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in rooms() else FRONT


def fault_of(room: str, name: str) -> str | None:
    """Why a file of this room must not import this name; None if it may."""
    if is_of(name, {"tapefold"}):
        target = room_of(name)
        if target != room and target not in MAY_IMPORT[room]:
            return f"{room} must not know {target}"
    elif is_of(name, FORBIDDEN[room]):
        return f"{room} must not know {name}"
    elif room == "domain" and not is_of(name, DOMAIN_PACKAGES):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names:
            return "the domain imports only pydantic and eventsourcing.domain"
        if top in REACHES_OUTSIDE:
            return f"{top} reaches outside, and the domain is pure"
    return None


def faults_in(room: str, source: str, module: str, is_package: bool) -> list[str]:
    return [
        f"line {line}: imports {name}: {fault}"
        for line, name in imports_of(source, module, is_package)
        if (fault := fault_of(room, name))
    ]


def test_every_room_has_a_rule():
    assert set(rooms()) == set(MAY_IMPORT) == set(FORBIDDEN)


def test_no_file_imports_what_its_room_must_not_know():
    checked = sources()
    assert len(checked) >= len(rooms()), "each room has at least its __init__.py"
    faults = [
        f"{path.relative_to(ROOT)}: {fault}"
        for room, path in checked
        for fault in faults_in(
            room,
            path.read_text(encoding="utf-8"),
            module_name(room, path),
            path.name == "__init__.py",
        )
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("domain", "import sqlite3"),
        ("domain", "from os import path"),
        ("domain", "import urllib.request"),
        ("domain", "import msgspec"),
        ("domain", "from eventsourcing.persistence import Mapper"),
        ("domain", "from eventsourcing import application"),
        ("domain", "from tapefold.persistence import codec"),
        ("domain", "from tapefold import Sessions"),
        ("domain", "from .. import sessions"),
        ("domain", "from ..cli import main"),
        ("domain", "def late():\n    import tapefold.interop.tau"),
        ("persistence", "import tapefold.interop.tau"),
        ("persistence", "import rich.tree"),
        ("interop", "from eventsourcing.domain import Aggregate"),
        ("interop", "import sqlite3"),
        ("front", "import eventsourcing.sqlite"),
        ("front", "from eventsourcing import sqlite"),
        ("front", "from tapefold.cli.main import main"),
        ("cli", "from eventsourcing.application import Application"),
    ],
)
def test_a_forbidden_import_is_noticed(room, line):
    module = "tapefold.module" if room == FRONT else f"tapefold.{room}.module"
    assert faults_in(room, line, module, is_package=False)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("domain", "import json, dataclasses"),
        ("domain", "from collections.abc import Iterable"),
        ("domain", "from pydantic import BaseModel"),
        ("domain", "from eventsourcing.domain import Aggregate"),
        ("domain", "from .heads import Head"),
        ("domain", "from tapefold.domain import heads"),
        ("persistence", "import eventsourcing.sqlite, sqlite3"),
        ("persistence", "from tapefold.domain.heads import Head"),
        ("front", "from tapefold.persistence.sqlite import Factory"),
        ("front", "from eventsourcing.application import Application"),
        ("cli", "from tapefold import Sessions"),
        ("cli", "import click"),
    ],
)
def test_an_allowed_import_is_let_through(room, line):
    module = "tapefold.module" if room == FRONT else f"tapefold.{room}.module"
    assert faults_in(room, line, module, is_package=False) == []


def test_the_domain_calls_nothing_that_reaches_outside():
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.func.id}()"
        for room, path in sources()
        if room == "domain"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CALLS_THAT_REACH_OUTSIDE
    ]
    assert calls == []


def test_every_folder_with_python_files_is_a_package_that_is_installed():
    # A folder that setup.cfg does not name works in an editable install and lacks in the wheel.
    folders = {path.parent for _, path in sources()}
    assert folders == set(mapped_packages().values())
    assert all((folder / "__init__.py").is_file() for folder in folders)


@pytest.mark.parametrize("module", sorted(module_name(room, path) for room, path in sources()))
def test_every_module_is_found_under_its_installed_name(module):
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("package", sorted(mapped_packages()))
def test_every_package_can_be_imported_first(package, tmp_path):
    # In an interpreter of its own: a ring of imports shows only in one of the orders.
    done = run_python(f"import {package}", tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_marker_for_type_checkers_is_installed():
    assert importlib.resources.files("tapefold").joinpath("py.typed").is_file()


@pytest.mark.parametrize("room", sorted(set(rooms()) - {FRONT}))
def test_a_room_is_no_top_level_module(room, tmp_path):
    done = run_python(f"import {room}", tmp_path)
    assert done.returncode == 1
    assert f"No module named '{room}'" in done.stderr


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter without PYTHON* settings, in another folder than ours."""
    return subprocess.run(
        [sys.executable, "-E", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
