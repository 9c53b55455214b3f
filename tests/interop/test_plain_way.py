"""The quick way of plain lines gives what the careful way gives, byte for byte."""

import json
import random
import re
import runpy
from pathlib import Path

import pytest

from tapefold.domain.jsonvalues import digest
from tapefold.interop.jsontext import Plain, PlainReader, text_of
from tapefold.interop.lines import LineReader
from tapefold.interop.pi import PI
from tapefold.interop.reading import SessionReading
from tapefold.interop.sources import BytesSource
from tapefold.interop.tau_shape import shaped
from tapefold.persistence.codec import encode_state, join_state
from tapefold.persistence.jsontext import dump

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
write_pi_file = runpy.run_path(str(BENCHMARKS / "pi_file.py"))["write_pi_file"]


def stored(data):
    """The states that are stored of a file, and what the report says."""
    reading = SessionReading(BytesSource(data), "file")
    states, quick = [], 0
    for position, draft in enumerate(reading.drafts(incarnation="one"), 1):
        careful = encode_state(draft.at("s", position))
        if draft.texts is not None:
            quick += 1
            assert join_state(1, *draft.texts) == careful, "head and body read from the texts"
        states.append(careful)
    return states, reading.report.to_json(), quick


@pytest.fixture
def both_ways(monkeypatch):
    def run(data):
        states, report, quick = stored(data)
        with monkeypatch.context() as patch:
            patch.setattr(PlainReader, "read", lambda self, line: None)
            careful_states, careful_report, none = stored(data)
        assert none == 0
        assert report == careful_report
        assert states == careful_states
        return quick

    return run


def test_a_long_file_is_stored_the_same_both_ways(both_ways, tmp_path):
    path = tmp_path / "session.jsonl"
    write_pi_file(path, 800)
    assert both_ways(path.read_bytes()) > 780, "nearly all of it goes the quick way"


def test_every_sample_is_stored_the_same_both_ways(both_ways, pi_file):
    both_ways(pi_file.read_bytes())


def test_a_tau_file_is_stored_the_same_both_ways(both_ways, tau_file):
    quick = both_ways(tau_file.read_bytes())
    if "0.4.8" in tau_file.name:
        assert quick > 0, "the newest release's messages go the quick way"


def as_tau(record, number):
    """A record of Pi's, put into Tau's frame: any odd message may stand in it."""
    chance = random.Random(number)
    out = {"id": record.get("id"), "timestamp": chance.choice((1796029018.5, 17960290, 1e-5, "x"))}
    parent = record.get("parentId")
    if parent is not None or chance.random() < 0.1:
        out["parent_id"] = parent
    message = record.get("message")
    if isinstance(message, dict) and chance.random() < 0.8:
        message = shaped(message)  # as the newest release writes it
    return {**out, "type": record.get("type", "message"), "message": message}


@pytest.mark.parametrize("seed", range(4))
def test_odd_messages_of_tau_are_stored_the_same_both_ways(both_ways, seed):
    records = [as_tau(record, number) for number, record in enumerate(odd_file(seed)) if number]
    begin = {"id": "first", "timestamp": 1796029018.0, "type": "session_info", "cwd": "/home/user"}
    lines = [json.dumps(record, separators=(",", ":")) for record in (begin, *records)]
    assert both_ways("".join(line + "\n" for line in lines).encode()) > 10


# -- odd messages ------------------------------------------------------------------------------

ODD = (
    *(None, True, False, 0, -0.0, 1e-5, 2.5e-7, 1e16, 1e22, 5e-324, 12345678901234567890, 10**30),
    *("", "\x7f", "\x1b[31m", "é→😀", '":0.00001,', "Tool call interrupted by user", "\u2028"),
    *([], {}, [1e-6, "x"], {"input": 0.00003, "a.b": {"z": 1, "a": None}}),
)
KEYS = (
    *("role", "content", "model", "provider", "usage", "stopReason", "errorMessage", "isError"),
    *("toolCallId", "toolName", "details", "timestamp", "api", "customType", "display", "x\x7fé"),
)
BLOCK_KEYS = (
    *("type", "text", "thinking", "thinkingSignature", "redacted", "id", "name", "arguments"),
    *("data", "mimeType", "url", "other"),
)


def odd_message(chance, call_ids):
    def some(keys, values):
        return {key: chance.choice(values) for key in chance.sample(keys, chance.randrange(6))}

    def block():
        if chance.random() < 0.1:
            return chance.choice(ODD)
        kind = chance.choice(["text", "thinking", "toolCall", "image", "novel"])
        whole = {
            "text": {"text": "words"},
            "thinking": {"thinking": "hm", "thinkingSignature": "s"},
            "toolCall": {"id": chance.choice(call_ids), "name": "read", "arguments": {"n": 1e-5}},
            "image": {"data": "QQ==", "mimeType": "image/png"},
            "novel": {"value": 1},
        }[kind]
        out = {"type": kind, **whole}
        if chance.random() < 0.3:
            out.update(some(BLOCK_KEYS[1:], ODD))
        if chance.random() < 0.2:
            out.pop(chance.choice(list(out)))
        return out

    role = chance.choice(["user", "assistant", "toolResult", "system", "assistant", "toolResult"])
    message = {"role": role, "content": [block() for _ in range(chance.randrange(4))]}
    if chance.random() < 0.2:
        message["content"] = chance.choice(["", "plain", "Tool call interrupted by user"])
    if role == "assistant":
        message.update(model="m", provider="p", usage={"cost": {"in": 0.000012}}, stopReason="stop")
    if role == "system" and chance.random() < 0.7:
        names = ("preamble", "cwd", "date")
        message["sections"] = {key: chance.choice((*ODD, "words")) for key in names}
        if chance.random() < 0.2:
            message["sections"] = chance.choice(ODD)
    if role == "toolResult":
        message.update(toolCallId=chance.choice(call_ids), toolName="read", isError=False)
        if chance.random() < 0.3:
            content = [{"type": "text", "text": "Tool call interrupted by user"}]
            message.update(isError=True, content=content)
    if chance.random() < 0.4:
        message.update(some(KEYS, ODD))
    return message


def odd_file(seed):
    """Messages with something odd in many of them, and now and then an odd record."""
    chance = random.Random(seed)
    yield {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T09:30:00.000Z"}
    ids = []
    for number in range(150):
        own_id = f"e{number:03x}" if chance.random() < 0.95 else chance.choice([*ids, "a~b", 7, ""])
        parent = chance.choice([*ids[-1:] * 12, *ids, None, "later", own_id, 5])
        usual = f"2026-03-01T09:3{number % 10}:{number % 60:02}.{number:03}Z"
        odd = ["2026-03-01", "never", 1772442000000, None, usual[:-1], ""]
        time = chance.choice(odd) if chance.random() < 0.1 else usual
        record = {
            "type": "message",
            "id": own_id,
            "parentId": parent,
            "timestamp": time,
            "message": odd_message(chance, [f"c{number % 5}", "c\x7f", "", "c1"]),
        }
        if chance.random() < 0.1:
            record[chance.choice(["extra", "thinkingLevel", "é"])] = chance.choice(ODD)
        if chance.random() < 0.05:
            del record[chance.choice(list(record))]
        if chance.random() < 0.1:
            record = {**record, "type": "label", "targetId": parent, "label": "here"}
        ids.append(own_id)
        yield record


@pytest.mark.parametrize("seed", range(10))
def test_odd_messages_are_stored_the_same_both_ways(both_ways, seed):
    written = [json.dumps(record, ensure_ascii=seed % 2 == 0) for record in odd_file(seed)]
    if seed % 3:
        written = [json.dumps(json.loads(line), separators=(",", ":")) for line in written]
    quick = both_ways("".join(line + "\n" for line in written).encode("utf-8"))
    assert quick > 20, "the quick way was tried"


def test_what_the_quick_way_stores_gives_the_record_back(tmp_path):
    path = tmp_path / "session.jsonl"
    write_pi_file(path, 300)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    drafts = list(SessionReading(BytesSource(path.read_bytes()), "file").drafts())
    assert [PI.record_of(draft.head, draft.body) for draft in drafts[1:]] == lines[1:]


# -- text --------------------------------------------------------------------------------------

PIECES = ("a", '"', "\\", "/", ":", ",", " ", "\n", "\x7f", "\x1b", "é", "😀", "1e-05", '":1e-05,')


def odd_value(chance, depth=0):
    kind = chance.randrange(10 if depth < 4 else 8)
    if kind == 0:
        return chance.choice((None, True, False, -0.0, 0.0, 5e-324, 1.7976931348623157e308))
    if kind == 1:
        return chance.randrange(-(10 ** chance.randrange(1, 40)), 10 ** chance.randrange(1, 40))
    if kind in (2, 3):
        return chance.uniform(-10, 10) * 10.0 ** chance.randrange(-30, 30)
    if kind == 4:
        return chance.choice((1, -1, 2.5)) * 10.0 ** chance.randrange(-8, 24)
    if kind < 8:
        return odd_text(chance)
    if kind == 8:
        return [odd_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {odd_text(chance): odd_value(chance, depth + 1) for _ in range(chance.randrange(4))}


def odd_text(chance):
    return "".join(chance.choice(PIECES) for _ in range(chance.randrange(5)))


def like_javascript(text):
    """Floats as JavaScript writes them."""
    text = re.sub(r"(?<=[\[:, ])1e-05(?=[\],}])", "0.00001", text)
    return re.sub(r"\.0(?=[\],}])", "", text)


@pytest.mark.parametrize("seed", range(8))
def test_texts_and_digests_are_those_of_the_careful_codec(seed):
    chance = random.Random(seed)
    read = 0
    for _ in range(250):
        value = {odd_text(chance): odd_value(chance) for _ in range(chance.randrange(5))}
        text = json.dumps(
            value,
            ensure_ascii=chance.random() < 0.5,
            separators=chance.choice([(",", ":"), (", ", ": ")]),
        )
        for line in (text, like_javascript(text), text.replace("e-0", "E-")):
            data = line.encode() + b"\n"
            read += check_line(data, json.loads(data))
    assert read > 250, "the fast codec was tried"


def check_line(data, meant):
    plain = PlainReader().read(data)
    if plain is None:
        return False
    assert repr(plain.value) == repr(meant)
    assert plain.digest() == digest(meant)
    assert text_of(plain.written) == dump(meant)
    part = {"role": "user", "none": None, "part": plain.written}
    assert plain.digest_of(part) == digest({"role": "user", "none": None, "part": meant})
    return True


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":1}',
        b'{"a":{"b":[1,{"c":2,"c":3}]}}',
        b'{"a" :1,"a":1}',
        b'{"a"\t:1,"a":1,"b":1e5}',
        b'{"a":1e5,"b":1e5,"c":1e5,"a":"x"}',
        b'{"a":"\\u0022:","a":2}',
        b'{"a":"\\":","b":1, "a":2}',
        b'{"a":0.000009,"a":0.000009}',
        b'{"a":[1E400]}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xed\xa0\x80"}',
        b'{"a":"\xff"}',
        b'{"a":"\x01"}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"[1,2]",
        b'"text"',
        b"{} {}",
        b'{"a":1}\0',
        b"\xef\xbb\xbf{}",
        b"",
        b" ",
    ],
)
def test_what_the_fast_codec_would_not_hold_is_left_to_the_careful_one(line):
    assert PlainReader().read(line + b"\n") is None


def test_a_line_that_was_changed_on_the_way_is_not_taken_for_a_plain_one():
    (line,) = LineReader(b'{"a":1}\n')
    assert isinstance(line.plain, Plain)
    assert line.plain.value is line.value
    (torn,) = LineReader(b'{"a":1')
    assert torn.plain is None
