"""A session that a repository of the library's rebuilt has no tape to look at."""

from __future__ import annotations

import pytest
from eventsourcing.application import Application

from tapefold import Session, SpentInstance, load_session
from tapefold.domain.content import plain_text
from tapefold.persistence.errors import PositionTaken


class Host(Application[str]):
    name = "host"


def test_after_a_save_it_does_not_go_on_since_nobody_told_it_whether_that_worked(tmp_path):
    """An entry under one that was never stored would cut the conversation off."""
    host = Host(
        {
            "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
            "ORIGINATOR_ID_TYPE": "text",
            "SQLITE_DBNAME": str(tmp_path / "host.db"),
        }
    )
    first = Session.start("h")
    first.finalize("user", "Hello")
    host.save(first)
    mine: Session = host.repository.get("h")
    theirs: Session = host.repository.get("h")
    mine.finalize("user", "mine")
    theirs.finalize("user", "theirs")
    host.save(mine)
    with pytest.raises(PositionTaken):
        host.save(theirs)
    with pytest.raises(SpentInstance, match="load the session again"):
        theirs.finalize("user", "and more")
    again = load_session(host.repository, "h")
    again.finalize("user", "and more")
    host.save(again)
    said = load_session(host.repository, "h").view().messages
    assert [plain_text(m.content) for m in said] == [
        "Hello",
        "mine",
        "and more",
    ]
