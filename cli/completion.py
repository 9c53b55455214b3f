"""`tapefold completion`: makes a shell complete commands, sessions and entries."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that makes a shell complete commands, options, sessions and entries.

    Its first lines say how to install it. Sessions are offered with their titles, entries with
    their labels and first words, by id and by position.
    """
    from .shells import BASH, FISH, ZSH

    click.echo({"bash": BASH, "zsh": ZSH, "fish": FISH}[shell], nl=False)
