"""What a caller may pass for a version of a message: types and ranges, before anything else.

Whatever comes in is hostile. A wrong value is refused in words; it must neither fail later with
an error of Python's, nor reach the tape, where it could not be stored.
"""

from __future__ import annotations

from typing import Final, Protocol

from ..errors import InvalidValue, shown
from ..events import Event, MessageFinalized
from ..heads import FINAL_STATUSES
from ..nodes import ROLES

MAX_ORDER_SEQ: Final = 2**53
"""Largest order number: what every JSON reader holds exactly."""


class AskedVersion(Protocol):
    """The parts of a version, as the caller gave them."""

    @property
    def event(self) -> type[Event]: ...
    @property
    def role(self) -> object: ...
    @property
    def status(self) -> object: ...
    @property
    def message_id(self) -> object: ...
    @property
    def order_seq(self) -> object: ...
    @property
    def call_id(self) -> object: ...
    @property
    def owner(self) -> object: ...
    @property
    def interruption(self) -> object: ...


def check_version(asked: AskedVersion) -> None:
    """Raise `InvalidValue` that names the first value that cannot be."""
    if not isinstance(asked.role, str) or asked.role not in ROLES:
        raise InvalidValue(f"there is no role {shown(asked.role)}; take one of {', '.join(ROLES)}")
    if asked.event is MessageFinalized:
        check_final_status(asked.status, "a final message")
    if asked.message_id is not None and not isinstance(asked.message_id, str):
        raise InvalidValue("message_id= is text")
    check_order_seq(asked.order_seq)
    if asked.role == "tool_result":
        if not isinstance(asked.call_id, str) or not asked.call_id:
            raise InvalidValue("a tool_result message needs for_call=, the call that it answers")
        if asked.owner is not None and not isinstance(asked.owner, str):
            raise InvalidValue("for_message_id= is text: the message that holds the call")
        if not isinstance(asked.interruption, bool):
            raise InvalidValue("interruption= is true or false")
    elif (asked.call_id, asked.owner) != (None, None) or asked.interruption:
        raise InvalidValue("only a tool_result message answers a call")


def check_final_status(status: object, what: str) -> None:
    """Raise `InvalidValue` unless the status is one of a final version."""
    if not isinstance(status, str) or status not in FINAL_STATUSES:
        raise InvalidValue(f"{what} is sent or error, not {shown(status)}")


def check_order_seq(number: object) -> None:
    """Raise `InvalidValue` unless it is a whole number from 0 on, or None."""
    # A bool is an int to Python, and no number to a reader.
    if number is not None and (type(number) is not int or not 0 <= number <= MAX_ORDER_SEQ):
        raise InvalidValue(f"order_seq is a whole number from 0 to {MAX_ORDER_SEQ}")
