"""Projections and rebuilds are killed (SIGKILL) at any moment, while others append."""

from __future__ import annotations

import random
import shutil
import threading
import time

import pytest

from tapefold import Sessions
from tapefold.projections.catalogue import process_names, projection_named, stages_of
from tapefold.projections.database import Build
from tapefold.projections.log import Log
from tapefold.projections.opening import log_of, read_model, rebuild, runner
from tapefold.projections.registry import Registry
from tapefold.projections.verifying import verify_live

WRITER = """
    sessions = Sessions(sys.argv[1])
    chance = random.Random(int(sys.argv[2]))
    names = [f"s{n}" for n in range(50)]
    say("writing")
    n = done = 0
    while not os.path.exists(sys.argv[1] + ".stop"):
        n += 1
        name = chance.choice(names)
        try:
            if chance.random() < 0.02 and len(names) < 80:
                names.append(sessions.fork(name).id)
                continue

            def step(session):
                ids = [m.message_id for m in session.view().messages]
                kind = chance.randrange(12)
                if kind < 5 or not ids:
                    session.finalize("user", f"text {n}")
                elif kind < 8:
                    session.finalize("assistant", f"answer {n}", under=session.state.leaf,
                                     model="m", provider="p", usage={"input": n})
                elif kind == 8:
                    session.revise(chance.choice(ids), f"revised {n}")
                elif kind == 9:
                    session.retract(chance.choice(ids))
                elif kind == 10:
                    session.label(chance.choice(ids), f"label {n}")
                else:
                    session.move_leaf(chance.choice(ids))

            sessions.execute(name, step)
            done += 1
        except TapefoldError:
            pass  # a random command may be refused
        time.sleep(chance.random() * 0.01)
    say(done)
"""

THERE = 450
"""Events that are there when the writers begin."""

RUNNER = """
    from tapefold.projections import filling
    from tapefold.projections.opening import runner
    filling.EVENTS = int(sys.argv[2])
    sessions = Sessions(sys.argv[1])
    made = runner(sessions, {name!r}, page=int(sys.argv[2]))
    say("running")
    made.run()
"""

REBUILD = """
    from tapefold.projections.opening import rebuild
    from tapefold.projections import filling
    filling.EVENTS = int(sys.argv[3])
    def pause(stage):
        say(stage)
        if stage == sys.argv[2]:
            time.sleep(600)
    sessions = Sessions(sys.argv[1])
    made = rebuild(sessions, "effective_view", pause=pause)
    say("running")
    while True:
        made.run()
"""


def names():
    return [stage for name in process_names() for stage in stages_of(name)]


def fill(path, sessions_count):
    with Sessions(path) as sessions:
        for n in range(sessions_count):
            session = sessions.start(f"s{n}")
            for m in range(4):
                session.finalize("user", f"question {m}")
                session.finalize("assistant", f"answer {m}", model="m")
            sessions.save(session)


def events_of(path, name):
    """How many events a projection has applied."""
    registry = Registry(path)
    live = registry.find_live(name)
    registry.close()
    if live is None:
        return 0
    build = Build(registry.path_of(name, live.number), projection_named(name), read_only=True)
    try:
        return build.progress().events
    finally:
        build.close()


def rows_of(path, name):
    import sqlite3

    registry = Registry(path)
    live = registry.live(name)
    connection = sqlite3.connect(registry.path_of(name, live.number))
    registry.close()
    try:
        return {
            table.name: connection.execute(
                f"SELECT * FROM {table.name} ORDER BY {', '.join(table.key)}"
            ).fetchall()
            for table in projection_named(name).TABLES
        }
    finally:
        connection.close()


def check(path, name):
    """The rows are what a fold from scratch gives, and what a fresh build holds."""
    with Sessions(path) as sessions:
        runner(sessions, name).run(until_caught_up=True)
        log = Log(sessions.recorder, sessions.mapper)
        found = verify_live(projection_named(name), log, path)
        assert found.is_equal, found.to_json()
        assert found.parked == []
        return rows_of(path, name)


@pytest.fixture
def writers(store_path, start_process):
    """Two processes that append to 50 sessions and fork them; `stop` ends them."""
    fill(store_path, 50)
    started = [start_process(WRITER, store_path, seed) for seed in (1, 2)]
    for process in started:
        assert process.stdout.readline() == "writing\n"

    def stop():
        store_path.with_name(store_path.name + ".stop").touch()
        for process in started:
            printed, errors = process.communicate(timeout=60)
            assert process.returncode == 0, errors
            assert int(printed) > 10

    yield stop
    store_path.with_name(store_path.name + ".stop").touch()


@pytest.mark.slow
def test_all_projections_are_killed_forty_times_each_and_are_right_in_the_end(
    store_path, writers, kill
):
    errors = []

    def torment(name):
        chance = random.Random(name)
        try:
            kills = 0
            # On a machine that is busy, forty lives may be too short to come far.
            while kills < 40 or (kills < 400 and events_of(store_path, name) <= THERE):
                kills += 1
                kill(
                    RUNNER.format(name=name),
                    store_path,
                    chance.choice([7, 50, 2000]),
                    lines=1,
                    seconds=chance.uniform(0, 0.4),
                )
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=torment, args=(name,)) for name in names()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    writers()
    assert all(events_of(store_path, name) > THERE for name in names())
    tormented = {name: check(store_path, name) for name in names()}
    assert all(any(tables.values()) for name, tables in tormented.items() if "trace" not in name)
    shutil.rmtree(store_path.with_name(store_path.name + ".projections"))
    assert {name: check(store_path, name) for name in names()} == tormented


@pytest.mark.slow
def test_a_rebuild_is_killed_twenty_times_while_others_append_and_run(
    store_path, writers, kill, start_process
):
    live = start_process(RUNNER.format(name="effective_view"), store_path, 2000)
    assert live.stdout.readline() == "running\n"
    with Sessions(store_path) as sessions:
        model = read_model(sessions, "effective_view")
        while Registry(store_path).find_live("effective_view") is None:
            time.sleep(0.02)
        chance = random.Random(5)
        for _ in range(20):
            kill(REBUILD, store_path, "never", 50, lines=1, seconds=chance.uniform(0, 0.8))
        sessions.execute("s1", lambda s: s.finalize("user", "is it still followed?"))
        assert model.wait_for(log_of(sessions).last_id(), 60)
        model.close()
        writers()
        report = rebuild(sessions, "effective_view").run()
        assert report.switched, report.to_json()
        assert report.verification.against == "live"
    live.kill()
    live.communicate()
    check(store_path, "effective_view")


@pytest.mark.slow
@pytest.mark.parametrize(
    "stage",
    ["filled", "snapshot", "compared", "verified", "locked", "followed", "switching", "switched"],
)
def test_a_rebuild_is_killed_in_its_verification_and_in_its_switch(
    store_path, kill, start_process, stage
):
    """The live runner goes on as soon as the lock died with its holder."""
    fill(store_path, 5)
    live = start_process(RUNNER.format(name="effective_view"), store_path, 2000)
    assert live.stdout.readline() == "running\n"
    with Sessions(store_path) as sessions:
        model = read_model(sessions, "effective_view")
        while Registry(store_path).find_live("effective_view") is None:
            time.sleep(0.02)
        assert model.wait_for(log_of(sessions).last_id(), 60)
        stages = [
            "filled",
            "snapshot",
            "compared",
            "verified",
            "locked",
            "followed",
            "switching",
            "switched",
        ]
        # "running", and a line for each stage: one batch is enough for so few events.
        printed = kill(
            REBUILD, store_path, stage, 4000, lines=2 + stages.index(stage) + 1, seconds=0.05
        )
        assert printed[-1] == stage
        switched = stage == "switched"
        assert Registry(store_path).live("effective_view").number == (2 if switched else 1)
        sessions.execute("s1", lambda s: s.finalize("user", "more"))
        assert model.wait_for(log_of(sessions).last_id(), 60)
        report = rebuild(sessions, "effective_view").run()
        assert report.switched
        assert report.verification.against == "live"
        model.close()
    live.kill()
    live.communicate()
    check(store_path, "effective_view")
