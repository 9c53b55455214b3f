"""`./dev lint` turns red for a fault in any folder, and stays green without one.

The checkers once looked at a small part of the tree only and called that a success; so faults
are planted in copies of this tree, and the right checker must name each of them.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["tapefold", "domain", "persistence", "interop", "cli"]
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".build", ".*_cache", ".hypothesis", "*.egg-info", "__pycache__"
)

pytestmark = pytest.mark.slow


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a copy's ./dev lint with the tools of the running environment, from elsewhere."""
    return subprocess.run(
        ["sh", str(folder / "dev"), "lint"],
        cwd=folder.parent,
        env={**os.environ, "TAPEFOLD_VENV": sys.prefix},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A copy of the tree, and what ./dev lint said of it; mypy's cache is warm afterwards."""
    copy = tmp_path_factory.mktemp("clean") / "tree"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    return copy, lint(copy)


@pytest.fixture
def copy(clean, tmp_path):
    return shutil.copytree(clean[0], tmp_path / "tree")


def failed_checks(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The checks that the last line of ./dev lint names as failed."""
    assert done.returncode == 1, done.stdout
    said, _, checks = done.stdout.splitlines()[-1].partition(" failed: ")
    assert said == "dev: lint", done.stdout
    return set(checks.split())


def test_the_tree_as_it_is_passes(clean):
    _, done = clean
    assert done.returncode == 0, done.stdout


def test_a_type_error_in_any_folder_is_named(copy):
    for folder in FOLDERS:
        (copy / folder / "planted.py").write_text('"""Planted."""\n\nplanted: int = "text"\n')
    # The contract on layers also names a module of the front door that it does not know.
    done = lint(copy)
    assert failed_checks(done) == {"mypy", "import-linter"}
    for folder in FOLDERS:
        assert f"{folder}/planted.py:3: error: Incompatible types" in done.stdout


def test_an_upward_import_from_any_folder_is_named(copy):
    upward = {
        "domain": "tapefold.persistence",
        "persistence": "tapefold.cli",
        "interop": "tapefold.cli",
    }
    for folder, target in upward.items():
        (copy / folder / "planted.py").write_text(
            f'"""Planted."""\n\nimport {target}\n\nplanted = {target}\n'
        )
    done = lint(copy)
    assert failed_checks(done) == {"import-linter"}
    for folder, target in upward.items():
        assert f"tapefold.{folder}.planted -> {target}" in done.stdout


def test_an_import_back_through_the_front_door_is_named(copy):
    (copy / "domain" / "planted.py").write_text(
        '"""Planted."""\n\nimport tapefold\n\nplanted = tapefold\n'
    )
    done = lint(copy)
    assert failed_checks(done) == {"import-linter"}
    assert "tapefold.domain.planted -> tapefold " in done.stdout


def test_a_folder_that_a_checker_would_pass_over_is_noticed(copy):
    (copy / "domain" / "planted").mkdir()
    (copy / "domain" / "planted" / "module.py").write_text('"""Planted, and no package."""\n')
    done = lint(copy)
    assert failed_checks(done) == {"import-linter"}
    assert "import-linter saw" in done.stdout
