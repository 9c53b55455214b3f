"""Tapes as files: what the tests that write and import them share."""

from tapefold.importing import Target, import_source
from tapefold.interop.sources import BytesSource
from tapefold.tape_files import write_tape


def record(sessions, events):
    """Write events as they are."""
    sessions.recorder.insert_events([sessions.mapper.to_stored_event(event) for event in events])


def rows(sessions, session_id, upto=None):
    return list(sessions.recorder.iter_events(session_id, lte=upto))


def written(sessions, session_id, at=None):
    return b"".join(write_tape(sessions, session_id, at))


def take(sessions, data, **options):
    """Import bytes; the report."""
    return import_source(Target(sessions), BytesSource(data), "tape.jsonl", **options)


def lines_of(data):
    return data.splitlines(keepends=True)
