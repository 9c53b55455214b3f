"""`tapefold repair`: broken tool history, mended on a branch of its own."""

from __future__ import annotations

from typing import Any

import click

from .options import json_option, session_argument


@click.command("repair")
@session_argument
@click.option("--dry-run", is_flag=True, help="Only say what would be appended.")
@json_option
@click.pass_obj
def command(database: str | None, session: str, dry_run: bool, as_json: bool) -> None:
    """Put tool calls and results in order: each call has one result, directly after it.

    What stands wrong is appended again, in order, as a branch that takes the leaf; nothing old
    is touched. Done again, it changes nothing. Reading a session never needs it: what a model
    is sent is in order anyway.
    """
    from .stores import open_sessions
    from .view import read_state

    with open_sessions(database) as sessions:
        state = read_state(sessions, session, None)
        if dry_run:
            answer = _planned(sessions, state)
        else:
            answer = _shape(sessions.execute(state.session_id, lambda found: found.repair()))
    if as_json:
        from .jsontext import dump_json

        click.echo(dump_json(answer))
    else:
        _print(answer)


def _planned(sessions: Any, state: Any) -> dict[str, Any]:
    from tapefold.domain.repair import plan_repair
    from tapefold.domain.view import Bodies, build_view

    bodies = Bodies(state, sessions.tapes)
    found = plan_repair(build_view(state, sessions.tapes), bodies.__getitem__)
    answer: dict[str, Any] = {
        "session_id": state.session_id,
        "position": state.position,
        "entry_id": state.leaf,
        "changed": found is not None,
        "dry_run": True,
    }
    if found is not None:
        answer.update(parent_id=found.parent, appended=len(found.steps) + 1, **found.counts())
        answer["dropped"] = list(found.dropped)
    return answer


def _shape(done: Any) -> dict[str, Any]:
    answer = {
        "session_id": done.session_id,
        "position": done.position,
        "entry_id": done.entry_id,
        "changed": done.changed,
        "dry_run": False,
    }
    if done.changed:
        for name in ("parent_id", "appended", "synthesized", "reordered", "orphans", "duplicates"):
            answer[name] = getattr(done, name)
        answer["dropped"] = list(done.dropped)
        answer["warnings"] = [{"code": w.code, "text": w.text} for w in done.warnings]
    return answer


def _print(answer: dict[str, Any]) -> None:
    from .paper import Paper, Span

    paper = Paper()
    if not answer["changed"]:
        paper.line("nothing to repair")
        return
    would = "would append" if answer["dry_run"] else "appended"
    under = answer["parent_id"] or "the root"
    paper.line(f"{would} {answer['appended']} entries under ", Span(under, "mark"))
    for name, text in (
        ("synthesized", "calls had no result"),
        ("reordered", "results stood elsewhere"),
        ("orphans", "results of no call are left out"),
        ("duplicates", "second results are left out"),
    ):
        if answer[name]:
            paper.line(f"  {answer[name]} {text}")
    if not answer["dry_run"]:
        paper.line("  leaf ", Span(str(answer["entry_id"]), "mark"))
        for warning in answer["warnings"]:
            paper.line("  ", Span(warning["text"], "warning"))
