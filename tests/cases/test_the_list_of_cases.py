"""docs/cases.md lists every case with its test, and docs/differences.md every difference."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = (ROOT / "docs/cases.md").read_text(encoding="utf-8")
DIFFERENCES = (ROOT / "docs/differences.md").read_text(encoding="utf-8")

NUMBERS = {f"D{n}" for n in range(1, 49)} | {
    f"T{n}"
    for n in (
        *(1, 2, 3, 5, 6, 7, 9, 11, 12, 14, 15, 16, 17, 19),
        *(21, 22, 25, 26, 27, 29, 32, 33, 34, 35, 38, 39, 41, 42, 44, 45, 46, 48, 49),
        *(50, 52, 53, 56, 58, 59, 61, 63, 64, 65, 67, 68, 70, 72),
    )
}
"""Every case that tapefold has an answer to."""

ROW = re.compile(r"^\| (?P<case>[DT]\d+) \| (?P<says>.+?) \| `(?P<test>\S+::\w+)` \|$", re.M)
LINK = re.compile(r"\*\[differs\]\(differences\.md#([dt]\d+)\)\*")
NUMBERED = re.compile(r"[DT]\d+( [DT]\d+)*")


def rows():
    return [found.groupdict() for found in ROW.finditer(CASES)]


def named_tests(path):
    """Name to docstring of the tests in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name: ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def exists(test):
    path, _, name = test.partition("::")
    return (ROOT / path).is_file() and name in named_tests(ROOT / path)


def sections():
    """Case to the paragraph about its difference."""
    parts = re.split(r"^### ([DT]\d+)$", DIFFERENCES, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_line_of_the_tables_is_understood():
    lines = [line for line in CASES.splitlines() if re.match(r"\| [DT]\d", line)]
    assert len(lines) == len(rows())


def test_every_case_is_listed():
    assert {row["case"] for row in rows()} == NUMBERS


def test_cases_are_listed_in_order():
    order = [(row["case"][0], int(row["case"][1:])) for row in rows()]
    assert order == sorted(order)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["case"])
def test_the_test_of_a_case_exists(row):
    assert exists(row["test"]), row["test"]


def test_every_test_that_names_a_case_is_listed_under_it():
    named = {
        (case, f"tests/cases/{path.name}::{name}")
        for path in Path(__file__).parent.glob("test_*.py")
        for name, says in named_tests(path).items()
        if NUMBERED.fullmatch(says)
        for case in says.split()
    }
    assert named
    listed = {(r["case"], r["test"]) for r in rows() if r["test"].startswith("tests/cases/")}
    assert named <= listed
    # Cases that have no counterpart are listed with a test of what is there instead.
    assert {case for case, _ in listed - named} <= {"D36"}


def test_cases_and_differences_name_each_other():
    linked = {case.upper() for case in LINK.findall(CASES)}
    assert linked == set(sections())
    for row in rows():
        for case in LINK.findall(row["says"]):
            assert case.upper() == row["case"]


def test_every_difference_is_shown_by_a_test():
    for case, says in sections().items():
        shown = re.findall(r"Shown by `(\S+::\w+)`\.", says)
        assert len(shown) == 1, case
        assert exists(shown[0]), shown[0]


def test_links_inside_the_differences_lead_to_a_paragraph():
    for case in re.findall(r"\(#([dt]\d+)\)", DIFFERENCES):
        assert case.upper() in sections()
