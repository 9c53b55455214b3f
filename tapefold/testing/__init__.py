"""The kit for tests of sessions: given events, when a command, then events. No store, no I/O.

`tapefold.testing.strategies` makes random tapes and commands; it needs hypothesis, this does not.
"""

from .defaults import CLOCK, counted_defaults
from .expected import Expected, event
from .memory import MemoryTapes
from .reading import as_plain, plain, said
from .scenario import Given, Then, given
from .tape import Tape

__all__ = [
    "CLOCK",
    "Expected",
    "Given",
    "MemoryTapes",
    "Tape",
    "Then",
    "as_plain",
    "counted_defaults",
    "event",
    "given",
    "plain",
    "said",
]
