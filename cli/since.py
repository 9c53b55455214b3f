"""`--since`: a moment as people write it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[datetime]
else:
    ParamType = click.ParamType  # older releases of click have no type arguments

_UNITS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
    "w": 604_800,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
"""Unit to seconds; months count 30 days, years 365."""
_PART = re.compile(r"([0-9]{1,9}) *([a-z]+)[ ,]*")


def parse_since(text: str, now: datetime) -> datetime | None:
    """The moment that a text means; None where it means none.

    A day or a day and time (ISO 8601; without a zone in that of `now`), `today`, `yesterday`, or
    how long ago: `3h`, `2 days`, `1 week ago`, `1d 12h`.
    """
    said = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if said in ("today", "yesterday"):
        return midnight - timedelta(days=said == "yesterday")
    seconds = _seconds(said.removesuffix("ago").strip())
    if seconds is not None:
        try:
            return now - timedelta(seconds=seconds)
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return moment.replace(tzinfo=now.tzinfo) if moment.tzinfo is None else moment


def _seconds(text: str) -> int | None:
    total, at = 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        unit = part[2] if part[2] in _UNITS else part[2].removesuffix("s")
        if unit not in _UNITS:
            return None
        total += int(part[1]) * _UNITS[unit]
        at = part.end()
    return total if text else None


class Since(ParamType):
    """A moment in the past."""

    name = "when"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment; wrong use where the text means none."""
        if isinstance(value, datetime):
            return value
        moment = parse_since(str(value), datetime.now().astimezone())
        if moment is None:
            self.fail(
                f"{value!r} is no moment; give a day (2026-03-02), `yesterday`, or how long ago "
                "(3h, 2 days)",
                param,
                ctx,
            )
        return moment
