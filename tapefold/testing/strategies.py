"""Random tapes and random commands for hypothesis.

from hypothesis import given
from tapefold.testing.strategies import tapes

@given(tapes())
def test_a_view_can_be_built(tape):
    tape.view()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from .commanding import COMMANDS, Step
from .scribbling import VERBS, Stroke, scribble
from .tape import Tape

# Messages and what happens to them come up more often than marks that touch nothing.
_OFTEN = ("user", "assistant", "result", "version", "retract", "call_fact", "result_fact")
_FORKS = ("fork", "turn")

T = TypeVar("T")


def _lists(items: st.SearchStrategy[T], max_size: int) -> st.SearchStrategy[list[T]]:
    """Short lists, and as often long ones: left alone, hypothesis draws some five items."""
    long = st.lists(items, min_size=max_size // 2, max_size=max_size)
    return st.one_of(st.lists(items, max_size=max_size), long)


def _steps(make: Callable[..., T], verbs: Sequence[str]) -> st.SearchStrategy[T]:
    """A verb and three numbers below 64, out of one draw: drawing is what random tapes cost."""

    def step(n: int) -> T:
        n, verb = divmod(n, len(verbs))
        return make(verbs[verb], n % 64, n // 64 % 64, n // 4096)

    return st.integers(0, len(verbs) * 64**3 - 1).map(step)


def strokes(*verbs: str, max_size: int = 40) -> st.SearchStrategy[list[Stroke]]:
    """Lists of strokes for `scribble`; left out: all verbs, without forks."""
    return _lists(_steps(Stroke, verbs or (*_OFTEN, *VERBS)), max_size)


def tapes(*verbs: str, max_size: int = 40, hostile: bool = False) -> st.SearchStrategy[Tape]:
    """Random tapes without forks: branches, versions, drafts, retractions, results late and
    early, facts, anchors of every shape, edits, leaf moves, settings, labels, order numbers.

    `verbs` keeps to some of `scribbling.VERBS`. `hostile` adds what commands refuse: unknown,
    later and own parents, rings, ids used twice, unknown statuses.
    """
    return strokes(*verbs, max_size=max_size).map(lambda s: scribble(s, hostile=hostile)[0])


def families(*, max_size: int = 40, hostile: bool = False) -> st.SearchStrategy[list[Tape]]:
    """Random tapes with forks, forks of forks, and parents that go on: the oldest first."""
    verbs = (*_OFTEN, *VERBS, *_FORKS, *_FORKS)
    return strokes(*verbs, max_size=max_size).map(lambda s: scribble(s, hostile=hostile))


def commands(*verbs: str, max_size: int = 30) -> st.SearchStrategy[list[Step]]:
    """Random command sequences, in any order, some of them wrong: unknown entries, ids that are
    taken, keys that are used again, stale positions. Each is a callable on a session."""
    chosen = verbs or ("user", "assistant", "result", "revise", "retract", *COMMANDS)
    return _lists(_steps(Step, chosen), max_size)
