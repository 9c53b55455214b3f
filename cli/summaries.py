"""Where a summary comes from: an argument, a file, standard input, or a command that is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from .options import POSITION
from .texts import file_option, read_text

if TYPE_CHECKING:
    from .covered import Covered

F = TypeVar("F", bound=Callable[..., Any])


def summary_options(function: F) -> F:
    """`--summary`, `--file`, `--with` and `--made-at`."""
    for option in (
        click.option(
            "--made-at",
            type=POSITION,
            metavar="POSITION",
            help="The position at which the summary was made: it is refused if what it covers "
            "has changed since.",
        ),
        click.option(
            "--with",
            "asked",
            metavar="COMMAND",
            help="Let a command write the summary: the shell runs it, what is to be covered "
            "goes to its standard input, what it prints is the summary.",
        ),
        file_option,
        click.option("--summary", metavar="TEXT", help="The summary; `-`: from standard input."),
    ):
        function = option(function)
    return function


class Summary:
    """The summary that the options of a command name."""

    def __init__(
        self,
        summary: str | None,
        file: IO[bytes] | None,
        asked: str | None,
        made_at: int | None,
    ) -> None:
        if sum(given is not None for given in (summary, file, asked)) > 1:
            raise click.UsageError("give one of --summary, --file and --with")
        self.asked = asked
        self.given = summary is not None or file is not None
        if made_at is not None and not self.given:
            raise click.UsageError("--made-at goes with --summary or --file")
        if asked is not None and not asked.strip():
            raise click.UsageError("--with needs a command")
        self.text = read_text(summary, file, what="--summary") if self.given else None
        self.made_at = made_at

    def __bool__(self) -> bool:
        return self.given or self.asked is not None

    def alone(self) -> None:
        """Wrong use if a summary is given where it is only asked what one should cover."""
        if self:
            raise click.UsageError("what is to be covered is only shown: leave the summary out")

    def written(self, covered: Covered) -> str:
        """The summary's text. A command is asked now; nothing may be locked.

        Raises `CommandFailed`.
        """
        if self.text is not None:
            return self.text
        from .running import CommandFailed, answer_of

        assert self.asked is not None
        if not covered.text:
            raise CommandFailed(self.asked, "was not run, for there is nothing that it could read")
        return answer_of(self.asked, covered.text)

    def stood_at(self, covered: Covered) -> int | None:
        """Where the tape stood when the summary was made, as far as that is known."""
        return self.made_at if self.given else covered.position


def print_covered(covered: Covered, as_json: bool) -> None:
    """Print what a summary should cover."""
    if as_json:
        from .jsontext import dump_json
        from .shapes import covered_shape

        click.echo(dump_json(covered_shape(covered)))
        return
    from .paper import Paper

    if covered.text:
        Paper().block(covered.text)
