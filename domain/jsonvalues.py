"""JSON values: what may be stored, their canonical text, their digests.

Text may hold lone surrogates, integers any size, floats NaN and infinities: whatever a JSON
file can bring in must come out again. What JSON cannot say (bytes, sets, dates, keys that are
no text) is refused with its path.
"""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Annotated, Any

from .errors import InvalidValue
from .records import Check

JsonValue = Any
"""A value that `check_json` accepts."""

MAX_DEPTH = 200
"""Deepest nesting that is stored as a value; deeper text is kept raw. Unit: levels."""


def _canonical_encoder() -> Callable[[Any], str]:
    """What writes canonical text.

    `JSONEncoder.encode` makes an encoder in C anew for every value, and a function with it: as
    much work as the encoding. Where Python has that encoder, it is made once.
    """
    plain = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    escape = json.encoder.encode_basestring_ascii
    pieces = make(None, plain.default, escape, None, ":", ",", True, False, True)
    return lambda value: "".join(pieces(value, 0))


_canonical_text = _canonical_encoder()

MAX_DIGITS = 4300
"""Longest whole number; Python turns no longer one into text or back. Unit: decimal digits."""

_SCALARS = (str, bool, int, float, type(None))
_PLAIN = frozenset({str, bool, float, type(None)})
_TOO_LONG = 10**MAX_DIGITS
_TOO_LOW = -_TOO_LONG


def check_json(value: Any, what: str = "value") -> Any:
    """Return `value` if it can be stored as JSON, else raise `InvalidValue` with the path.

    Iterative: nesting is data from outside. Tuples become lists, mappings plain dicts.
    """
    if isinstance(value, _SCALARS):
        return _scalar(value, what)
    root: list[Any] = [value]
    todo: list[tuple[Any, Any, str, int]] = [(root, 0, what, 1)]
    while todo:
        holder, key, path, depth = todo.pop()
        item = holder[key]
        if isinstance(item, _SCALARS):
            _scalar(item, path)
            continue
        if depth > MAX_DEPTH:
            raise InvalidValue(f"{what} is nested deeper than {MAX_DEPTH} levels; flatten it")
        if type(item) is dict or isinstance(item, Mapping):
            copy: dict[str, Any] = {}
            for name, inner in item.items():
                if not isinstance(name, str):
                    raise InvalidValue(f"{path} has the key {name!r}; JSON keys are text")
                copy[name] = inner
                if not _is_plain(inner):
                    todo.append((copy, name, f"{path}.{name}", depth + 1))
            holder[key] = copy
        elif isinstance(item, list | tuple):
            items = list(item)
            for i, inner in enumerate(items):
                if not _is_plain(inner):
                    todo.append((items, i, f"{path}[{i}]", depth + 1))
            holder[key] = items
        else:
            raise InvalidValue(
                f"{path} is a {type(item).__name__}, which JSON cannot hold; "
                "turn it into text, numbers, lists or objects first"
            )
    return root[0]


def _is_plain(value: Any) -> bool:
    """Whether there is nothing to check: nearly every value that a message brings."""
    kind = type(value)
    return kind in _PLAIN or (kind is int and _TOO_LOW < value < _TOO_LONG)


def _scalar(value: Any, path: str) -> Any:
    if isinstance(value, int) and not _TOO_LOW < value < _TOO_LONG:
        raise InvalidValue(f"{path} is a whole number of more than {MAX_DIGITS} digits")
    return value


def canonical(value: JsonValue) -> bytes:
    """The canonical text of a JSON value: keys sorted, no spaces, ASCII escapes."""
    return _canonical_text(value).encode()


def sha256_hex(value: JsonValue) -> str:
    """SHA-256, in hex, of the canonical text: the hash of manifests."""
    return sha256(canonical(value)).hexdigest()


def digest(value: JsonValue) -> str:
    """The first 128 bits of that hash: what says that two contents are the same."""
    return sha256(_canonical_text(value).encode()).hexdigest()[:32]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expected text")
    return value


def _text_or_none(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("expected text")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("expected a JSON object")
    checked: dict[str, Any] = check_json(value)
    return checked


# pydantic's own str refuses lone surrogates, its own dict copies without checking.
Text = Annotated[str, Check(_text)]
# One validator, not a union of two: that would cost a third of the making of a message.
MaybeText = Annotated[str | None, Check(_text_or_none)]
Json = Annotated[Any, Check(check_json)]
JsonObject = Annotated[dict[str, Any], Check(_object)]
