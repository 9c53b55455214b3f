"""The default estimate: characters / 4, rounded up, tool calls and reasoning counted."""

import pytest

from tapefold.domain.content import parse_content
from tapefold.domain.tokens import estimate_tokens
from tapefold.testing import Tape


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("x" * 400, 100), ("x" * 401, 101), ("日🪵", 1)],
)
def test_text_is_a_quarter_of_its_characters_rounded_up(text, tokens):
    assert estimate_tokens(parse_content(text)) == tokens


def test_a_row_is_rounded_once_not_each_of_its_blocks():
    assert estimate_tokens(parse_content(["a", "b", "c", "d"])) == 1


def test_reasoning_counts():
    assert estimate_tokens(parse_content([{"type": "thinking", "thinking": "x" * 40}])) == 10


def test_a_call_counts_with_its_name_and_arguments():
    """One peer counts them as nothing, and so overruns the model's window."""
    bare = {"type": "tool_call", "call_id": "c", "name": "x" * 40, "arguments": {}}
    full = {**bare, "arguments": {"path": "y" * 400}}
    assert estimate_tokens(parse_content([bare])) >= 10
    assert estimate_tokens(parse_content([full])) >= 110


def test_inline_data_counts():
    image = {"type": "image", "data": "x" * 4000, "mime_type": "image/png"}
    assert estimate_tokens(parse_content([image])) == 1000


def test_a_block_that_we_do_not_know_counts():
    assert estimate_tokens(parse_content([{"type": "hologram", "data": "x" * 400}])) > 100


def test_the_manifest_has_an_estimate_for_each_row_and_their_sum():
    tape = Tape()
    tape.user("x" * 41)
    tape.assistant("y" * 9, calls=["c"])
    manifest = tape.context().manifest
    each = [one["tokens"] for one in manifest["included"]]
    assert each[0] == 11
    assert manifest["tokens"] == sum(each)
    assert each[2] == 3  # the made-up result, "interrupted"


def test_what_is_estimated_is_what_is_sent():
    tape = Tape()
    tape.user("x" * 400, id="u")
    tape.edit("u", "x" * 40)
    assert tape.context().manifest["tokens"] == 10
