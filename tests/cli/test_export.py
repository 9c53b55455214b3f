"""`tapefold export`: files, the output, reports."""

import json
import stat

import pytest

from tapefold.whole_file import write_file


@pytest.fixture
def lines(run, talk):
    """The exported records, and the rest of stdout is nothing."""
    return lambda form, *more: [
        json.loads(line) for line in run("export", "talk", "--format", form, *more).splitlines()
    ]


def test_a_session_goes_to_the_output(lines):
    pi, tau = lines("pi"), lines("tau")
    assert (pi[0]["type"], pi[0]["id"], pi[0]["cwd"]) == ("session", "talk", "/home/user/talk")
    assert (tau[0]["type"], tau[0]["title"]) == ("session_info", "A talk")


def test_the_output_is_followed_by_one_line_on_stderr(program, talk):
    done = program("export", "talk", "--format", "pi")
    assert done.returncode == 0
    assert done.stderr.startswith(b"tapefold: not held as in the session: ")
    assert done.stderr.count(b"\n") == 1
    assert b"1 struck" in done.stderr


def test_one_branch_is_the_way_to_its_entry(lines, talk):
    texts = json.dumps(lines("pi", "--leaf", talk["side"]))
    assert "Another way" in texts
    assert "118 cm." not in texts
    assert [r["type"] for r in lines("pi", "--leaf", "none")] == ["session", "session_info"]


def test_a_file_is_written_with_a_report(run, run_json, talk, tmp_path):
    file = tmp_path / "out.jsonl"
    report = run_json("export", "talk", "--format", "tau", "-o", file)
    assert report["size"] == file.stat().st_size
    assert report["lines"] == len(file.read_text().splitlines())
    assert report["reasons"]["struck"] == 1
    struck = [loss for loss in report["losses"] if loss["reason"] == "struck"]
    assert [loss["entry_id"] for loss in struck] == [talk["slip"]]
    assert "struck" in run("export", "talk", "--format", "pi", "-o", tmp_path / "pi.jsonl")


def test_with_json_the_report_of_the_output_goes_to_stderr(program, talk):
    done = program("export", "talk", "--format", "markdown", "--json")
    assert done.stdout.startswith(b"# A talk")
    assert json.loads(done.stderr)["format"] == "markdown"


def test_a_file_that_is_there_is_replaced_only_when_asked(run, talk, tmp_path):
    file = tmp_path / "out.jsonl"
    file.write_text("old")
    file.chmod(0o640)
    text = run("export", "talk", "--format", "pi", "-o", file, code=1)
    assert "--force" in text
    assert file.read_text() == "old"
    run("export", "talk", "--format", "pi", "-o", file, "--force")
    assert file.read_text().startswith('{"type":"session"')
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_link_is_followed(run, talk, tmp_path):
    real, link = tmp_path / "real.md", tmp_path / "link.md"
    real.write_text("old")
    link.symlink_to(real)
    run("export", "talk", "--format", "markdown", "-o", link, "--force")
    assert link.is_symlink()
    assert real.read_text().startswith("# A talk")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "out.jsonl"
    file.write_bytes(b"old")

    def breaking():
        yield b"new\n"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_file(str(file), breaking(), overwrite=True)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_there_is_named(run, talk, tmp_path):
    text = run("export", "talk", "--format", "pi", "-o", tmp_path / "no" / "x.jsonl", code=1)
    assert f"{tmp_path / 'no' / 'x.jsonl'}: No such file" in text
    assert text.count("\n") == 1


def test_an_output_that_is_a_folder_gets_a_hint(run, talk, tmp_path):
    text = run("export", "talk", "--format", "pi", "-o", tmp_path, code=1)
    assert "it is a folder; name a file in it" in text


@pytest.mark.parametrize(
    "wrong",
    [
        ["--format", "html"],
        [],
        ["--format", "jsonl", "--leaf", "none"],
        ["--format", "pi", "--leaf", "none", "--all"],
    ],
)
def test_wrong_use_ends_with_2(run, talk, wrong):
    run("export", "talk", *wrong, code=2)


def test_an_unknown_leaf_is_named(run, talk):
    assert "nowhere" in run("export", "talk", "--format", "pi", "--leaf", "nowhere", code=1)


def test_our_own_format_is_complete_and_imports_as_it_is(run, run_json, talk, tmp_path):
    file = tmp_path / "talk.jsonl"
    report = run_json("export", "talk", "--format", "jsonl", "-o", file)
    assert (report["reasons"], report["lines"]) == ({}, len(file.read_text().splitlines()))
    other = tmp_path / "other.db"
    run("--db", other, "import", file)
    assert run("--db", other, "tape", "talk", "--json") == run("tape", "talk", "--json")


def test_what_was_exported_imports_again(run, run_json, talk, tmp_path):
    for form in ("pi", "tau"):
        file, other = tmp_path / f"{form}.jsonl", tmp_path / f"{form}.db"
        run("export", "talk", "--format", form, "-o", file)
        session_id = run_json("--db", other, "import", file)["files"][0]["session_id"]
        view = run_json("--db", other, "view", session_id)
        ours = run_json("view", "talk")
        assert view["labels"] == ours["labels"]
        assert [m["entry_id"] for m in view["messages"]] == [
            m["entry_id"] for m in ours["messages"]
        ]
