"""What a check of a store can find, how bad it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

WRONG: Final = "wrong"
"""Something is damaged, missing or not understood."""
RISK: Final = "risk"
"""All is there, but it may not stay so."""
NOTE: Final = "note"
"""Worth knowing; nothing has to be done."""

LISTED = 50
"""Findings of one code that are kept one by one; more are only counted."""

_RESTORE = "restore the store from a backup, or save what is left with sqlite3's .recover"
_RESTORE_ROW = "restore this event from a backup; the events before it can still be read (--at)"
_RESTORE_SESSION = "restore the session from a backup; what is before can be read (--at)"
_BOTH = "restore both sessions from one backup; a fork and its receipt are written together"


class Meaning(NamedTuple):
    """How bad the findings of one code are, and what to do about them."""

    level: str
    advice: str


MEANINGS: Final[dict[str, Meaning]] = {
    # the file
    "cannot_open": Meaning(WRONG, "give the path of a store, or restore it from a backup"),
    "cut_short": Meaning(WRONG, _RESTORE),
    "integrity": Meaning(WRONG, _RESTORE),
    "cannot_read": Meaning(WRONG, _RESTORE),
    "schema": Meaning(WRONG, "give the path of a store that this tapefold can use"),
    "no_log": Meaning(WRONG, "give another path; a store is made by the first import or start"),
    "used_ids": Meaning(
        WRONG, "write nothing to this store: ids may be given twice; restore a backup"
    ),
    "journal_left": Meaning(
        RISK, "run any command that writes, such as `tapefold label`: it cleans up by itself"
    ),
    "journal_mode": Meaning(
        NOTE, "nothing; the next command that opens the store turns the write-ahead log on"
    ),
    "log_waits": Meaning(NOTE, "nothing; keep it beside the store, also in every copy of it"),
    "log_grows": Meaning(
        RISK, "end the programs that have kept the store open for long, then run any command"
    ),
    # where it lies
    "open_to_others": Meaning(RISK, "take the rights away: chmod go= FILE"),
    "folder_open_to_others": Meaning(RISK, "take the right to write away: chmod go-w FOLDER"),
    "not_writable": Meaning(NOTE, "nothing, if it is only read; else chmod u+rw FILE"),
    "folder_not_writable": Meaning(
        RISK, "make the folder writable: the write-ahead log is made beside the store"
    ),
    "several_names": Meaning(RISK, "keep one name: each has a write-ahead log of its own"),
    "little_space": Meaning(RISK, "free some space on this disk before the next append"),
    "network_file_system": Meaning(
        RISK, "put the store on a local disk: a write-ahead log needs memory that is shared"
    ),
    # the events
    "bad_row": Meaning(WRONG, _RESTORE),
    "gap": Meaning(WRONG, _RESTORE_SESSION),
    "no_start": Meaning(WRONG, "restore the session from a backup"),
    "unreadable_event": Meaning(WRONG, _RESTORE_ROW),
    "newer_event": Meaning(WRONG, "upgrade tapefold, at least to the release that wrote it"),
    "unknown_event": Meaning(WRONG, "upgrade tapefold, or use the program that wrote it"),
    "foreign_event": Meaning(WRONG, "restore the session from a backup"),
    "body_differs": Meaning(WRONG, _RESTORE_ROW),
    "calls_differ": Meaning(WRONG, _RESTORE_ROW),
    "id_twice": Meaning(
        WRONG, "read the session at a position before it; restore it from a backup"
    ),
    # forks
    "origin_missing": Meaning(WRONG, "restore or import the session that it was forked from"),
    "origin_short": Meaning(WRONG, _BOTH),
    "origin_in_ring": Meaning(WRONG, "restore these sessions from a backup"),
    "origin_differs": Meaning(WRONG, _BOTH),
    "no_receipt": Meaning(WRONG, _BOTH),
    "fork_missing": Meaning(NOTE, "nothing, if it was left out on purpose; else restore it"),
}
"""Code to meaning. The codes are stable."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found. `text` says it in words; the place where it is one of an event."""

    code: str
    text: str
    session_id: str | None = None
    position: int | None = None

    @property
    def level(self) -> str:
        """`wrong`, `risk` or `note`."""
        return MEANINGS[self.code].level

    @property
    def advice(self) -> str:
        """What to do."""
        return MEANINGS[self.code].advice


@dataclass
class Findings:
    """The findings of one check: `LISTED` of a code one by one, and how many there are of each."""

    listed: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(
        self, code: str, text: str, session_id: str | None = None, position: int | None = None
    ) -> None:
        """Take a finding down."""
        self.counts[code] = self.counts.get(code, 0) + 1
        if self.counts[code] <= LISTED:
            self.listed.append(Finding(code, text, session_id, position))

    @property
    def wrong(self) -> int:
        """How many things are wrong."""
        return sum(n for code, n in self.counts.items() if MEANINGS[code].level == WRONG)
