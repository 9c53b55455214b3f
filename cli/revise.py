"""`tapefold revise`: a later version of a message."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from .answers import decide, keep_summary_option, key_option, print_answer, reason_option
from .options import entry_argument, json_option, session_argument
from .texts import content_option, read_content, text_source

if TYPE_CHECKING:
    from tapefold import Session, Sessions
    from tapefold.domain.content import Content
    from tapefold.domain.outcome import Outcome


@click.command("revise")
@session_argument
@entry_argument
@text_source
@content_option
@reason_option
@keep_summary_option
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    entry: str,
    text: str | None,
    file: IO[bytes] | None,
    blocks: IO[bytes] | None,
    reason: str | None,
    keep_summary: bool,
    key: str | None,
    as_json: bool,
) -> None:
    """Write a later version of a message.

    The earlier ones stay on the tape. TEXT takes the place of its text. Its tool calls, images
    and reasoning stay, and so do its model and all else; `--json-content` replaces the whole
    content.
    """
    from tapefold.domain.content import parse_content

    from .named import named_message, named_session
    from .stores import open_sessions

    said = read_content(text, file, blocks)
    content = None if blocks is None else parse_content(said)
    kept: list[str] = []
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        message_id = named_message(sessions, state, entry)

        def revise(s: Session) -> Outcome:
            fields, old = current_fields(sessions, s, message_id)
            new = with_text(old, said) if content is None else content
            kept[:] = [block.TYPE for block in new] if content is None else []
            return s.revise(
                message_id, new, reason=reason, keep_summary=keep_summary, key=key, **fields
            )

        done = decide(sessions, session_id, revise)
    print_answer(done, as_json, list(_kept(kept)))


def current_fields(
    sessions: Sessions, session: Session, message_id: str
) -> tuple[dict[str, Any], Content]:
    """What the version that shows says beside its content, and the content.

    A revision is all of a message, so what is not to change is given again. Of a message that
    cannot be revised: nothing, and the decision says why.
    """
    from tapefold.domain.tree import require_message

    final = require_message(session.state, message_id).final
    if final is None:
        return {}, ()
    where, position = session.state.locate(final.seq)
    (event,) = sessions.tapes.events_at(where, [position])
    fields = {name: getattr(event.body, name) for name in _SAID}
    return {**fields, "status": final.status, "extra": dict(event.body.extra)}, event.body.content


_SAID = (
    "model",
    "provider",
    "usage",
    "stop_reason",
    "error",
    "tool_name",
    "is_error",
    "custom_type",
    "display",
    "details",
    "name",
)
"""The fields of a message that a new text leaves as they are."""


def with_text(content: Content, text: str) -> Content:
    """The content with `text` where its text was; without any, in front of its tool calls."""
    from tapefold.domain.content import Block, TextBlock, ToolCallBlock

    new: list[Block] = [block for block in content if not isinstance(block, TextBlock)]
    first = next((i for i, block in enumerate(content) if isinstance(block, TextBlock)), None)
    if first is None:
        calls = (i for i, block in enumerate(new) if isinstance(block, ToolCallBlock))
        first = next(calls, len(new))
    new.insert(first, TextBlock(text=text))
    return tuple(new)


def _kept(types: list[str]) -> list[str]:
    """A note that says which other blocks the message still has."""
    from .words import count

    others = [name for name in dict.fromkeys(types) if name != "text"]
    if not others:
        return []
    said = ", ".join(count(types.count(name), f"{name.replace('_', ' ')} block") for name in others)
    return [f"its text is replaced; kept: {said}"]
