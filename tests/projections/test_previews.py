"""The preview of a stored body is that of the outline."""

import pytest

from tapefold.domain.bodies import MessageBody
from tapefold.domain.content import parse_content
from tapefold.domain.outline import cut, preview_of
from tapefold.projections.branch_tree.previews import preview
from tapefold.testing import Tape

COMMANDS = ("head -2 beam.csv", "env |\n grep S", "", "  ", None, 7, {"a": 1}, "w" * 200)


@pytest.mark.parametrize("role", ["bash_execution", "user"])
@pytest.mark.parametrize("content", ["time,load\n0,1", "", " ", [], [{"type": "image"}]])
@pytest.mark.parametrize(
    "details", [None, [], {}, *({"command": command} for command in COMMANDS)], ids=repr
)
def test_a_stored_message_is_previewed_as_the_outline_does(role, content, details):
    tape = Tape()
    tape.message(role, content, details=details)
    event = tape.events[-1]
    line, calls = preview(event.body.to_json(), event.head.role)
    assert (line, calls) == (cut(preview_of(event)), None)
    assert line == tape.outline().nodes[0].preview


def test_a_shell_command_leads_its_output():
    body = MessageBody(content=parse_content("0,1"), details={"command": "tail -1 beam.csv"})
    assert preview(body.to_json(), "bash_execution")[0] == "$ tail -1 beam.csv 0,1"
