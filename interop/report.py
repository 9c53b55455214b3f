"""What an import did: counts, and every line at which something was put right or left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

MAX_PROBLEMS: Final = 10_000
"""Problems listed one by one; of the rest the report gives the number."""

REASONS: Final[dict[str, str]] = {
    # The bytes.
    "blank_line": "The line is empty; it is not stored.",
    "torn_tail": "The last record is not whole yet; it is read when it is.",
    "unreadable_line": "The line is not JSON; its bytes are stored.",
    "byte_order_mark": "The file begins with a byte order mark.",
    "crlf": "Lines end in CR and LF.",
    "nul_run": "NUL bytes stood around the record, or were all of the line.",
    "glued_records": "The line held more than the record, which was taken out of it.",
    "raw_newline": "A line break stood in a string; the lines were joined.",
    "control_characters": "Unescaped control characters stood in a string; they are kept.",
    "invalid_utf8": "Bytes that are no UTF-8 are shown as U+FFFD; the bytes are stored.",
    "duplicate_keys": "A key stood twice in an object; the last one counts, the text is stored.",
    "too_deep": "Nesting is deeper than is taken over; the outer levels were, the text is stored.",
    "big_number": "An integer is too long to be converted; the text is stored.",
    # The record.
    "no_object": "The line is JSON, but no record; it is stored.",
    "unknown_type": "Records of this type are not known; it is stored.",
    "misfit": "The record lacks what its type needs, or has a role that is not known; "
    "it is stored.",
    "second_header": "A session header that is not the first record; it is stored.",
    "header_missing": "There is no readable header; the format was inferred from the records.",
    "header_version": "The header's version is newer than the one that we know, or no number.",
    "older_version": "The file is of an older version of its format; it is read as the tool's "
    "newest release reads it.",
    "session_id_unusable": "The header's id cannot be used; the session has another one.",
    # Ids and links.
    "id_missing": "The record has no id; it got one made from the session's id and its line.",
    "id_unusable": "The record's id cannot be used; it got one made from the session's id and "
    "its line.",
    "duplicate_line": "An equal record with this id came before; it is not stored again.",
    "duplicate_id": "Another record, or an entry made here, has this id; references mean that one, "
    "this one is `<id>~<line>`.",
    "self_parent": "The record is its own parent; it is a root.",
    "ring": "The parents lead round in a ring; its first record is a root.",
    "unknown_parent": "The parent is not in the file; the record hangs under the entry before it.",
    "late_parent": "The parent of this record, which an earlier import did not find, has come now; "
    "the record stays where it was hung then.",
    "boundary_unknown": "No record before it has the id of the first kept entry; only what "
    "follows the compaction is kept.",
    "tail_differs": "The messages that the compaction carries are not the last ones before it; "
    "they follow its summary.",
    # Times.
    "time_missing": "The record has no time; it takes that of the record before.",
    "time_unreadable": "The record's time cannot be read, or lies beyond every date; it takes that "
    "of the record before.",
    # The whole file.
    "not_a_session_file": "There is no record of a format that we read.",
    "missing_file": "There is no such file.",
    "empty_file": "The file is empty, or holds blank lines alone.",
    "unreadable_file": "The file cannot be opened, or is none.",
    "unsupported_encoding": "The file is not UTF-8.",
    "unsupported_version": "The file is of a generation that no released tool wrote.",
    "changed_line": "A record that was imported before has changed or is gone; nothing was "
    "written.",
    "foreign_session": "The session exists, and was not imported from such a file; nothing was "
    "written.",
    "changed_tape": "The session is in the store with other events; nothing was written.",
    "foreign_topic": "An event of the tape is none of a session; nothing was written.",
    "newer_event": "A newer tapefold wrote an event of the tape; nothing was written.",
    "damaged_tape": "The tape ends before this line, which is not the next event.",
    "incomplete_tape": "The file ends before the tape that it names does.",
    "source_replaced": "The followed file was cut, replaced or taken away; what was imported "
    "stays.",
    # Folders.
    "folder_unreadable": "The folder cannot be looked into.",
    "seen_before": "A link leads to a folder that was looked into already.",
    "and_more": "There are more problems than are listed.",
}
"""Every reason code of a report, with what it means."""

REPAIRS: Final = frozenset(
    {
        "nul_run",
        "glued_records",
        "raw_newline",
        "control_characters",
        "invalid_utf8",
        "duplicate_keys",
        "too_deep",
        "big_number",
        "id_missing",
        "id_unusable",
        "duplicate_id",
        "self_parent",
        "ring",
        "unknown_parent",
        "time_missing",
        "time_unreadable",
    }
)
"""Reasons that count the record as repaired."""

STOPS: Final = frozenset({"damaged_tape", "incomplete_tape"})
"""Reasons that end the reading: a part of the file, which is there or should be, was not taken."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a reader of the file should know. `line` None: the whole file."""

    line: int | None
    reason: str
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """`{"line", "reason", "detail"}`."""
        return {"line": self.line, "reason": self.reason, "detail": self.detail}


@dataclass
class ImportReport:
    """What became of a file.

    `read` counts the records found, a torn tail and blank lines: it is `kept` + `already` +
    `skipped`. `repaired` and `foreign` are part of `kept`. `format` is `tau` or `pi`, None where
    that could not be told; `session_id` is None where nothing was, or could be, written.

    `size` is the file's, in bytes, as it was when the import began; what it grew by while it was
    followed is added in `to_json`. Each byte is part of one of `bytes_kept`, `bytes_already`,
    `bytes_torn` and `bytes_blank`, or was not reached: `bytes_unread`, which is 0 unless the file
    was refused or became shorter meanwhile.
    """

    path: str
    format: str | None = None
    session_id: str | None = None
    read: int = 0
    kept: int = 0
    already: int = 0
    repaired: int = 0
    foreign: int = 0
    skipped: int = 0
    size: int = 0
    bytes_kept: int = 0
    bytes_already: int = 0
    bytes_torn: int = 0
    bytes_blank: int = 0
    problems: list[Problem] = field(default_factory=list)
    more: int = 0
    """Problems that are counted, but not listed."""
    refused: bool = False
    """Nothing of the file was imported; the last problem says why."""

    @property
    def bytes_read(self) -> int:
        """The bytes that were accounted for."""
        return self.bytes_kept + self.bytes_already + self.bytes_torn + self.bytes_blank

    @property
    def bytes_unread(self) -> int:
        """What is left of `size`."""
        return max(0, self.size - self.bytes_read)

    def keep(self, size: int, *, repaired: bool) -> None:
        """Count a record that is stored; `size` in bytes, its line break with it."""
        self.kept += 1
        self.repaired += repaired
        self.bytes_kept += size

    def find(self, size: int) -> None:
        """Count a record that is there already."""
        self.already += 1
        self.bytes_already += size

    def skip(self, size: int, *, torn: bool) -> None:
        """Count what is not stored: a torn tail, or else a blank line."""
        self.skipped += 1
        if torn:
            self.bytes_torn += size
        else:
            self.bytes_blank += size

    def add(self, line: int | None, reason: str, detail: str = "") -> None:
        """Report something. Raises `KeyError` for a reason that is not declared."""
        REASONS[reason]
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, reason, detail))
        else:
            self.more += 1

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        problems = [problem.to_json() for problem in self.problems]
        if self.more:
            problems.append(Problem(None, "and_more", f"{self.more} more").to_json())
        return {
            "path": self.path,
            "format": self.format,
            "session_id": self.session_id,
            "read": self.read,
            "kept": self.kept,
            "already": self.already,
            "repaired": self.repaired,
            "foreign": self.foreign,
            "skipped": self.skipped,
            "problems": problems,
            "size": max(self.size, self.bytes_read),
            "sizes": {
                "kept": self.bytes_kept,
                "already": self.bytes_already,
                "torn": self.bytes_torn,
                "blank": self.bytes_blank,
                "unread": self.bytes_unread,
            },
        }
