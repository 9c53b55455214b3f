"""`tapefold append`: say something at the leaf of a session, or elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import click

from .answers import decide, key_option, print_answer
from .options import complete_entry, json_option, session_argument
from .texts import WORDS, content_option, read_content, text_source

if TYPE_CHECKING:
    from tapefold import Session, Sessions
    from tapefold.domain.kernel import State
    from tapefold.domain.outcome import Outcome

ROLES = ("user", "assistant", "system", "tool_result")
DUPLICATE_RESULT = "duplicate_result"
"""Code of the warning that a call had a result already."""


@click.command("append")
@session_argument
@text_source
@content_option
@click.option(
    "--role", type=click.Choice(ROLES), default=ROLES[0], show_default=True, help="Who says it."
)
@click.option(
    "--under",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="The entry that it hangs under: an id, a position, or `none` for the root.  "
    "[default: the leaf; an assistant message has to say it]",
)
@click.option("--model", type=WORDS, metavar="NAME", help="The model that answered (assistant).")
@click.option(
    "--provider",
    type=WORDS,
    metavar="NAME",
    help="Who served that model (assistant).  [default: the provider stays as it was]",
)
@click.option(
    "--call", type=WORDS, metavar="ID", help="The tool call that it answers (tool_result)."
)
@click.option(
    "--of",
    "caller",
    metavar="ENTRY",
    shell_complete=complete_entry,
    help="The message that made the call (tool_result).  [default: found on the path]",
)
@click.option("--error", "is_error", is_flag=True, help="The tool failed (tool_result).")
@key_option
@json_option
@click.pass_obj
def command(
    database: str | None,
    session: str,
    text: str | None,
    file: IO[bytes] | None,
    blocks: IO[bytes] | None,
    role: str,
    under: str | None,
    model: str | None,
    provider: str | None,
    call: str | None,
    caller: str | None,
    is_error: bool,
    key: str | None,
    as_json: bool,
) -> None:
    """Append a message. TEXT may be `-`, or left out, to take it from standard input.

    It takes the leaf if it hangs under it, else it begins a branch. With --model that model rules
    from there on; the provider stays, unless --provider names another.
    """
    from tapefold.domain.tree import LEAF, LeafRef
    from tapefold.finding import find_entry

    from .named import named_session
    from .stores import open_sessions

    fields = _fields(role, under, model, provider, call, is_error)
    if caller is not None and role != "tool_result":
        raise click.UsageError("--of is for --role tool_result")
    said = read_content(text, file, blocks)
    with open_sessions(database) as sessions:
        session_id, state = named_session(sessions, session)
        place: LeafRef = LEAF
        if under is not None:
            place = find_entry(sessions, state, under)
        if role == "tool_result":
            fields["for_message_id"] = _caller(sessions, state, caller, str(call))

        def append(now: Session) -> Outcome:
            outcome = now.finalize(role, said, under=place, key=key, **fields)
            return _noted(now.state, outcome) if role == "tool_result" else outcome

        done = decide(sessions, session_id, append)
    beside = done.outcome.entry_id != done.leaf
    notes = [f"beside the path: the leaf is still {done.leaf or 'none'}"] if beside else []
    print_answer(done, as_json, notes)


def _caller(sessions: Sessions, state: State, reference: str | None, call: str) -> str | None:
    """The message that made a call; None where the command has to find it on the path.

    Raises `WrongKind` where nothing on the path made it.
    """
    from tapefold.domain.errors import WrongKind
    from tapefold.domain.nodes import MessageNode
    from tapefold.domain.tree import upwards

    from .named import named_message

    if reference is not None:
        return named_message(sessions, state, reference)
    for node in upwards(state, state.leaf):
        if isinstance(node, MessageNode):
            known = state.message(node.message_id)
            held = () if known is None else known.latest.call_ids
            if call in held or call in state.fact_call_ids(node.message_id):
                return None
    raise WrongKind(
        f"session {state.session_id!r}: no message on the path made the call {call!r}; "
        "name the one that did with --of ENTRY"
    )


def _noted(state: State, outcome: Outcome) -> Outcome:
    """The outcome of appending a result, with a warning where its call has another one."""
    from tapefold.domain.calls import DUPLICATE, pair, pair_row
    from tapefold.domain.nodes import MessageNode
    from tapefold.domain.tree import path
    from tapefold.domain.view import Warning

    if not outcome.changed or outcome.message_id is None:
        return outcome
    nodes = [n for n in path(state, outcome.entry_id) if isinstance(n, MessageNode)]
    pairing = pair(state, [pair_row(state, node, False) for node in nodes])
    if pairing.left_over.get(outcome.message_id) != DUPLICATE:
        return outcome
    text = "its call has a result already, which counts; this one is kept, and sent to no model"
    warning = Warning(DUPLICATE_RESULT, text, (str(outcome.entry_id),))
    return replace(outcome, warnings=(*outcome.warnings, warning))


def _fields(
    role: str,
    under: str | None,
    model: str | None,
    provider: str | None,
    call: str | None,
    is_error: bool,
) -> dict[str, Any]:
    """What the message says beside its content; wrong use where the role has no such thing."""
    if role == "assistant":
        if under is None:
            raise click.UsageError("an assistant message needs --under, the entry that it answers")
    elif model is not None or provider is not None:
        raise click.UsageError("--model and --provider are for --role assistant")
    if role == "tool_result":
        if call is None:
            raise click.UsageError("a tool_result needs --call, the id of the call it answers")
        return {"for_call": call, "is_error": is_error}
    if call is not None or is_error:
        raise click.UsageError("--call and --error are for --role tool_result")
    return {"model": model, "provider": provider}
