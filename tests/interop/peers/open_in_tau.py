"""Opens session files with Tau's own reader and says what it makes of them, as JSON.

usage: python open_in_tau.py < {"files": [{"path": …, "leaves": […]}]}
The clock stands still: Tau gives summary rows the moment of replay.
"""

import asyncio
import json
import sys
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

time.time = lambda: 1_800_000_000.0
tau = import_module("tau_agent.session")


def state_of(entries, **leaf):
    state = tau.SessionState.from_entries(entries, **leaf)
    return {
        "messages": [
            m.model_dump(mode="json", exclude_none=True, by_alias=True) for m in state.messages
        ],
        "ids": list(state.context_entry_ids),
        "leaf": state.active_leaf_id,
        "model": state.model,
        "provider": state.provider,
        "thinking_level": state.thinking_level,
        "labels": dict(state.labels_by_id),
        "name": state.session_info.title if state.session_info else None,
    }


def detached(entries):
    """As Tau's coding session does: an unknown parent is none."""
    ids = {entry.id for entry in entries}
    return [
        entry.model_copy(update={"parent_id": None})
        if entry.parent_id is not None and entry.parent_id not in ids
        else entry
        for entry in entries
    ]


async def answer(file):
    try:
        entries = detached(await tau.JsonlSessionStorage(Path(file["path"])).read_all())
        answered = state_of(entries)
        answered["count"] = len(entries)
        answered["states"] = {
            leaf: state_of(entries, leaf_id=leaf) for leaf in file.get("leaves") or []
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:600]}
    return answered


async def main():
    files = json.load(sys.stdin)["files"]
    answers = [await answer(file) for file in files]
    json.dump({"version": version("tau-ai"), "answers": answers}, sys.stdout)


asyncio.run(main())
