"""Which tool wrote a file, by its content alone, and which session it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from ..domain.errors import InvalidValue
from ..domain.identifiers import check_id
from .errors import NotASessionFile, UnsupportedFile
from .line import GLUED, Line, encoding_of
from .lines import LineReader
from .pi import PI, VERSION, is_header
from .pi_eras import pi_format
from .placing import usable_id
from .records import RecordFormat
from .report import ImportReport
from .sources import Source
from .tau import TAU
from .times import is_number

MAX_BYTES: Final = 1 << 22
"""How much of a file is searched for a record that can be told. Unit: bytes."""

SAMPLE: Final = 1 << 16

_AROUND: Final = b" \t\r\n\0"

HARNESS_HEADER: Final = "header"
"""`kind` of the first record of Pi's version 4, which no released command line wrote."""


@dataclass
class Identity:
    """What a file is. `header` is the line of Pi's header, None where there is none."""

    form: RecordFormat
    session_id: str
    header: Line | None = None
    version: Any = None
    directory: str | None = None
    timestamp: Any = None
    problems: list[tuple[str, str]] = field(default_factory=list)


def identify(source: Source, report: ImportReport) -> Identity:
    """Tell what a file is. Raises `NotASessionFile`, `UnsupportedFile`."""
    with source.open() as file:
        sample = file.read(SAMPLE)
    encoding = encoding_of(sample)
    if encoding is not None:
        raise UnsupportedFile(
            report, "unsupported_encoding", f"the file is {encoding}; convert it to UTF-8"
        )
    if not sample.strip() and source.size <= SAMPLE:
        blank = "there is nothing in the file but blank lines"
        raise NotASessionFile(report, "empty_file", blank if sample else "the file is empty")
    records = _records(source)
    first = next(records, None)
    if first is not None and is_header(first.value) and _is_read(first):
        return _with_header(source, report, first, records)
    if first is not None and first.value.get("kind") == HARNESS_HEADER:
        raise UnsupportedFile(
            report,
            "unsupported_version",
            "this is Pi's version 4, which no released command line wrote; versions "
            f"from {VERSION} on that begin with a session record can be read",
        )
    found = _inferred(first, records, report)
    if found is None:
        raise NotASessionFile(
            report,
            "not_a_session_file",
            "no record of a session of Tau or Pi was found; nothing was written",
        )
    return _without_header(source, report, found)


def _is_read(header: Line) -> bool:
    """Whether the reading will find the header, too: it digs only what looks like a record out of
    a damaged line, and keeps the line's bytes else."""
    return all(code != GLUED for code, _ in header.notes) or PI.is_record(header.value)


def _records(source: Source) -> Iterator[Line]:
    """The objects at the beginning of a file."""
    with source.open() as file:
        reader = LineReader(file, limit=min(MAX_BYTES, source.size))
        for line in reader:
            if line.has_value and isinstance(line.value, dict):
                yield line


def form_of(record: dict[str, Any]) -> RecordFormat | None:
    """The tool whose record this is, where it shows."""
    name, time = record.get("type"), record.get("timestamp")
    if not isinstance(name, str):
        return None
    if name in PI.KINDS and ("parentId" in record or isinstance(time, str)):
        return PI
    if name in TAU.KINDS and ("parent_id" in record or is_number(time)):
        return TAU
    return None


def _inferred(
    first: Line | None, records: Iterator[Line], report: ImportReport
) -> tuple[RecordFormat, Line] | None:
    line = first
    while line is not None:
        form = form_of(line.value)
        if form is not None:
            return form, line
        line = next(records, None)
    return None


def _with_header(
    source: Source, report: ImportReport, line: Line, records: Iterator[Line]
) -> Identity:
    header = line.value
    report.format = PI.NAME
    session_id = header.get("id")
    problems = []
    try:
        check_id(session_id, "session id")
    except InvalidValue:
        session_id = _inferred_id(PI, source, line, records)
        problems.append(("session_id_unusable", f"the session is {session_id}"))
    version = header.get("version")
    number = _version_number(version)
    if version is not None and (type(version) is not int or version not in (1, 2, VERSION)):
        problems.insert(0, ("header_version", f"{version!r:.40} is read as {number}"))
    if number < VERSION:
        problems.append(_older(number))
    directory = header.get("cwd")
    return Identity(
        pi_format(number, str(session_id)),
        str(session_id),
        line,
        number if version is None else version,
        directory if isinstance(directory, str) else None,
        header.get("timestamp"),
        problems,
    )


def _older(version: int) -> tuple[str, str]:
    return "older_version", f"version {version} is read as version {VERSION}"


def _version_number(version: Any) -> int:
    """The version whose rules a header asks for. One that says nothing sensible is the first,
    which reads records of every version: what they lack is made, what they have is kept."""
    if isinstance(version, str) and re.fullmatch(r"[0-9]{1,9}", version):
        version = int(version)
    if not is_number(version):
        return 1
    return VERSION if version >= VERSION else max(1, int(version))


def _without_header(
    source: Source, report: ImportReport, found: tuple[RecordFormat, Line]
) -> Identity:
    form, line = found
    report.format = form.NAME
    session_id = _inferred_id(form, source, line, _records(source))
    identity = Identity(form, session_id, timestamp=line.value.get("timestamp"))
    if form is PI:
        # Ids came with version 2. Its reader reads version 3 too, and one role more.
        has_ids = "id" in line.value
        identity.version = VERSION if has_ids else 1
        identity.form = pi_format(2 if has_ids else 1, session_id)
        identity.problems.append(
            (
                "header_missing",
                f"read as Pi version {identity.version}; the session is {session_id}",
            )
        )
    elif line.value.get("type") == "session_info":
        # Only the first record counts: what comes later may not be there yet.
        directory = line.value.get("cwd")
        identity.directory = directory if isinstance(directory, str) else None
    return identity


def _inferred_id(form: RecordFormat, source: Source, first: Line, records: Iterator[Line]) -> str:
    """`<tool>-<id of the first entry that has one>`, else made from the text of the first record,
    which stays the same when the file grows; never from the path."""
    for line in records:
        own_id = form.own_id(line.value)
        if usable_id(own_id):
            return f"{form.NAME}-{own_id}"
    with source.open() as file:
        file.seek(first.start)
        text = file.read(first.end - first.start)
    # What stands around it may come later: the line break does.
    return f"import:{sha256(text.strip(_AROUND)).hexdigest()}"


__all__ = ["Identity", "form_of", "identify"]
