"""--import and TAPEFOLD_IMPORT: the command line knows events of an application's own."""

import pytest
from eventsourcing.persistence import StoredEvent

from tapefold import Sessions

SEEDS = """
from tapefold.domain.bodies import BodyBase
from tapefold.domain.events import Event
from tapefold.persistence.upcasting import UPCASTERS


class SeedBody(BodyBase):
    grams: float = 0.0


class SeedsSown(Event):
    __slots__ = ()
    BODY = SeedBody
    class_version = 2


@UPCASTERS.step("seeds_sown", from_version=1)
def milligrams_to_grams(head, body):
    return head, {"grams": body["mg"] / 1000}
"""
OLD = b'{"n":21,"head":{"kind":"seeds_sown"},"body":{"mg":1500}}'


@pytest.fixture
def shop(store, tmp_path):
    """A folder of modules: `seeds` knows the event that stands in the store, of an old version."""
    with Sessions(store) as sessions:
        sessions.start("beds", title="Beds", persist=True)
        sessions.recorder.insert_events([StoredEvent("beds", 2, "tapefold.SeedsSown", OLD)])
    folder = tmp_path / "modules"
    folder.mkdir()
    for name, source in {
        "seeds": SEEDS,
        "empty": "",
        "broken": "1 / 0",
        "leaving": "import sys; sys.exit(0)",
    }.items():
        (folder / f"{name}.py").write_text(source)
    return {"PYTHONPATH": str(folder)}


def test_events_of_an_application_are_read_when_its_module_is_imported(program, shop):
    refused = program("events", "check", env=shop)
    assert refused.returncode == 1
    assert b"this tapefold knows no such event" in refused.stdout
    done = program("--import", "empty", "--import", "seeds", "events", "check", env=shop)
    assert done.returncode == 0, done.stdout
    assert b"2 events read" in done.stdout
    assert b"1 of an older version" in done.stdout


@pytest.mark.parametrize("listed", ["seeds", "empty,seeds", " empty, seeds "])
def test_a_variable_names_the_modules_as_well(program, shop, listed):
    done = program("events", "check", env={**shop, "TAPEFOLD_IMPORT": listed})
    assert done.returncode == 0, done.stdout


def test_the_processes_of_all_projections_get_them_too(program, shop):
    """They decode the event; that the kernel folds no such kind is another matter."""
    known = program("--import", "seeds", "projections", "run", "--once", env=shop)
    assert known.stderr.count(b"session beds parked at 2") == 4
    assert b"knows no such event" not in known.stderr
    program("projections", "retry", env=shop)
    assert b"knows no such event" in program("projections", "parked", env=shop).stdout


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("broken", "ZeroDivisionError: division by zero"),
        ("leaving", "SystemExit: 0"),
        ("", "ValueError"),
        (".seeds", "TypeError"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line_and_ends_with_2(program, shop, name, said):
    for arguments, env in (
        (("--import", name), {}),
        ((), {"TAPEFOLD_IMPORT": name}),
    ):
        if not (name or arguments):
            continue
        done = program(*arguments, "sessions", env={**shop, **env})
        assert done.returncode == 2
        (line,) = done.stderr.decode().splitlines()
        assert f"module {name!r} cannot be imported: {said}" in line
        assert done.stdout == b""


def test_a_module_beside_the_caller_is_not_imported_by_surprise(program, shop, tmp_path):
    (tmp_path / "beside.py").write_text("")
    assert program("--import", "beside", "sessions", env=shop).returncode == 2
