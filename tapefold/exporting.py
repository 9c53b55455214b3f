"""Exporting a session: to a file of Tau or Pi, to our own complete format, to a document.

A file is written beside its place and put there in one step, when all of it is on the disk; if
anything fails before, what was there stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from .domain.errors import InvalidValue
from .domain.kernel import State
from .domain.tree import CurrentLeaf, LeafRef, path, require_node, resolve_leaf
from .interop.pi import PI
from .interop.records import RecordFormat
from .interop.tau import TAU
from .interop.writing.as_it_came import AsItCame, is_as_it_came
from .interop.writing.family import Family
from .interop.writing.markdown import Document
from .interop.writing.report import ExportReport
from .interop.writing.to_pi import PiWriter
from .interop.writing.to_tau import TauWriter
from .interop.writing.writer import Writer
from .sessions import Sessions
from .whole_file import write_file

FORMATS: Final = ("tau", "pi", "jsonl", "markdown")
"""`tau`, `pi`: session files of these tools. `jsonl`: our own, complete. `markdown`: to read."""


class WholeSession:
    """Stands for every branch, where a leaf would name one."""

    def __repr__(self) -> str:
        return "ALL"


ALL: Final = WholeSession()

_FORMS: Final[dict[str, tuple[RecordFormat, type[Writer]]]] = {
    "tau": (TAU, TauWriter),
    "pi": (PI, PiWriter),
}


@dataclass(frozen=True)
class Export:
    """The lines of an export, each with its end, and the report that fills up with them."""

    lines: Iterator[bytes]
    report: ExportReport


def export_lines(
    sessions: Sessions,
    session_id: str,
    format: str,
    *,
    leaf: LeafRef | WholeSession = ALL,
) -> Export:
    """A session in one of `FORMATS`, line by line; memory holds its thin state and one line.

    `leaf`: the one branch that ends at this entry (None: the empty path; `LEAF`: the session's
    own); left out: all of them. The report is complete when the lines are. Raises
    `SessionNotFound`, `UnknownEntry`, and `InvalidValue` for another format, or for a branch of
    `jsonl`, which is always the whole tape.
    """
    if format not in FORMATS:
        raise InvalidValue(f"there is no format {format!r:.40}; take one of {', '.join(FORMATS)}")
    report = ExportReport(session_id, format)
    if format == "jsonl":
        if not isinstance(leaf, WholeSession):
            raise InvalidValue("jsonl holds the whole tape; leave the leaf out")
        return Export(_tape(sessions, session_id, report), report)
    state = sessions.state(session_id)
    family = Family(state, sessions.tapes)
    if format == "markdown":
        start = state.leaf if isinstance(leaf, WholeSession) else _entry(state, leaf)
        document = Document(family, start, isinstance(leaf, WholeSession), report)
        return Export(_ended(document.lines()), report)
    form, make = _FORMS[format]
    if isinstance(leaf, WholeSession):
        if is_as_it_came(family, form):
            return Export(_ended(AsItCame(family, form, report).lines()), report)
        return Export(_ended(make(family, state.leaf, None, report).lines()), report)
    start = _entry(state, leaf)
    only = {node.entry_id for node in path(state, start)}
    return Export(_ended(make(family, start, only, report).lines()), report)


def export_session(
    sessions: Sessions,
    session_id: str,
    format: str,
    target: str | os.PathLike[str] | IO[bytes],
    *,
    leaf: LeafRef | WholeSession = ALL,
    overwrite: bool = False,
) -> ExportReport:
    """Export a session to a file, or to an open binary stream; see `export_lines`.

    A file is replaced in one step, and keeps its permissions; a new one gets what the umask
    allows. Raises `FileExists` where there is one and `overwrite` is false, `OSError` where it
    cannot be written; what was there is unchanged then.
    """
    export = export_lines(sessions, session_id, format, leaf=leaf)
    if isinstance(target, str | os.PathLike):
        export.report.path = os.fspath(target)
        write_file(export.report.path, export.lines, overwrite=overwrite)
    else:
        for line in export.lines:
            target.write(line)
    return export.report


def _entry(state: State, leaf: LeafRef) -> str | None:
    at = resolve_leaf(state, leaf)
    if at is not None and not isinstance(leaf, CurrentLeaf):
        require_node(state, at)
    return at


def _ended(lines: Iterator[bytes]) -> Iterator[bytes]:
    return (line + b"\n" for line in lines)


def _tape(sessions: Sessions, session_id: str, report: ExportReport) -> Iterator[bytes]:
    from .tape_files import write_tape

    return _measured(write_tape(sessions, session_id), report)


def _measured(lines: Iterator[bytes], report: ExportReport) -> Iterator[bytes]:
    for line in lines:
        report.lines += 1
        report.size += len(line)
        yield line
