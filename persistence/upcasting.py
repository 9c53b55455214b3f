"""Upcasters: functions that turn the stored shape of an old class version into the next one.

Each is a step from version n to n + 1 of one kind, `(head, body) -> (head, body)`, both plain
JSON objects. It must be pure: the same for the same input, without clock, store or randomness,
for it runs again at every reading. An upcaster that stands here but is wired to nothing helps
nobody, so every mapper checks the whole chain when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapefold.domain.errors import TapefoldError
from tapefold.domain.events import EVENTS, Event

Json = dict[str, Any]
Upcaster = Callable[[Json, Json], tuple[Json, Json]]


class UpcasterFault(TapefoldError):
    """The registered upcasters and the class versions of the events do not fit together."""


class Upcasters:
    """A registry of upcasters by kind and by the version that they start from."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, int], list[Upcaster]] = {}

    def step(self, kind: str, from_version: int) -> Callable[[Upcaster], Upcaster]:
        """Decorate the function that turns `from_version` of a kind into the version after it."""

        def register(upcaster: Upcaster) -> Upcaster:
            self._steps.setdefault((kind, from_version), []).append(upcaster)
            return upcaster

        return register

    def check(self, events: Iterable[type[Event]]) -> None:
        """Raise `UpcasterFault`, which lists every step that is missing, doubled or beyond.

        Each event class needs exactly one step from each version below its `class_version`.
        """
        versions = {event.KIND: event.class_version for event in events}
        faults = [
            f"{kind} has no step from version {start}"
            for kind, version in versions.items()
            for start in range(1, version)
            if (kind, start) not in self._steps
        ]
        for (kind, start), found in self._steps.items():
            if kind not in versions:
                faults.append(f"{kind} is no kind of event, but has a step from version {start}")
            elif not 1 <= start < versions[kind]:
                faults.append(
                    f"{kind} has a step from version {start}, but is at version {versions[kind]}"
                )
            if len(found) > 1:
                faults.append(f"{kind} has {len(found)} steps from version {start}")
        if faults:
            raise UpcasterFault(
                f"upcasters: {'; '.join(faults)}; register exactly one step from each version "
                "below the class_version of the event (docs/schema-evolution.md)"
            )

    def upcast(self, event: type[Event], version: int, head: Json, body: Json) -> tuple[Json, Json]:
        """Head and body in the shape of the event's present class version.

        Raises `ValueError` that names the step, if one fails or gives something else back.
        """
        for start in range(version, event.class_version):
            name = f"the upcaster of {event.KIND} from version {start}"
            try:
                (upcaster,) = self._steps[event.KIND, start]
                head, body = upcaster(head, body)
            except Exception as error:
                raise ValueError(f"{name} failed: {type(error).__name__}: {error}") from error
            if not (isinstance(head, dict) and isinstance(body, dict)):
                raise ValueError(f"{name} gave no two objects back")
        return head, body


UPCASTERS = Upcasters()
"""The steps of tapefold's own events: none yet, all of them are at version 1."""


def check_upcasters(upcasters: Upcasters = UPCASTERS) -> None:
    """Check a registry against all events that exist. Raises `UpcasterFault`."""
    upcasters.check(EVENTS.values())
