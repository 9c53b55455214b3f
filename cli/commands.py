"""The commands, by name. Each stands in a module of its own that is loaded when it is used."""

from __future__ import annotations

import click

from tapefold import __version__

from .group import Commands

COMMANDS = {
    "import": "importing",
    "sessions": "sessions",
    "view": "view",
    "tape": "tape",
    "tree": "tree",
    "replay": "replay",
    "context": "context",
    "fork": "fork",
    "append": "append",
}
"""Name to module, in the order in which the help lists them."""


@click.group(
    cls=Commands,
    modules=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--db",
    metavar="STORE",
    help="Where the sessions are: a path, sqlite:///path or memory:.  [default: TAPEFOLD_DB, "
    "else the file of your own user]",
)
@click.version_option(__version__, message="tapefold %(version)s")
@click.pass_context
def cli(ctx: click.Context, db: str | None) -> None:
    """Keep, read, replay and fork the sessions of AI agents.

    A SESSION is named by its id, by a beginning or an end of it that no other session has, by
    its title, or as `last`. Each command tells more with --help.
    """
    ctx.obj = db
