"""Records are checked as pydantic models are, and made without loading pydantic."""

import pickle
import subprocess
import sys
from copy import copy, deepcopy

import pytest
from pydantic import BaseModel, ValidationError

from tapefold.domain.bodies import ForkBody, MessageBody
from tapefold.domain.content import TextBlock, ToolCallBlock, parse_block
from tapefold.domain.errors import InvalidValue


def test_a_record_says_which_field_does_not_fit():
    with pytest.raises(InvalidValue, match="expected text"):
        parse_block({"type": "text", "text": 5})
    with pytest.raises(InvalidValue, match="position: Input should be a valid integer"):
        ForkBody.build(child="c", position="far")
    with pytest.raises(InvalidValue, match="colour: Extra inputs"):
        MessageBody.build(colour="red")
    with pytest.raises(InvalidValue, match="child: Field required"):
        ForkBody.build(position=1)


def test_a_record_cannot_be_changed_but_copied():
    block = ToolCallBlock(call_id="c", name="read")
    with pytest.raises(AttributeError, match="frozen"):
        block.name = "write"
    with pytest.raises(AttributeError, match="frozen"):
        del block.name
    other = block.model_copy(update={"name": "write"})
    assert (block.name, other.name) == ("read", "write")
    assert other == ToolCallBlock(call_id="c", name="write")
    assert other != block
    with pytest.raises(TypeError, match="unhashable"):
        hash(block)


def test_a_default_that_can_change_is_never_shared():
    one, other = TextBlock(text="a"), TextBlock.model_construct(text="a")
    one.extra["k"] = 1
    assert (other.extra, TextBlock(text="a").extra) == ({}, {})


@pytest.mark.parametrize("made", [copy, deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_by_any_means_is_equal_and_stored_alike(made):
    body = MessageBody.build(content="x", model="m", details={"a": [1]})
    again = made(body)
    assert (again, again.to_json(), repr(again)) == (body, body.to_json(), repr(body))
    assert again.model_fields_set == body.model_fields_set == {"content", "model", "details"}


def test_a_record_may_be_a_field_of_a_model():
    class Question(BaseModel):
        block: TextBlock

    assert Question(block=TextBlock(text="a")).block.text == "a"
    with pytest.raises(ValidationError, match="instance of TextBlock"):
        Question.model_validate({"block": {"text": "a"}})


def test_reading_loads_no_pydantic(tmp_path):
    code = (
        "import sys, tapefold.sessions; from tapefold.domain.content import TextBlock; "
        "TextBlock.model_construct(text='a'); assert 'pydantic' not in sys.modules; "
        "TextBlock(text='a'); assert 'pydantic' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
