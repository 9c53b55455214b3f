"""The commands, by name. Each stands in a module of its own that is loaded when it is used."""

from __future__ import annotations

import os

import click

from tapefold import __version__

from .group import Commands

COMMANDS = {
    "In and out": {
        "import": "importing",
        "export": "export",
    },
    "Look": {
        "sessions": "sessions",
        "view": "view",
        "tree": "tree",
        "replay": "replay",
        "context": "context",
        "show": "show",
        "diff": "diff",
        "tape": "tape",
        "search": "search",
        "trace": "trace",
    },
    "Go on": {
        "new": "new",
        "append": "append",
        "model": "model",
        "thinking": "thinking",
        "compact": "compact",
        "reset-summary": "reset_summary",
        "handoff": "handoff",
    },
    "Edit": {
        "revise": "revise",
        "retract": "retract",
        "restore": "restore",
        "label": "label",
        "title": "title",
        "repair": "repair",
    },
    "Branch and fork": {
        "branch": "branch",
        "fork": "fork",
        "forks": "forks",
    },
    "Read models": {
        "projections": "projections",
    },
    "Care": {
        "events": "events",
        "doctor": "doctor",
        "completion": "completion",
    },
}
"""What they are for, to name, to module: in the order in which the help lists them."""


@click.group(
    cls=Commands,
    sections=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--db",
    metavar="STORE",
    help="Where the sessions are: a path, sqlite:///path or memory:.  [default: TAPEFOLD_DB, "
    "else the file of your own user]",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    metavar="MODULE",
    help="Import a module first, which holds events of your own; again for more. So does "
    "TAPEFOLD_IMPORT, for all of its names.",
)
@click.version_option(__version__, message="tapefold %(version)s")
@click.pass_context
def cli(ctx: click.Context, db: str | None, imports: tuple[str, ...]) -> None:
    """Keep, read, replay and fork the sessions of AI agents.

    Begin with `tapefold import FILE`, then look: `tapefold view last`.

    A SESSION is named by its id, by a beginning or an end of it that no other session has, by
    its title, or as `last`. An ENTRY is named by its id, by the beginning of it, or by its
    position: 5 or #5, as the tree shows it. Each command tells more, with examples, with --help.
    """
    ctx.obj = db
    listed = os.environ.get("TAPEFOLD_IMPORT", "")
    if imports or listed:
        from .imports import import_modules

        import_modules(imports, listed)
