"""What a running projection says: lines on standard error, or JSON lines on standard output."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from threading import Lock

import click

from ..visible import one_line


class Said:
    """Says what happens, from any thread: for people on stderr, as JSON on stdout."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = Lock()

    def __call__(self, name: str, what: str, text: str) -> None:
        """`what`: started, trouble or ended."""
        with self._lock:
            if self._as_json:
                from ..jsontext import dump_json

                at = datetime.now(UTC).isoformat(timespec="milliseconds")
                shape = {"at": at, "projection": name, "what": what, "text": text}
                click.echo(dump_json(shape))
                sys.stdout.flush()
            elif sys.stderr is not None:
                click.echo(f"tapefold: {one_line(text)}", err=True)
