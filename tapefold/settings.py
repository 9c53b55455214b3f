"""Where the sessions are: one URL, from `--db`, from TAPEFOLD_DB, or the user's own file."""

from __future__ import annotations

import os
from pathlib import Path

from .domain.errors import InvalidValue

VARIABLE = "TAPEFOLD_DB"
MEMORY = "memory:"
SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://")


def default_path() -> Path:
    """`tapefold/sessions.db` in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("tapefold") / "sessions.db"


def database_url(given: str | os.PathLike[str] | None = None) -> str:
    """The store's URL: what is given, else TAPEFOLD_DB, else the user's own file."""
    if given is not None and os.fspath(given) != "":
        return os.fspath(given)
    return os.environ.get(VARIABLE) or str(default_path())


def environment(url: str) -> dict[str, str]:
    """The library's settings for a store: a path, `sqlite:///…` or `memory:`.

    Raises `InvalidValue` for a URL that means no store that we have.
    """
    if url.startswith(POSTGRES):
        raise InvalidValue(
            "PostgreSQL is not supported by this release; give a path, sqlite:///path or memory:"
        )
    if url.startswith("sqlite:"):
        if not url.startswith(SQLITE) or url == SQLITE:
            raise InvalidValue(f"{url!r} is no SQLite address; write sqlite:///path/to/sessions.db")
        name = url[len(SQLITE) :]
    elif "://" in url:
        raise InvalidValue(f"{url!r} is no store; give a path, sqlite:///path or memory:")
    else:
        name = ":memory:" if url == MEMORY else url
    return {
        "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
        "ORIGINATOR_ID_TYPE": "text",
        "SQLITE_DBNAME": name,
    }
