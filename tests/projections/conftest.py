"""What the tests of projections share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .machinery import Counting, Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """A store with two sessions, of two events each, and nothing projected yet."""
    made = Shop(tmp_path / "sessions.db")
    made.begin("a", "b")
    made.say("a", "hello")
    made.say("b", "hello")
    yield made
    made.close()


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch):
    """Mends the fold of the small projection: from now on it takes poison."""

    def mend() -> None:
        monkeypatch.setattr(Counting, "swallows", True)

    return mend
