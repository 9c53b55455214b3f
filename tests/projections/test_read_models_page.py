"""docs/read-models.md explains every table and every column, and none that there is not."""

import re
from pathlib import Path

import pytest

from tapefold import projection_named, projection_names

PAGE = Path(__file__).resolve().parents[2] / "docs" / "read-models.md"
TABLES = {
    table.name: table for name in projection_names() for table in projection_named(name).TABLES
}


def explained() -> dict[str, list[str]]:
    """The columns that the page explains, by table."""
    found = {}
    for part in PAGE.read_text("utf-8").split("\n### ")[1:]:
        name, _, rest = part.partition("\n")
        if re.fullmatch(r"[a-z]+_[a-z]+", name):
            rows = re.findall(r"^\| (`.*?`) \|", rest, re.MULTILINE)
            found[name] = [column for row in rows for column in re.findall(r"`(\w+)`", row)]
    return found


def test_the_page_explains_every_table_and_no_other():
    assert set(explained()) == set(TABLES)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_page_explains_every_column_once_and_no_other(name):
    assert sorted(explained()[name]) == sorted(TABLES[name].names)
