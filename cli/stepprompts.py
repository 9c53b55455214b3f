"""`replay --step` without a full terminal: a prompt, an answer, lines. For pipes and TERM=dumb."""

from __future__ import annotations

import click

from .follower import Follower
from .known import Known
from .replaying import Screen
from .stepping import ANCHOR, TOOL, USER, Stepper
from .terminal import read_answer

HELP = """\
Enter or n     the next event
b              the event before
u U            the next user message, the one before
a A            the next anchor, the one before: compaction, hand-off, reset
t T            the next tool call, the one before
a number       jump to that position
v c r          print the view, the context, the event as it stands on the tape
q              quit"""

_KINDS = {"u": USER, "a": ANCHOR, "t": TOOL}


class StepPrompts:
    """One stepper, line by line. `follows`: the tape is looked at for what others append."""

    def __init__(self, stepper: Stepper, *, follows: bool = False) -> None:
        self.stepper = stepper
        self._follows = follows
        known = Known(stepper.follower.state, stepper.sessions.tapes)
        self._screen = Screen(stepper.session_id, known)

    def run(self) -> None:
        """Until the user quits, or the answers end."""
        stepper = self.stepper
        self._show()
        while True:
            if self._follows:
                stepper.look_again()
            answer = read_answer(f"{stepper.position} of {stepper.count} (? help) > ")
            if answer is None:
                click.echo()
                return
            if answer in ("q", "quit"):
                return
            self._do(answer)

    def _do(self, answer: str) -> None:
        stepper = self.stepper
        digits = answer.lstrip(":#").strip()
        if answer in ("", "n", "j"):
            self._go(stepper.position + 1)
        elif answer in ("b", "p", "k"):
            self._go(stepper.position - 1)
        elif answer.lower() in _KINDS:
            self._find(_KINDS[answer.lower()], answer.islower())
        elif answer in ("v", "c", "r"):
            self._see(answer)
        elif answer in ("?", "h", "help"):
            click.echo(HELP)
        elif digits.isascii() and digits.isdigit() and len(digits) < len(str(10**18)):
            self._go(int(digits))
        else:
            click.echo("not understood; ? prints what is")

    def _go(self, position: int) -> None:
        stepper = self.stepper
        if stepper.go(position):
            self._show()
        elif position == stepper.position + 1:
            click.echo("this is the last event")
        elif position == 0 and stepper.position == 1:
            click.echo("this is the first event")
        elif position == stepper.position:
            self._show()
        else:
            click.echo(f"the tape has positions 1 to {stepper.count}")

    def _find(self, kind: str, forward: bool) -> None:
        position = self.stepper.find(kind, forward)
        if position is None:
            click.echo(f"no {kind} {'comes after' if forward else 'stands before'} this")
        else:
            self._go(position)

    def _show(self) -> None:
        follower: Follower = self.stepper.follower
        self._screen.show(self.stepper.event, self.stepper.effects, follower)

    def _see(self, what: str) -> None:
        from tapefold import build_context, build_view

        from .jsontext import dump_json
        from .prompt import print_context
        from .shapes import event_shape
        from .transcript import print_view

        stepper = self.stepper
        if what == "r":
            click.echo(dump_json(event_shape(stepper.event), exact=True, indent=2))
            return
        view = build_view(stepper.follower.state, stepper.sessions.tapes)
        if what == "v":
            print_view(view, full=False)
        else:
            print_context(build_context(view), full=False)
