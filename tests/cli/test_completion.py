"""TAB completes commands, options, sessions and entries, quickly and without a word of trouble."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner

from tapefold.cli.commands import cli

from .conftest import PROGRAM

SHELLS = ("bash", "zsh", "fish")


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def offered(store):
    """What is offered for a line: value to help, asked as the scripts ask."""

    def ask(line, **env):
        env = {
            "TAPEFOLD_DB": str(store),
            "COMP_WORDS": line,
            "_TAPEFOLD_COMPLETE": "bash_complete",
            **env,
        }
        done = CliRunner().invoke(cli, [], prog_name="tapefold", env=env)
        assert (done.exit_code, done.stderr) == (0, "")
        rows = [row.split("\t") for row in done.stdout.splitlines() if row]
        assert all(row[0] in ("plain", "file") for row in rows)
        return {value: help_ for _, value, help_ in rows}

    return ask


@pytest.fixture
def in_shell(environment, tmp_path):
    """The environment of a real shell in which our program is `tapefold`."""
    path = f"{Path(PROGRAM).parent}{os.pathsep}{environment['PATH']}"
    return {**environment, "PATH": path, "PS1": "$ ", "TERM": "dumb"}


# -- what is offered ---------------------------------------------------------------------------


def test_commands_and_options_are_offered_with_what_they_do(offered):
    assert {"view", "replay", "import", "doctor"} <= offered("tapefold ").keys()
    assert offered("tapefold vi").keys() == {"view"}
    assert offered("tapefold vi")["view"].startswith("Print what a session says")
    assert {"--at", "--leaf", "--json"} <= offered("tapefold view --").keys()
    assert offered("tapefold completion ").keys() == set(SHELLS)


def test_sessions_are_offered_with_their_titles(offered, sessions, talk):
    untitled = sessions.start("talk-2")
    untitled.finalize("user", "How\nmany seeds?")
    sessions.save(untitled)
    assert offered("tapefold view ") == {
        "talk-2": "How many seeds?",
        "talk": "A talk",
        "last": "the session with the newest activity",
    }
    assert offered("tapefold view talk-").keys() == {"talk-2"}
    assert offered("tapefold view la").keys() == {"last"}
    assert offered("tapefold view nobody") == {}


def test_the_newest_title_is_the_one_that_is_offered(offered, sessions, talk):
    sessions.execute("talk", lambda session: session.set_title("Another name"))
    assert offered("tapefold view talk") == {"talk": "Another name"}


def test_entries_are_offered_by_id_position_and_label(offered, talk):
    entries = offered("tapefold show talk ")
    assert entries[talk["answer"]] == "[the length] assistant: 118 cm."
    assert entries[talk["question"]] == "user: How long is it?"
    assert set(talk.values()) == entries.keys()
    assert offered(f"tapefold show talk {talk['call'][:9]}").keys() == {talk["call"]}
    assert offered("tapefold show talk the").keys() == {talk["answer"]}
    assert offered(f"tapefold show talk @{talk['call'][:9]}").keys() == {f"@{talk['call']}"}
    positions = {k: v for k, v in offered("tapefold show talk 2").items() if len(k) < 12}
    assert positions == {"2": "user: How long is it?"}


def test_after_leaf_a_position_is_offered_with_its_number_sign_and_never_bare(
    offered, sessions, talk
):
    sessions.execute("talk", lambda s: s.finalize("user", "Digits", entry_id="2"))
    assert offered("tapefold view talk --leaf 2").keys() >= {"2", "#2"}
    for typed in ("", "2", "#", "1", "9"):
        found = [*offered(f"tapefold view talk --leaf {typed}")]
        assert [one for one in found if one.isdigit() and one != "2"] == []
    marked = offered("tapefold view talk --leaf '#'")
    assert marked["#2"] == "user: How long is it?"
    assert not {"#1", "#8", "#9"} & marked.keys()  # no entries
    assert "#9" in offered("tapefold show talk '#'")
    assert offered("tapefold fork talk --leaf 5").keys() >= {"#5"}


def test_the_session_may_be_named_as_everywhere(offered, talk):
    for name in ("talk", "last", "ta", "lk"):
        assert talk["answer"] in offered(f"tapefold show {name} ")
    assert offered("tapefold show nobody ") == {}


def test_options_that_take_an_entry_offer_entries(offered, talk):
    for line in ("view talk --leaf ", "append talk --under ", "compact talk --first-kept "):
        assert talk["answer"] in offered(f"tapefold {line}")


def test_a_fork_offers_what_it_inherits(offered, sessions, talk):
    child = sessions.fork("talk")
    sessions.execute(child.id, lambda s: s.finalize("user", "In the fork", entry_id="own"))
    entries = offered(f"tapefold show {child.id} ")
    assert next(iter(entries)) == "own"
    assert talk["question"] in entries
    assert child.id in offered("tapefold view talk::")


def test_the_candidates_are_bounded_and_the_newest_ones(offered, sessions):
    long = sessions.start("long")
    for n in range(120):
        long.finalize("user", f"{n}", entry_id=f"e{n}")
    sessions.save(long)
    assert list(offered("tapefold show long ")) == [f"e{n}" for n in range(119, 69, -1)]


def test_the_store_that_is_typed_is_the_one_that_is_read(offered, store, sessions, talk, tmp_path):
    sessions.close()
    moved = tmp_path / "elsewhere.db"
    shutil.copy(store, moved)
    line = f"tapefold --db {moved} view "
    assert "talk" in offered(line, TAPEFOLD_DB=str(tmp_path / "none.db"))
    assert offered("tapefold view ", TAPEFOLD_DB=str(tmp_path / "none.db")) == {}


@pytest.mark.parametrize(
    "content", [None, b"", b"no store", b"SQLite format 3\x00" + b"\x01" * 200]
)
def test_no_store_or_a_broken_one_offers_nothing_and_none_is_made(offered, store, content):
    if content is not None:
        store.write_bytes(content)
    before = sorted(store.parent.iterdir())
    assert offered("tapefold view ") == {}
    assert offered("tapefold show last ") == {}
    assert sorted(store.parent.iterdir()) == before


@pytest.mark.parametrize("store_name", ["memory:", "postgresql://host/x", "file:x?mode=memory"])
def test_a_store_that_is_no_file_offers_nothing(offered, store_name):
    assert offered("tapefold view ", TAPEFOLD_DB=store_name) == {}


@pytest.mark.parametrize("line", ["", "tapefold nonsense ", "tapefold view 'open", "tapefold \\"])
def test_half_a_line_is_no_error(offered, talk, line):
    offered(line)


def test_looking_changes_nothing(offered, store, sessions, talk):
    sessions.close()
    before = store.read_bytes(), sorted(store.parent.iterdir())
    offered("tapefold show talk ")
    assert (store.read_bytes(), sorted(store.parent.iterdir())) == before


def test_a_completion_loads_neither_the_library_nor_the_codec(environment, tmp_path, talk):
    """A person waits for each TAB."""
    code = (
        "import sys; from tapefold.cli.main import main; sys.argv = ['tapefold']; main(); "
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **environment,
            "COMP_WORDS": "tapefold show talk ",
            "_TAPEFOLD_COMPLETE": "bash_complete",
        },
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert talk["answer"].encode() in done.stdout
    loaded = done.stderr.decode()
    heavy = ("eventsourcing", "pydantic", "msgspec", "rich", "tapefold.sessions")
    assert [name for name in heavy if f"'{name}'" in loaded] == []


# -- the scripts -------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_says_how_to_install_it(run, shell):
    script = run("completion", shell)
    assert f"tapefold completion {shell}" in script
    assert f"{shell}_complete" in script
    assert "2>/dev/null" in script


def test_a_shell_without_a_script_is_wrong_use(run):
    assert "'tcsh' is not one of" in run("completion", "tcsh", code=2)


@needs("bash")
@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("tapefold vie", ["view"]),
        ("tapefold view tal", ["talk", "talk::fork::a\\ b"]),
        # bash takes words apart at colons: what stands before the last one stays as it is.
        ("tapefold view talk::fork::", ["a\\ b"]),
        ("tapefold view nobody", []),
    ],
)
def test_bash_is_given_words_that_it_can_put_in(in_shell, sessions, talk, line, replies):
    sessions.fork("talk", fork_id="a b")
    code = (
        f'eval "$({PROGRAM} completion bash)"; COMP_LINE=$1; COMP_POINT=${{#1}}; '
        '_tapefold_completion tapefold; ((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; '
        "true"
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code, "bash", line],
        env=in_shell,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert sorted(done.stdout.decode().splitlines()) == sorted(replies)
    assert done.stderr == b""


def typed(shell, arguments, in_shell, setup, keys, wanted):
    """Types keys into a shell in a pseudo-terminal until `wanted` stands on the screen."""
    child = pexpect.spawn(shell, arguments, env=in_shell, encoding="utf-8", timeout=30)
    child.setwinsize(40, 120)
    try:
        child.sendline(setup)
        child.expect_exact("ready")
        child.send(keys)
        child.expect_exact(wanted)
    finally:
        child.close(force=True)


@needs("bash")
def test_tab_in_bash_completes_a_session(in_shell, talk):
    setup = 'eval "$(tapefold completion bash)"; echo rea""dy'
    typed("bash", ["--norc"], in_shell, setup, "tapefold view ta\t--at 2\r", "How long is it?")


@needs("zsh")
def test_tab_in_zsh_offers_sessions_with_titles(in_shell, sessions, talk):
    sessions.save(sessions.start("tall", title="Another: one", persist=True))
    setup = 'autoload -Uz compinit; compinit -u; eval "$(tapefold completion zsh)"; echo rea""dy'
    typed("zsh", ["-f"], in_shell, setup, "tapefold view tal\t", "Another: one")


@needs("fish")
def test_fish_offers_sessions_with_titles(in_shell, talk):
    code = "tapefold completion fish | source; complete -C 'tapefold view ta'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],
        env=in_shell,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().splitlines() == ["talk\tA talk"]
    assert done.stderr == b""
