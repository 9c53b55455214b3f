"""Opening the store that a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapefold import Sessions
    from tapefold.importing import Target


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
        advice = "`tapefold import FILE` or `tapefold new` makes it, or give --db"
        raise StoreMissing(error.store, problem, advice) from error


@contextmanager
def import_target(database: str | None, *, dry_run: bool = False) -> Iterator[Target]:
    """The store, to import into. One that is not there yet is made when something is written,
    so a refused file leaves no empty store behind; `dry_run` never makes one.
    """
    from tapefold.importing import Target
    from tapefold.persistence.errors import StoreMissing
    from tapefold.settings import MEMORY

    with ExitStack() as stack:

        def make() -> Sessions:
            return stack.enter_context(open_sessions(database, create=True))

        try:
            target = Target(stack.enter_context(open_sessions(database)))
        except StoreMissing:
            empty = stack.enter_context(open_sessions(MEMORY))
            target = Target(empty, None if dry_run else make)
        yield target
