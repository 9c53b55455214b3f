"""docs/cli.md says what the commands say, and shows what they print."""

import importlib.util
import re

import pytest

from .conftest import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def generator():
    path = ROOT / "docs" / "generate_cli.py"
    spec = importlib.util.spec_from_file_location("generate_cli", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def parts(generator):
    return generator.generated()


def test_the_generated_parts_of_the_page_are_up_to_date(generator, parts):
    """After a change: python docs/generate_cli.py"""
    assert generator.write(PAGE, parts) == PAGE


def test_a_page_without_a_place_for_a_part_is_noticed(generator, parts):
    with pytest.raises(KeyError, match="example-view"):
        generator.write(PAGE.replace("<!-- generated: example-view -->", ""), parts)


def test_every_environment_variable_that_is_read_is_on_the_page():
    sources = [*ROOT.glob("cli/*.py"), *ROOT.glob("tapefold/settings.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    read = set(re.findall(r'environ(?:\.get)?[\[(]"([A-Z_]+)"', text))
    read |= {"TAPEFOLD_DB", "TAPEFOLD_TRACEBACK"}
    assert {name for name in read if f"`{name}`" not in PAGE} == set()
