"""Why a file is not imported. Nothing was written when one of these is raised."""

from __future__ import annotations

from ..domain.errors import TapefoldError
from .report import ImportReport


class ImportRefused(TapefoldError):
    """A file is not imported; `report` says the same to machines."""

    def __init__(
        self, report: ImportReport, reason: str, text: str, line: int | None = None
    ) -> None:
        self.report = report
        self.reason = reason
        self.line = line
        report.refused = True
        report.add(line, reason, text)
        super().__init__(f"{report.path}: {text}")


class NotASessionFile(ImportRefused):
    """The file holds no record of a format that we read."""


class UnsupportedFile(ImportRefused):
    """The file is of an encoding, or of a generation of its format, that is not read."""


class SourceChanged(ImportRefused):
    """A record that was imported before has changed, or is gone."""


class SessionTaken(ImportRefused):
    """The session exists, and was not imported from such a file."""


class SourceReplaced(ImportRefused):
    """A file that is followed was cut or replaced by something else; what was imported stays."""
