"""What projections refuse, each with the command that helps."""

from __future__ import annotations

from pathlib import Path

from tapefold.domain.errors import TapefoldError

REGISTRY = "registry.db"
"""The name of the file that says which build is live."""


class ProjectionError(TapefoldError):
    """A projection cannot be read or run. `name`: which one."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"projection {name}: {text}")
        self.name = name


class ProjectionMissing(ProjectionError):
    """It was never run here."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name, f"it was not built for this store; run `tapefold projections run {name}`"
        )


class DeclarationMismatch(ProjectionError):
    """The file was made by another declaration than the code's."""

    def __init__(self, name: str, stored: int, wanted: int) -> None:
        self.stored, self.wanted = stored, wanted
        if stored > wanted:
            text = (
                f"its file has version {stored}, this older tapefold knows version {wanted}; "
                f"update tapefold; or go back, with `tapefold projections rollback {name}` if "
                f"the build before is kept, else with `tapefold projections rebuild {name} "
                "--accept`"
            )
        else:
            which = (
                f"its file has version {stored}, the code version {wanted}"
                if stored != wanted
                else f"its file was made by another declaration of version {stored}"
            )
            text = f"{which}; build it anew with `tapefold projections rebuild {name}`"
        super().__init__(name, text)


class LogChanged(ProjectionError):
    """The log is not the one that the projection has read: restored, replaced or shortened."""

    def __init__(self, name: str, what: str) -> None:
        self.what = what
        super().__init__(
            name,
            f"{what}; the log was restored, replaced or shortened, so what was projected may be "
            f"wrong; build it anew with `tapefold projections rebuild {name} --from-scratch`",
        )


class AlreadyRunning(ProjectionError):
    """Another process runs or builds this projection."""

    def __init__(self, name: str, holder: str) -> None:
        super().__init__(
            name, f"another process{holder} runs or builds it; stop that one, or wait for it"
        )


class BuildFault(ProjectionError):
    """A file of a projection cannot be used. `path`: which one."""

    def __init__(self, name: str, path: Path, text: str) -> None:
        super().__init__(name, text)
        self.path = path


class BuildBusy(BuildFault):
    """A lock on its file did not come free in time. Nothing was written."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(
            name, path, f"another process holds the lock on {path.name}; try again in a while"
        )


class BuildNotWritable(BuildFault):
    """Its file cannot be opened or written: rights, a missing folder, a full disk."""

    def __init__(self, name: str, path: Path, problem: str) -> None:
        super().__init__(
            name,
            path,
            f"{path} cannot be used ({problem}); check its rights, its folder and the space on "
            "the disk",
        )


class BuildDamaged(BuildFault):
    """Its file is damaged, or is no file of a projection. Nothing is lost: the tapes are whole."""

    def __init__(self, name: str, path: Path, problem: str) -> None:
        advice = (
            f"remove the folder {path.parent.name}, and all projections are built anew by "
            "`tapefold projections run`"
            if path.name == REGISTRY
            else f"build it anew with `tapefold projections rebuild {name} --from-scratch`"
        )
        super().__init__(name, path, f"{path} is damaged or of another kind ({problem}); {advice}")


class BuildMissing(BuildFault):
    """A build that the registry knows has lost its file."""

    def __init__(self, name: str, path: Path) -> None:
        super().__init__(
            name, path, f"{path} is gone; build it anew with `tapefold projections rebuild {name}`"
        )


class SessionParked(ProjectionError):
    """A session was never projected: its first event cannot be applied."""

    def __init__(self, name: str, session_id: str, position: int, error: str) -> None:
        self.session_id, self.position = session_id, position
        super().__init__(
            name,
            f"session {session_id!r} is parked at position {position}: {error}; after mending, "
            f"`tapefold projections retry --session {session_id}`",
        )


class PoisonEvent(ProjectionError):
    """An event that cannot be decoded or applied, where nothing may be parked. `advice`: what to
    do, and what became of the rows that there are."""

    def __init__(
        self,
        name: str,
        session_id: str,
        position: int,
        topic: str,
        error: str,
        advice: str = "see `tapefold events check`",
    ) -> None:
        self.session_id, self.position, self.topic = session_id, position, topic
        self.reason = error
        super().__init__(
            name,
            f"session {session_id!r}, position {position} ({topic}) cannot be applied: {error}; "
            f"{advice}",
        )


class NoFiles(ProjectionError):
    """The store is no file, so nothing can stand beside it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "the store is in memory; projections need a store in a file")
