"""What the subcommands share: the projections by name, the store, and what is printed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tapefold import Sessions
    from tapefold.projections.declaration import Projection
    from tapefold.projections.log import Log
    from tapefold.projections.registry import Registry

    ParamType = click.ParamType[str]
else:
    ParamType = click.ParamType  # older releases of click have no type arguments

F = TypeVar("F", bound=Callable[..., Any])


class Name(ParamType):
    """The name of a projection."""

    name = "projection"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name; wrong use where there is no such projection."""
        from tapefold.projections.catalogue import projection_names

        known = projection_names()
        if value not in known:
            self.fail(f"{value!r} is no projection; there are {', '.join(known)}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        from click.shell_completion import CompletionItem

        from tapefold.projections.catalogue import projection_names

        return [CompletionItem(name) for name in projection_names() if name.startswith(incomplete)]


NAME = Name()


def name_argument(function: F) -> F:
    """The projection that a command is about."""
    return click.argument("name", type=NAME)(function)


def names_argument(function: F) -> F:
    """The projections that a command is about; none: all."""
    return click.argument("names", metavar="[NAME]...", nargs=-1, type=NAME)(function)


def some_names(function: F) -> F:
    """The projections that a command changes: those that are named, or `--all`."""
    option = click.option("--all", "is_all", is_flag=True, help="Every projection.")
    return click.argument("names", metavar="NAME...", nargs=-1, type=NAME)(option(function))


def named_or_all(names: Sequence[str], is_all: bool) -> tuple[str, ...]:
    """What `some_names` gives. Wrong use where it is nothing, or both."""
    if bool(names) == is_all:
        raise click.UsageError("name projections, or give --all; not both, and not neither")
    return chosen(names)


def each_of(names: Sequence[str], work: Callable[[str], bool]) -> bool:
    """Do some work for each projection; answers whether it succeeded for all of them.

    One that fails keeps none of the others from it: its error is a line on standard error. The
    error of a single one is raised, and a fault of the store, which is all of theirs.
    """
    from tapefold.projections.errors import ProjectionError

    from ..group import complain

    done = []
    for name in names:
        try:
            done.append(work(name))
        except ProjectionError as error:
            if len(names) == 1:
                raise
            complain(str(error))
            done.append(False)
    return all(done)


def sample_option(function: F) -> F:
    """`--sample`: not every session."""
    return click.option(
        "--sample",
        type=click.IntRange(min=1),
        metavar="N",
        help="Fold this many sessions anew, the same ones each time, instead of all.",
    )(function)


@dataclass
class Place:
    """A store and what is projected of it."""

    sessions: Sessions
    log: Log
    store: Path
    registry: Registry

    def projection(self, name: str) -> Projection:
        """A projection by its name."""
        from tapefold.projections.catalogue import projection_named

        return projection_named(name)

    def session_id(self, reference: str) -> str:
        """The id that a reference means; itself where the log has no such session, whose rows
        may be there all the same."""
        from tapefold.domain.errors import SessionNotFound
        from tapefold.finding import find_session
        from tapefold.persistence.errors import UnreadableEvent

        try:
            return find_session(self.sessions, reference)
        except (SessionNotFound, UnreadableEvent):
            return reference


@contextmanager
def open_place(database: str | None) -> Iterator[Place]:
    """The store with its log and its registry. Makes none; raises `StoreMissing`, `NoFiles`."""
    from tapefold.projections.opening import log_of
    from tapefold.projections.registry import Registry, store_path

    from ..stores import open_sessions

    with open_sessions(database) as sessions:
        log = log_of(sessions)
        store = store_path("of this store", log.path)
        with closing(Registry(store)) as registry:
            yield Place(sessions, log, store, registry)


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The projections that are meant: those that are named, else all."""
    from tapefold.projections.catalogue import projection_names

    return tuple(dict.fromkeys(names)) or projection_names()
