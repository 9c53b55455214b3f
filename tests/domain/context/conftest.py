"""What the context tests share."""

import pytest

from tapefold.testing import Tape


@pytest.fixture
def talk():
    """u1 - a1 - u2 - a2: a tape that compactions and edits are added to."""
    tape = Tape()
    tape.user("Wood?", id="u1")
    tape.assistant("Oak.", id="a1")
    tape.user("Glue?", id="u2")
    tape.assistant("Hide glue.", id="a2")
    return tape


@pytest.fixture
def why():
    """Entry id to the reason for which a context left it out."""

    def reasons(context):
        found = {left.entry_id: left.reason for left in context.excluded}
        assert len(found) == len(context.excluded), "an entry was left out twice"
        return found

    return reasons


@pytest.fixture
def codes():
    """The codes of a context's warnings."""
    return lambda context: [warning.code for warning in context.warnings]
