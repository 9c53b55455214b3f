"""`tree -i` from the first screen to what is done: each action is that of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .stores import open_sessions
from .terminal import has_full_terminal
from .treepicking import (
    AT,
    BEFORE,
    LABEL,
    REPLAY,
    SUMMARY,
    TREE,
    VIEW,
    TreePicker,
    Wish,
)

if TYPE_CHECKING:
    from tapefold import Session, Sessions
    from tapefold.domain.outcome import Outcome
    from tapefold.domain.outline import OutlineNode


def browse_tree(
    database: str | None, session: str, only: str, at: int | None, leaf: str | None
) -> None:
    """Let a person pick entries of a session, and do what is asked, until something ends it.

    Labels, the trees of forks and a replay on the screen come back to the tree; a moved leaf, a
    view and a printed replay end it, and stand in the terminal afterwards.
    """
    from .tree import read_outline
    from .view import read_state

    start: str | None = None
    note = ""
    while True:
        with open_sessions(database) as sessions:
            state = read_state(sessions, session, at)
            session = state.session_id
            outline = read_outline(sessions, state, at, leaf)
            picker = TreePicker(sessions, outline, only, start, past=at is not None)
            wish = picker.pick(note)
            only, start = picker.place
            if wish is None:
                return
            if wish.action == TREE:
                child = wish.node.session_id
                if sessions.tapes.first_head(child) is None:
                    note = f"{child} is not in this store"
                else:
                    session, at, leaf, start, note = child, None, None, None, ""
                continue
            if wish.action == LABEL:
                note = _label(sessions, session, wish)
                continue
        _act(session, wish, at)
        if wish.action != REPLAY or not has_full_terminal():
            return
        note = ""


def _label(sessions: Sessions, session_id: str, wish: Wish) -> str:
    """Set or clear a label, and say so."""
    from .answers import decide

    node: Any = wish.node
    done = decide(sessions, session_id, lambda s: s.label(node.entry_id, wish.text or None))
    if not done.outcome.changed:
        return "the label is as it was"
    said = f"[{wish.text.strip()}]" if wish.text.strip() else "the label is taken away"
    return f"{said} at position {done.outcome.position}"


def _act(session_id: str, wish: Wish, at: int | None) -> None:
    """Do what ends the browsing, as its command does."""
    node: Any = wish.node
    entry = f"@{node.entry_id}"
    if wish.action == REPLAY:
        # What is inherited was said on the parent's tape, at positions there.
        if has_full_terminal():
            _invoke("replay", session=node.session_id, step=True, at=node.position)
        else:
            _invoke("replay", session=node.session_id, last=node.position)
    elif wish.action == VIEW:
        _invoke("view", session=session_id, leaf=entry, at=at)
    elif wish.action == AT:
        _invoke("branch", session=session_id, entry=entry)
    elif wish.action == BEFORE:
        _ask_anew(session_id, node, wish.text)
    elif wish.action == SUMMARY:
        text = wish.text.strip()
        if text in ("", "-"):  # `-` would mean standard input
            raise click.UsageError("a summary needs words; nothing was changed")
        _invoke("branch", session=session_id, entry=entry, summary=text)


def _ask_anew(session_id: str, node: OutlineNode, text: str) -> None:
    """Go before a user message, and ask what its text was edited to; nothing if it is empty."""
    if not text.strip():
        _invoke("branch", session=session_id, entry=f"@{node.entry_id}", before=True)
        return
    from .answers import decide, print_answer
    from .branch import Place

    with open_sessions(click.get_current_context().obj) as sessions:
        place = Place(sessions, sessions.state(session_id), f"@{node.entry_id}", True)

        def ask(session: Session) -> Outcome:
            place.move(session, None)
            return session.finalize("user", text)

        done = decide(sessions, session_id, ask)
    print_answer(done, False, ["asked anew; the answers to the first stay in the tree"])


def _invoke(name: str, **options: Any) -> None:
    """Run another command of the program with these options, its others as they are by default."""
    from .commands import cli

    context = click.get_current_context()
    found = cli.get_command(context, name)
    assert found is not None
    context.invoke(found, **options)
