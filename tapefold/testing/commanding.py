"""Commands from small numbers: what the random command sequences are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..domain.drafts import Draft
from ..domain.events import CustomRecorded
from ..domain.nodes import MESSAGE
from ..domain.session import Session
from ..domain.tree import LEAF, born
from .scribbling import CALL_IDS, pick


class Step(NamedTuple):
    """A command on a session: a verb of `COMMANDS`, and numbers from 0 on that choose its
    arguments among what the session holds. Some choices are wrong on purpose."""

    verb: str
    a: int = 0
    b: int = 0
    c: int = 0

    def __call__(self, session: Session) -> Any:
        """Run it. Raises only `TapefoldError`, if the aggregate is right."""
        return COMMANDS[self.verb](session, self.a, self.b, self.c)


def _entries(session: Session, messages: bool = False) -> list[str]:
    """Ids that exist, in the order of the tape, and one that does not."""
    state = session.state
    nodes = sorted((born(n), key) for key, n in state.entries.items())
    known = [key for _, key in nodes]
    if messages:
        known = [key for key in known if state.entries.get(key).kind == MESSAGE]  # type: ignore[union-attr]
    return [*known, "nowhere"]


def _message(session: Session, n: int) -> str:
    return str(pick(_entries(session, messages=True), n))


def _struck(session: Session, n: int) -> str:
    """Mostly a message that was struck out."""
    ids = _entries(session, messages=True)
    found = [session.state.message(one) for one in ids]
    struck = [one for one, state in zip(ids, found, strict=True) if state and state.struck]
    return str(pick(struck or ids, n))


def _caller(session: Session, n: int) -> str:
    """Mostly a message that can hold calls."""
    ids = _entries(session, messages=True)
    found = [session.state.message(one) for one in ids]
    able = [
        one
        for one, state in zip(ids, found, strict=True)
        if state and state.latest.role == "assistant"
    ]
    return str(pick([*(able or ids), "nowhere"], n))


def _meta(n: int) -> dict[str, Any]:
    """Now and then a provenance key, of few, so that they are used again."""
    return {"key": f"k{n % 4}"} if n % 5 == 0 else {}


def _place(session: Session, n: int) -> dict[str, Any]:
    """Mostly under the leaf; sometimes elsewhere."""
    under = LEAF if n % 4 else pick([*_entries(session), None], n // 4)
    return {"under": under}


def _ids(session: Session, n: int) -> dict[str, Any]:
    """Now and then ids of the caller's own, some of them taken."""
    if n % 6 == 0:
        return {"entry_id": pick(_entries(session), n)}
    if n % 6 == 1:
        return {"message_id": f"m{n % 5}"}
    return {}


def _content(n: int) -> Any:
    calls = [
        {"type": "tool_call", "call_id": call_id, "name": "tool"} for call_id in CALL_IDS[: n % 3]
    ]
    return [{"type": "text", "text": f"t{n % 7}"}, *calls]


def _new(session: Session, a: int, b: int, c: int) -> dict[str, Any]:
    order = {"order_seq": a % 9 - 1} if c % 9 == 4 else {}
    return {**_place(session, b), **_ids(session, c), **_meta(a), **order}


def _import(session: Session, a: int, b: int, c: int) -> Any:
    """A record as an importer brings it, with the parent that it likes."""
    parent = pick(_entries(session), b)
    head = {"entry_id": f"i{session.version}", "parent_id": parent, "takes_leaf": a % 2 == 0}
    body = CustomRecorded.BODY.build(namespace="import")
    return session.append_imported([Draft.of(CustomRecorded, body, **head)])


def _fork(session: Session, a: int, b: int, c: int) -> Any:
    leaf = LEAF if b % 2 else pick([*_entries(session), None], b)
    fork_id = None if c % 3 else f"f{c % 2}"
    return session.fork(leaf=leaf, fork_id=fork_id, inherit=a % 5 != 0)


def _compact(session: Session, a: int, b: int, c: int) -> Any:
    keep = pick([*_entries(session), None], a)
    expected = b % (session.version + 2) if b % 3 == 0 else None
    return session.compact(f"s{c % 3}", first_kept=keep, expected_position=expected, **_meta(c))


COMMANDS: Final[dict[str, Callable[[Session, int, int, int], Any]]] = {
    "user": lambda s, a, b, c: s.finalize("user", f"u{a}", **_new(s, a, b, c)),
    "assistant": lambda s, a, b, c: s.finalize("assistant", _content(a), **_new(s, a, b, c)),
    "other": lambda s, a, b, c: s.finalize(
        pick(("system", "custom", "bash_execution", "nobody"), a),
        f"o{a}",
        status=pick(("sent", "error", "lost"), b),
        **_new(s, a, b, c),
    ),
    "draft": lambda s, a, b, c: s.draft("assistant", _content(a), **_new(s, a, b, c)),
    "redraft": lambda s, a, b, c: s.draft(
        "assistant", _content(b), message_id=_caller(s, a), **_meta(c)
    ),
    "finish": lambda s, a, b, c: s.finalize(
        "assistant", _content(b), message_id=_caller(s, a), **_meta(c)
    ),
    "result": lambda s, a, b, c: s.finalize(
        "tool_result",
        f"r{a}",
        for_call=pick(CALL_IDS, a),
        for_message_id=None if b % 2 else _caller(s, b),
        interruption=c % 4 == 0,
        **_new(s, a, b, c),
    ),
    "revise": lambda s, a, b, c: s.revise(
        _message(s, a), _content(b), keep_summary=c % 3 == 0, **_meta(c)
    ),
    "retract": lambda s, a, b, c: s.retract(
        [_message(s, a), *([_message(s, b)] if b % 3 == 0 else [])], **_meta(c)
    ),
    "retract_from": lambda s, a, b, c: s.retract_from(pick(_entries(s), a), **_meta(c)),
    "restore": lambda s, a, b, c: s.restore(_struck(s, a), **_meta(c)),
    "call_fact": lambda s, a, b, c: s.record_call(
        _caller(s, a),
        pick(CALL_IDS, b),
        "tool",
        status=pick(("success", "pending", "error", "lost"), c),
        **_meta(c),
    ),
    "result_fact": lambda s, a, b, c: s.record_result(
        _caller(s, a),
        pick(CALL_IDS, b),
        f"f{c}",
        status=pick(("success", "pending", "error"), c),
        **_meta(c),
    ),
    "compact": _compact,
    "hand_off": lambda s, a, b, c: s.hand_off(
        f"h{a}" if b % 5 else " ", first_kept=pick([*_entries(s), None, None], a), **_meta(c)
    ),
    "reset": lambda s, a, b, c: s.reset_summary(**_place(s, b), **_meta(c)),
    "branch_summary": lambda s, a, b, c: s.summarize_branch(
        pick(_entries(s), a), f"b{a}", **_place(s, b), **_meta(c)
    ),
    "edit": lambda s, a, b, c: s.edit_context(
        pick(_entries(s), a), None if b % 2 else f"x{b}", **_place(s, c), **_meta(c)
    ),
    "move": lambda s, a, b, c: s.move_leaf(pick([*_entries(s), None], a), **_meta(c)),
    "move_before": lambda s, a, b, c: s.move_leaf_before(_message(s, a), **_meta(c)),
    "label": lambda s, a, b, c: s.label(
        pick(_entries(s), a), f"l{b % 3}" if b % 4 else None, **_meta(c)
    ),
    "title": lambda s, a, b, c: s.set_title(f"t{a % 3}" if a % 4 else None, **_meta(c)),
    "info": lambda s, a, b, c: s.set_info(directory=f"d{a}", **_meta(c)),
    "model": lambda s, a, b, c: s.set_model(f"m{a % 3}", **_place(s, b), **_meta(c)),
    "thinking": lambda s, a, b, c: s.set_thinking_level("high", **_place(s, b), **_meta(c)),
    "custom": lambda s, a, b, c: s.record_custom("test", a, **_place(s, b), **_meta(c)),
    "usage": lambda s, a, b, c: s.record_usage({"n": a}, **_meta(c)),
    "fork": _fork,
    "import": _import,
}
