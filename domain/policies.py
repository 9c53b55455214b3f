"""Policies: how much of the path a model is sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .errors import InvalidValue


@dataclass(frozen=True)
class Policy:
    """`anchored` says whether the ruling anchor is applied. Versions change with the rows."""

    name: str
    version: int
    anchored: bool


ANCHORED: Final = Policy("anchored", 1, True)
FULL: Final = Policy("full", 1, False)
POLICIES: Final = {policy.name: policy for policy in (ANCHORED, FULL)}


def policy_named(policy: Policy | str) -> Policy:
    """The policy with this name. Raises `InvalidValue`."""
    if isinstance(policy, Policy):
        return policy
    found = POLICIES.get(policy) if isinstance(policy, str) else None
    if found is None:
        raise InvalidValue(f"there is no policy {policy!r}; take one of {', '.join(POLICIES)}")
    return found
