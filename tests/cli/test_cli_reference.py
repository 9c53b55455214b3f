"""docs/cli.md says what the commands say, and shows what they print."""

import importlib.util
import re
import shlex
import shutil

import click
import pytest
from click.testing import CliRunner

from tapefold.cli.commands import cli
from tapefold.cli.examples import EXAMPLES

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


def test_every_command_has_examples_of_its_own_and_no_example_is_of_a_command_that_is_gone():
    commands = cli.list_commands(click.Context(cli))
    assert set(EXAMPLES) == set(commands)
    assert all(EXAMPLES[name][-1].startswith(f"tapefold {name}") for name in EXAMPLES)
    assert {line.split()[1] for lines in EXAMPLES.values() for line in lines} == set(commands)


@pytest.fixture(scope="module")
def example_store(tmp_path_factory):
    """A store that holds the examples, as `tapefold import examples` makes it."""
    store = tmp_path_factory.mktemp("store") / "sessions.db"
    env = {"TAPEFOLD_DB": str(store)}
    done = CliRunner().invoke(cli, ["import", str(ROOT / "examples")], env=env)
    assert done.exit_code == 0, done.output
    return store


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "projections"])
def test_the_examples_of_a_command_work_on_a_store_that_holds_the_examples(
    name, example_store, store, tmp_path, monkeypatch
):
    shutil.copy(example_store, store)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for line in EXAMPLES[name]:
        done = CliRunner().invoke(cli, shlex.split(line)[1:], env={"TAPEFOLD_DB": str(store)})
        assert done.exit_code == 0, f"{line}: {done.output}"


def test_the_examples_of_a_command_stand_in_its_help_line_by_line(run):
    for name in ("view", "branch"):
        help_ = run(name, "--help")
        assert all(f"\n    {example}\n" in help_ for example in EXAMPLES[name])


def test_the_help_lists_each_command_once_under_what_it_is_for(run):
    help_ = run("--help")
    for title, modules in cli.sections.items():
        (block,) = re.findall(rf"^{title}:\n((?:  .*\n)+)", help_, re.MULTILINE)
        assert re.findall(r"^  (\S+)  ", block, re.MULTILINE) == list(modules)
    names = cli.list_commands(click.Context(cli))
    assert len(names) == len(set(names))
