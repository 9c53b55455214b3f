"""The reader of lines: what it makes of bytes, however damaged."""

import io

import pytest

from tapefold.interop.line import encoding_of
from tapefold.interop.lines import LineReader

A = b'{"type":"message","id":"a","timestamp":1,"message":{"role":"user","content":"x }{ y"}}'
B = b'{"type":"message","id":"b","timestamp":1,"message":{"role":"user","content":"z"}}'


def is_record(value):
    return isinstance(value, dict) and "id" in value and "timestamp" in value


def read(data):
    lines = list(LineReader(data, is_record))
    position = 0
    for line in lines:
        assert line.start == position, "the ranges lie side by side"
        position = line.end
    assert position == len(data), "and cover all of it"
    return lines


def ids(data):
    return [line.value["id"] for line in read(data) if line.has_value]


def notes(line):
    return [code for code, _ in line.notes]


def test_lines_are_split_on_the_newline_byte_alone():
    (line,) = read('{"id":"a","text":"one\u2028two\u2029three\x85four"}\n'.encode())
    assert line.value["text"] == "one\u2028two\u2029three\x85four"


def test_a_stream_is_read_as_bytes_are():
    assert list(LineReader(io.BytesIO(A + b"\n" + B))) == list(LineReader(A + b"\n" + B))


def test_no_more_than_the_limit_is_read():
    lines = list(LineReader(A + b"\n" + B + b"\n", limit=len(A) + 1))
    assert [line.value["id"] for line in lines] == ["a"]


def test_a_byte_order_mark_is_taken_off_and_told():
    (first, second) = read(b"\xef\xbb\xbf" + A + b"\n" + B + b"\n")
    assert (first.value["id"], notes(first)) == ("a", ["byte_order_mark"])
    assert notes(second) == []


def test_crlf_is_accepted_and_told_once():
    (first, second) = read(A + b"\r\n" + B + b"\r\n")
    assert (notes(first), notes(second)) == (["crlf"], [])


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16 (little endian)"),
        ("utf-16-le", "UTF-16 (little endian)"),
        ("utf-16-be", "UTF-16 (big endian)"),
        ("utf-32", "UTF-32 (little endian)"),
    ],
)
def test_other_encodings_are_named(encoding, name):
    assert encoding_of(A.decode().encode(encoding)) == name


@pytest.mark.parametrize("data", [b"", b"{", b"\0\0\0", A, b"\xef\xbb\xbf" + A, b"\0\0" + A])
def test_utf8_is_not_taken_for_another_encoding(data):
    assert encoding_of(data) is None


def test_blank_lines_are_counted_and_numbered():
    lines = read(A + b"\n\n  \t\r\n" + B + b"\n")
    assert [line.problem for line in lines] == [None, "blank_line", "blank_line", None]
    assert lines[-1].number == 4


def test_a_last_line_that_is_not_whole_is_not_consumed():
    lines = read(A + b"\n" + B[:30])
    assert (lines[-1].problem, lines[-1].raw) == ("torn_tail", B[:30])


def test_a_last_line_may_end_inside_a_character():
    data = '{"id":"a","text":"木"}'.encode()
    (line,) = read(data[: data.index("木".encode()) + 1])
    assert line.problem == "torn_tail"


def test_a_last_line_that_is_whole_is_accepted_without_its_newline():
    assert ids(A + b"\n" + B) == ["a", "b"]


def test_a_last_number_may_still_grow():
    (line,) = read(b"12")
    assert line.problem == "torn_tail"


def test_a_damaged_line_does_not_hide_the_next_one():
    lines = read(A[:40] + b"\n" + B + b"\n")
    assert [line.problem for line in lines] == ["unreadable_line", None]
    assert lines[0].raw == A[:40] + b"\n"


def test_glued_records_are_taken_apart_and_braces_in_strings_are_no_seam():
    lines = read(A + B + b"\n")
    assert [line.value["id"] for line in lines] == ["a", "b"]
    assert [line.number for line in lines] == [1, 1]
    assert all("glued_records" in notes(line) for line in lines)


def test_a_record_glued_to_a_fragment_is_recovered():
    lines = read(B[:50] + A + b"\n")
    assert [line.problem for line in lines] == ["unreadable_line", None]
    assert lines[1].value["id"] == "a"


def test_objects_inside_a_fragment_are_no_records():
    fragment = b'{"type":"message","id":"b","message":{"content":[{"type":"text","id":"no"},'
    (line,) = read(fragment + b"\n")
    assert line.problem == "unreadable_line"


def test_a_record_at_the_end_of_a_torn_line_waits_for_its_newline():
    """Otherwise an object inside a half-written record could be taken for a record."""
    inner = b'{"type":"custom","id":"c","timestamp":1,"data":' + A
    (line,) = read(inner)
    assert line.problem == "torn_tail"


def test_nul_bytes_around_a_record_are_told():
    (line,) = read(b"\0\0\0" + A + b"\0\0\n")
    assert (line.value["id"], notes(line)) == ("a", ["nul_run"])


def test_a_run_of_nul_bytes_is_one_unreadable_line():
    lines = read(A + b"\n" + b"\0" * 4096 + b"\n" + B)
    assert [line.problem for line in lines] == [None, "unreadable_line", None]
    assert notes(lines[1]) == ["nul_run"]


def test_a_line_break_in_a_string_is_put_right():
    broken = A.replace(b"x }", b"x\n\n }")
    lines = read(broken + b"\n" + B + b"\n")
    assert lines[0].value["message"]["content"] == "x\n\n }{ y"
    assert notes(lines[0]) == ["raw_newline"]
    assert (lines[1].number, lines[1].value["id"]) == (4, "b")


def test_a_broken_line_before_a_whole_one_is_not_joined_with_it():
    lines = read(A[:70] + b"\n" + B + b"\n")
    assert [line.problem for line in lines] == ["unreadable_line", None]


@pytest.mark.parametrize("end", [b"\n", b"", b'\nmore","n":1\n', b'\nmore","n":'])
def test_a_string_that_is_open_at_the_end_of_the_file_is_a_torn_tail(end):
    """A writer may have been stopped at a line break in a text: what comes completes it."""
    (whole, torn) = read(A + b"\n" + A[:70] + end)
    assert (whole.problem, torn.problem) == (None, "torn_tail")
    assert (torn.start, torn.end) == (len(A) + 1, len(A) + 71 + len(end))


def test_a_string_that_never_ends_is_followed_for_a_bounded_way():
    lines = read(b'{"a":"' + b"x\n" * 5_000 + A + b"\n")
    assert lines[-1].value["id"] == "a"
    assert len(lines) == 5_001


def test_control_characters_in_strings_are_kept_and_told():
    (line,) = read(A.replace(b"x }", b"x\t\x01 }") + b"\n")
    assert line.value["message"]["content"] == "x\t\x01 }{ y"
    assert notes(line) == ["control_characters"]


def test_bytes_that_are_no_utf8_are_shown_as_a_replacement_and_kept():
    raw = A.replace(b"x }", b"x\xff }")
    (line,) = read(raw + b"\n")
    assert line.value["message"]["content"] == "x\ufffd }{ y"
    assert (notes(line), line.raw) == (["invalid_utf8"], raw)


def test_doubled_keys_are_told_the_last_counts_and_the_text_is_kept():
    (line,) = read(b'{"id":"a","n":1,"n":2}\n')
    assert (line.value, notes(line)) == ({"id": "a", "n": 2}, ["duplicate_keys"])
    assert line.raw == b'{"id":"a","n":1,"n":2}'


@pytest.mark.parametrize("depth", [197, 900, 5_000, 100_000])
def test_deep_nesting_is_kept_as_text_and_its_outer_levels_are_read(depth):
    raw = b'{"id":"a","deep":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
    (line,) = read(raw + b"\n")
    assert (line.value["id"], notes(line), line.raw) == ("a", ["too_deep"], raw)


def test_nesting_that_a_body_can_hold_is_taken_over():
    raw = b'{"id":"a","deep":' + b'{"a":' * 150 + b"1" + b"}" * 150 + b"}"
    (line,) = read(raw + b"\n")
    assert (notes(line), line.raw) == ([], None)


def test_numbers_too_long_to_convert_are_kept_as_text():
    raw = b'{"id":"a","n":' + b"9" * 5_000 + b',"rest":[[[[[[1]]]]]]}'
    (line,) = read(raw + b"\n")
    assert line.value == {"id": "a", "n": {"kept_raw": "big_number"}, "rest": [[[[[[1]]]]]]}
    assert (notes(line), line.raw) == (["big_number"], raw)


def test_numbers_beyond_64_bits_nan_and_lone_surrogates_are_values():
    (line,) = read(b'{"big":123456789012345678901234567890,"nan":NaN,"half":"\\ud83d"}\n')
    assert line.value["big"] == 123456789012345678901234567890
    assert line.value["nan"] != line.value["nan"]
    assert line.value["half"] == "\ud83d"
    assert line.raw is None


def test_json_that_is_no_object_is_a_value_too():
    assert [line.value for line in read(b"[1]\nnull\n5\n")] == [[1], None, 5]


@pytest.mark.parametrize(
    "line",
    [b'{"a":{"b":"', b'{"a":', b'"', b"\\", b"}", b"{}}", b'{"a":"', b"[" * 50],
    ids=repr,
)
def test_the_work_for_rubbish_is_linear(line):
    """A quadratic reader would not come to the end of this: many rubbish lines, and a long one."""
    assert len(read((line + b"\n") * 3_000 + A + b"\n")) >= 2
    assert read(line * 40_000 + b"\n" + A + b"\n")[-1].value["id"] == "a"
