"""The damaged files that lie beside the repository, each with its right result, as users see it.

What the same damage does to files of our own is in test_hostile_files.py; these here skip where
the collection is not there. Each file has a store of its own: many share one session id.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tapefold.cli.commands import cli

INPUTS = Path(__file__).parents[3] / "shared" / "conformance" / "inputs"
pytestmark = pytest.mark.skipif(
    not INPUTS.is_dir(), reason="the collection of damaged files lies beside the repository"
)


class Program:
    """The commands on one store, and the session that was imported last."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"TAPEFOLD_DB": str(folder / "sessions.db"), "TZ": "UTC"}
        self.id = None

    def text(self, *arguments, code=0):
        done = CliRunner().invoke(cli, [str(a) for a in arguments], env=self.environment)
        assert done.exit_code == code, done.output
        return done.stdout

    def json(self, *arguments):
        lines = self.text(*arguments, "--json").splitlines()
        values = [json.loads(line) for line in lines]
        return values[0] if len(values) == 1 else values

    def take(self, file):
        """Import a file, or one of the collection by its number; the report."""
        path = file if isinstance(file, Path) else next(INPUTS.glob(f"{file}_*.jsonl"))
        before = hashlib.sha256(path.read_bytes()).digest()
        (report,) = self.json("import", path)["files"]
        assert hashlib.sha256(path.read_bytes()).digest() == before
        assert report["size"] == sum(report["sizes"].values()) == path.stat().st_size
        assert report["read"] == report["kept"] + report["already"] + report["skipped"]
        self.id = report["session_id"]
        return report

    def twice(self, number):
        """Import a file two times: the second finds nothing new, and changes no row."""
        report = self.take(number)
        rows = self.text("context", self.id, "--json")
        again = self.take(number)
        assert again["kept"] == 0
        assert again["already"] == report["kept"] + report["already"]
        assert self.text("context", self.id, "--json") == rows
        return report

    def generate(self, name, *arguments):
        """What a script of the collection writes."""
        out = self.folder / f"{name}.jsonl"
        script = next(INPUTS.glob(f"{name}_*.py"))
        command = [sys.executable, str(script), str(out), *map(str, arguments)]
        subprocess.run(command, check=True, timeout=60)
        return out

    def sent(self):
        """The text of each row of the context; of a call or a picture, its type."""
        return [row_text(row) for row in self.json("context", self.id)["rows"]]

    def log(self):
        return self.text("tape", self.id, "--json")


def row_text(row):
    return " ".join(block.get("text") or block["type"] for block in row["content"])


def reasons(report):
    return [(problem["line"], problem["reason"]) for problem in report["problems"]]


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


def test_d02_a_torn_last_line(program):
    report = program.twice("d02")
    said = ["Paint the birdhouse green.", "Green it is.", "Which brush?"]
    assert program.sent() == said
    assert reasons(report) == [(5, "torn_tail")]
    assert report["problems"][0]["detail"] == f"{report['sizes']['torn']} bytes"
    program.text("append", program.id, "A flat one.")
    assert program.sent() == [*said, "A flat one."]
    assert reasons(program.take("d02")) == [(5, "torn_tail")]


def test_d03_lone_surrogates(program):
    assert program.twice("d03")["problems"] == []
    assert len(program.json("context", program.id)["rows"]) == 4
    assert "\\ud83d" in program.log()
    assert "\\udc80" in program.log()
    shown = program.text("context", program.id)
    assert "answer: blue \ufffd (raw byte)" in shown
    assert "\U0001f680" in shown
    assert "\U0001f426" in shown


def test_d04_a_byte_order_mark_and_crlf(program):
    assert reasons(program.twice("d04")) == [(1, "byte_order_mark"), (1, "crlf")]
    assert program.sent() == ["Line one.\nLine two.", "Read both lines.", "Good."]


def test_d05_doubled_ids_a_self_parent_and_a_ring(program):
    report = program.twice("d05")
    assert [reason for _, reason in reasons(report)] == ["duplicate_id", "self_parent", "ring"]
    assert program.sent() == [
        "Start of the story.",
        "Second line of the story.",
        "A normal answer below b.",
    ]
    parents = {n["entry_id"]: n["parent_id"] for n in program.json("tree", program.id)["nodes"]}
    assert len(parents) == 7
    assert parents["ad00000c"] is parents["ad00000d"] is None
    assert parents["ad00000e"] == "ad00000d"


def test_d06_a_rename_as_the_last_line(program):
    program.twice("d06")
    assert program.sent() == ["One.", "Two.", "Three.", "Four.", "Five.", "Six."]
    assert program.json("view", program.id)["name"] == "Counting lesson"


def test_d07_two_compactions(program, tmp_path):
    program.twice("d07")
    two = "SUMMARY-TWO: roof planned; perch at 8 cm."
    assert program.sent() == [two, "And the hole?", "Hole of 32 mm.", "Thanks."]
    assert "KEPT-1" in program.log()
    lines = next(INPUTS.glob("d07_*")).read_bytes().splitlines(keepends=True)
    (tmp_path / "own").mkdir()
    own = Program(tmp_path / "own")
    shorter = tmp_path / "shorter.jsonl"
    shorter.write_bytes(b"".join(lines[:-2]))
    own.take(shorter)
    asked = ("compact", own.id, "--first-kept", "af000008", "--show-covered")
    covered = [row_text(row) for row in own.json(*asked)["rows"]]
    assert covered == [
        "SUMMARY-ONE: roof was planned.",
        "KEPT-1 walls are 12 mm thick.",
        "KEPT-2 noted 12 mm.",
        "Now the perch.",
        "Perch at 8 cm.",
    ]


def test_d12_a_cancelled_tool_in_mixed_shapes(program):
    program.twice("d12")
    assert program.sent() == [
        "Find the hinges.",
        "Looking. tool_call",
        "drawer 4",
        "Opening drawer 4. tool_call",
        "interrupted",
        "Stop, the drawer is jammed. Use drawer 5.",
    ]
    assert program.json("view", program.id)["name"] == "Hinges"
    assert "future_field" in program.log()


def test_d13_two_branches_and_a_label(program):
    program.twice("d13")
    said = ["Round or square hole?", "Round is usual.", "No, a square one.", "Square, 30 mm."]
    assert program.sent() == said
    tree = program.json("tree", program.id)
    parents = {node["parent_id"] for node in tree["nodes"] if node["kind"] == "message"}
    leaves = {n["entry_id"] for n in tree["nodes"] if n["kind"] == "message"} - parents
    assert leaves == {"ba000004", "ba000006"}
    assert program.json("view", program.id)["labels"] == {"ba000004": "the rim idea"}
    assert "eliotrope" not in program.text("context", program.id)


def test_d17_an_unknown_boundary_and_an_unknown_parent(program):
    report = program.twice("d17")
    summary = "SUMMARY: back wall cut, four holes drilled."
    assert program.sent() == [summary, "Sand the edges.", "Edges sanded."]
    assert reasons(report) == [(6, "boundary_unknown"), (7, "unknown_parent")]
    nodes = {n["entry_id"]: n["parent_id"] for n in program.json("tree", program.id)["nodes"]}
    assert (len(nodes), nodes["bc000006"]) == (7, "bc000005")


def test_d19_a_damaged_header(program):
    report = program.twice("d19")
    assert program.sent() == ["Forty screws, please.", "Counted forty.", "Thanks."]
    assert report["format"] == "pi"
    assert reasons(report) == [(None, "header_missing"), (1, "unreadable_line")]
    file = next(INPUTS.glob("d19_*"))
    data = file.read_bytes()
    for command in ("sessions", "view", "tape", "tree", "context", "replay"):
        program.text(command, *([] if command == "sessions" else [program.id]))
        assert file.read_bytes() == data


def test_d20_two_records_on_one_line(program):
    report = program.twice("d20")
    assert program.sent() == [
        "Glue test.",
        "Ready.",
        "Text with }{ inside.",
        "Seen the braces.",
        "Done.",
    ]
    assert reasons(report) == [(4, "glued_records")]
    assert report["repaired"] == 2


def test_d21_a_chain_of_5000(program):
    program.take(program.generate("d21"))
    assert program.sent() == [f"step {n}" for n in range(1, 5001)]
    nodes = program.json("tree", program.id)["nodes"]
    assert len(nodes) == 5002
    parents = {node["parent_id"] for node in nodes}
    assert len([node for node in nodes if node["entry_id"] not in parents]) == 3


@pytest.mark.slow
def test_d21_a_chain_of_100_000(program):
    """Above 54,000 the script writes hours beyond 24: no times, and each is told."""
    report = program.take(program.generate("d21", 100_000))
    assert (report["kept"], report["foreign"]) == (100_003, 0)
    assert {reason for _, reason in reasons(report)} == {"time_unreadable", "and_more"}
    assert len(program.json("view", program.id)["messages"]) == 100_000


def test_d23_edits_and_a_branch_summary(program):
    program.twice("d23")
    assert program.sent() == [
        "Build a nest box.",
        "Plan: old boards, 15 mm.",
        "BRANCH: plywood costs 31.50 per sheet, too dear.",
        "Then use old boards.",
        "Old boards it is.",
    ]
    assert "Plan: 12 mm plywood." in program.log()
    assert "Half a thou" in program.log()
    tree = {node["entry_id"]: node for node in program.json("tree", program.id)["nodes"]}
    assert "Plan: 12 mm plywood." in json.dumps(tree["da000002"])
    assert "da000009" in tree


def test_d24_a_compaction_that_carries_what_it_keeps(program):
    assert program.twice("d24")["problems"] == []
    assert program.sent() == [
        "SUMMARY: paint was chosen.",
        "Kept request: cut the roof.",
        "Kept reply: roof cut.",
        "Next step?",
        "Drill the hole.",
    ]
    as_pi = program.json("context", program.id, "--as", "pi")["messages"]
    assert len(as_pi) == 3


def test_d25_a_compaction_that_keeps_nothing(program):
    assert program.twice("d25")["problems"] == []
    assert program.sent() == ["SUMMARY: paint was chosen.", "Next step?", "Drill the hole."]
    assert program.json("context", program.id)["warnings"] == []


@pytest.mark.parametrize("depth", [900, 100_000])
def test_d26_deep_arguments(program, depth):
    report = program.take(program.generate("d26", depth))
    assert reasons(report) == [(3, "too_deep")]
    assert program.sent() == ["Draw the spiral.", "tool_call", "drawn", "Enough."]
    rows = program.json("context", program.id)["rows"]
    assert rows[1]["content"][0]["arguments"] == {"a": {"kept_raw": "too_deep"}}
    assert '{\\"a\\":' * 3 in program.text("show", program.id, "dd000002", "--raw")


def test_d27_a_record_that_is_still_being_written(program, tmp_path):
    file = tmp_path / "d27.jsonl"
    script = next(INPUTS.glob("d27_*.py"))
    said = ["First.", "Second.", "Third, made of wood \u6728 and glue.", "Fourth."]
    for step, count in ((1, 2), (2, 3), (3, 4)):
        subprocess.run([sys.executable, str(script), str(file), str(step)], check=True, timeout=60)
        program.take(file)
        assert program.sent() == said[:count]
    (tmp_path / "once").mkdir()
    once = Program(tmp_path / "once")
    once.take(file)
    assert once.sent() == said
    assert len(once.json("tree", once.id)["nodes"]) == len(
        program.json("tree", program.id)["nodes"]
    )


def test_d28_control_sequences_reach_no_output(program):
    """Each in every door; `tape` and `show` keep them for programs, as escapes."""
    program.twice("d28")
    assert len(program.json("view", program.id)["messages"]) == 4
    commands = [
        ("sessions",),
        *((name, program.id) for name in ("view", "tree", "tape", "context", "replay")),
        ("show", program.id, "e2000004"),
        ("import", next(INPUTS.glob("d28_*"))),
    ]
    for command in commands:
        for option in ((), ("--json",)) if command[0] != "show" else ((), ("--raw",)):
            out = program.text(*command, *option)
            assert not {"\x1b", "\x07", "\x08", "\x9b", "\u202e"} & set(out), command
            assert "\r" not in out.replace("\r\n", ""), command
    assert "\\u001b[31mred" in program.log()
