"""What a replay says of each kind of event: in words, never by the name of a class."""

import json
import re
from pathlib import Path

import pytest
from eventsourcing.persistence import JSONTranscoder, StoredEvent

from tapefold.cli.effects import Effect
from tapefold.cli.effectwords import EffectWords
from tapefold.cli.happened import TITLES, details_of, title_of
from tapefold.cli.known import Known
from tapefold.cli.paper import Glyphs
from tapefold.domain.events import EVENTS
from tapefold.persistence.mapper import TapeMapper
from tapefold.testing import Tape

from .conftest import ROOT, T

GOLDEN = ROOT / "tests" / "golden"


def golden_events():
    mapper = TapeMapper(JSONTranscoder())
    for path in sorted(Path(GOLDEN).glob("rows*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield mapper.to_domain_event(
                StoredEvent(
                    row["originator_id"],
                    row["originator_version"],
                    row["topic"],
                    row["state"].encode("utf-8", "surrogatepass"),
                )
            )


def text_of(parts):
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def test_every_kind_of_event_has_a_title():
    assert set(TITLES) == set(EVENTS)


def test_every_stored_shape_is_said_in_words():
    tape = Tape("s")
    words = EffectWords(Known(tape.state(), tape.tapes), Glyphs(), short=False)
    classes = {cls.__name__ for cls in EVENTS.values()}
    kinds = set()
    for event in golden_events():
        kinds.add(event.head.kind)
        parts, rest = words.headline(event, [Effect("recorded")])
        said = text_of(parts)
        assert rest == []
        assert said.startswith(f"  {title_of(event).text}")
        assert "\n" not in said
        assert all(part in said for part in details_of(event))
        assert not classes & set(said.split())
    assert kinds == set(EVENTS)


@pytest.fixture
def eventful(sessions):
    """A session in which nearly everything happens; its ids by name."""
    s = sessions.start("eventful", title="A shelf", persist=True)
    ids = {}

    def named(name, outcome):
        ids[name] = outcome.entry_id
        return outcome

    named("Q1", s.finalize("user", "How long?", timestamp=T[0]))
    named("D1", s.draft("assistant", "118", timestamp=T[0]))
    s.finalize("assistant", "118 cm", message_id=s.state.message(ids["D1"]).latest.message_id)
    named("S1", s.finalize("user", "Slip"))
    s.retract(ids["S1"], reason="typed in the wrong window")
    s.restore(ids["S1"])
    s.revise(ids["S1"], "No slip", reason="meant so")
    named("E1", s.edit_context(ids["S1"], "short", reason="too long"))
    s.revise(ids["S1"], "No slip at all")
    named("C1", s.compact("All measured.", first_kept=ids["S1"], tokens_before=90, tokens_after=9))
    named("R1", s.reset_summary())
    named("H1", s.hand_off("Saw the board.", name="to-ops", state={"length": 118}))
    s.label(ids["Q1"], "start")
    s.label(ids["Q1"], None)
    s.set_title("Two shelves")
    s.set_info(directory="/home/user/shelf")
    named("M1", s.set_model("m-2", "acme"))
    named("T1", s.set_thinking_level("high"))
    s.record_usage({"input": 1200, "output": 30}, purpose="title", model="m-small")
    named("X1", s.record_custom("ext.todo", {"open": 2}))
    s.move_leaf(ids["D1"], reason="the other way")
    s.revise(ids["S1"], "Seen nowhere")
    sessions.save(s)
    sessions.fork("eventful", child_id="child")
    return ids


def undated(text):
    """A replay without the days, which stand where they change."""
    return re.sub(r"(?m)^( *\d+) \d{4}-\d\d-\d\d ", r"\1 ", text)


def test_a_day_stands_before_the_time_where_it_changes(run, sessions):
    s = sessions.start("days", timestamp="2026-03-02T09:00:00Z", persist=True)
    for n, day in enumerate(("02", "03", "03", "04")):
        s.finalize("user", f"{n}", timestamp=f"2026-03-{day}T09:00:00Z")
    sessions.save(s)
    said = [line[6:17].strip()[:10] for line in run("replay", "days").splitlines()[:5]]
    days = [word if word.startswith("2026") else "" for word in said]
    assert days == ["2026-03-02", "", "2026-03-03", "", "2026-03-04"]
    assert run("replay", "days", "--at", "4").startswith("    4 2026-03-03 ")


def test_beside_a_long_id_the_position_of_the_entry_stands(run, sessions):
    long_id = "0190c0de-1111-7222-8333-944455556666"
    s = sessions.start("ids", persist=True)
    s.finalize("user", "One", entry_id=long_id)
    s.finalize("user", "Two", entry_id="b")
    s.label(long_id, "first")
    s.retract("b")
    s.move_leaf(long_id)
    sessions.save(s)
    said = run("replay", "ids")
    assert f"label [first] on #2 {long_id}" in said
    assert "struck out  b  user: Two" in said
    child = sessions.fork("ids")
    sessions.execute(child.id, lambda one: one.label(long_id, "mine"))
    assert f"on #2^ {long_id}" in run("replay", child.id)


def test_a_replay_says_it_in_words(run, eventful):
    said = run("replay", "eventful", "--json")
    codes = [
        [effect["effect"] for effect in json.loads(line)["effects"]] for line in said.splitlines()
    ]
    text = undated(run("replay", "eventful"))
    for name, entry_id in eventful.items():
        text = text.replace(entry_id, name)
    lines = [line[15:] for line in text.splitlines()[1:-2]]
    assert lines == [
        "+ user  How long?",
        "○ assistant unfinished, not shown  118",
        "+ assistant is finished, and shows  118 cm",
        "+ user  Slip",
        "- retraction typed in the wrong window  user struck out  S1  user: Slip",
        "+ user restored  Slip",
        "~ user revised  No slip",
        "~ context edit S1 replaced in the context · too long",
        "~ user revised  No slip at all",
        "~ this version wins over the edit in the context  S1",
        "* compaction manual · 90 tokens become 9 · All measured.",
        "- 2 messages hidden from the context by a summary  Q1, D1",
        "* summary reset no summary before this is used any more",
        "+ 2 messages back in the context  Q1, D1",
        "* hand-off to-ops · Saw the board.",
        "- 3 messages hidden from the context by a summary  Q1, D1, S1",
        "* label [start] on Q1",
        "* label taken away on Q1",
        "* session info name: Two shelves",
        "* session info directory: /home/user/shelf",
        "* model m-2 (acme)",
        "* thinking level high",
        "  usage for title · m-small · input 1,200, output 30",
        "  custom data of ext.todo · open=2",
        "→ leaf moved to D1 · the other way",
        "- 1 message left with their branch  S1",
        "+ 2 messages back in the context  Q1, D1",
        "○ user on another branch  Seen nowhere",
        "* forked child · from position 23",
    ]
    assert codes[3] == ["finished"]
    assert codes[-1] == ["forked"]


def test_a_message_that_was_said_before_the_first_line_is_named_all_the_same(run, eventful):
    whole = undated(run("replay", "eventful")).splitlines()
    part = undated(run("replay", "eventful", "--from", "6", "--to", "6")).splitlines()
    assert part[0] in whole
    assert "user: Slip" in part[0]
