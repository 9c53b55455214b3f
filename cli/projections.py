"""`tapefold projections`: runs, watches and rebuilds the read models."""

from __future__ import annotations

import click

from .group import Commands

COMMANDS = {
    "Run": {
        "run": "projecting.run",
        "status": "projecting.status",
    },
    "Rebuild": {
        "rebuild": "projecting.rebuild",
        "verify": "projecting.verify",
        "rollback": "projecting.rollback",
        "drop": "projecting.drop",
    },
    "Mend": {
        "parked": "projecting.parked",
        "retry": "projecting.retry",
        "refold": "projecting.refold",
    },
}


@click.group("projections", cls=Commands, sections=COMMANDS)
def command() -> None:
    """Run, watch and rebuild the read models: effective_view, branch_tree, trace_index.

    They stand in a folder beside the store, FILE.projections, and can be removed at any time: the
    next run builds them anew from the tapes.
    """
