"""Is the log still the one that was projected? Restored, replaced and shortened ones are not."""

from __future__ import annotations

from .errors import LogChanged
from .log import Log, LogRow


def check_log(
    name: str, log: Log, log_uuid: str, position: int, digest: str | None, row: LogRow | None = None
) -> None:
    """Raise `LogChanged` if the log is not the one that was read up to the row `position`.

    `digest`: what `LogRow.digest` said of that row then. `row`: that row now, if the caller has
    read it already. An id alone proves nothing: a restored log grows on with the same ids.
    """
    if log_uuid != log.uuid:
        raise LogChanged(name, "the store has another log than the one that was projected")
    if not position:
        return
    found = row or log.row(position)
    if found is None or found.id != position:
        last = log.last_id()
        what = (
            f"the log ends at id {last}, before id {position} that was read last"
            if last < position
            else f"id {position}, which was read last, is gone from the log"
        )
        raise LogChanged(name, what)
    if found.digest() != digest:
        raise LogChanged(name, f"another event than was read stands at id {position}")
