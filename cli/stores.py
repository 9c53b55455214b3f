"""Opening the store that a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapefold import Sessions


@contextmanager
def open_sessions(database: str | None, *, create: bool = False) -> Iterator[Sessions]:
    """The sessions of a store. Reading never makes one: only `create` does, folders too.

    Raises `StoreMissing` where there is no store, and what opening a store raises.
    """
    from tapefold.persistence.errors import StoreMissing
    from tapefold.sessions import Sessions
    from tapefold.settings import MEMORY, database_url

    url = database_url(database)
    make = create or url == MEMORY
    env = {
        "CREATE_TABLE": "yes" if make else "no",
        "TAPEFOLD_CREATE_PARENTS": "yes" if make else "no",
    }
    try:
        with Sessions(url, env=env) as opened:
            yield opened
    except StoreMissing as error:
        if make:
            raise
        is_there = Path(error.store).exists()
        problem = "it holds no sessions yet" if is_there else "there is no store yet"
        advice = "`tapefold import FILE` makes it, or give --db"
        raise StoreMissing(error.store, problem, advice) from error
