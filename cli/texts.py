"""Text for a command: an argument, `-` for standard input, or a file. The same everywhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[str]
else:
    ParamType = click.ParamType  # older releases of click have no type arguments

F = TypeVar("F", bound=Callable[..., Any])

STDIN = "-"


class Words(ParamType):
    """A short text as an option: it has to be UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text. Raises `InvalidValue` for bytes that are none."""
        where = "an argument" if param is None else max(param.opts, key=len)
        return check_argument(str(value), where)


WORDS = Words()


def file_option(function: F) -> F:
    """`--file`: the text stands in a file."""
    return click.option(
        "--file",
        "file",
        type=click.File("rb"),
        metavar="FILE",
        help="Take the text from a file; `-`: from standard input.",
    )(function)


def text_source(function: F) -> F:
    """TEXT and `--file`: for a command that is about one text."""
    return click.argument("text", required=False)(file_option(function))


def content_option(function: F) -> F:
    """`--json-content`: all blocks of a message."""
    return click.option(
        "--json-content",
        "blocks",
        type=click.File("rb"),
        metavar="FILE",
        help="Take the whole content from a JSON file instead: a list of blocks, as `view "
        "--json` prints them; `-`: from standard input.",
    )(function)


def read_text(text: str | None, file: IO[bytes] | None, *, what: str = "TEXT") -> str:
    """The text from the argument, a file or standard input; it has to be UTF-8, and not empty.

    The line break at the end of a file is no part of it. `what` names the argument.
    """
    if text is not None and file is not None:
        raise click.UsageError(f"give {what} or --file, not both")
    if file is None and (text is None or text == STDIN):
        if sys.stdin is None or (text is None and sys.stdin.isatty()):
            raise click.UsageError(
                f"there is no text; give {what}, --file, or - for standard input"
            )
        file = sys.stdin.buffer
    if file is not None:
        text = decoded(file.read(), name_of(file)).removesuffix("\n").removesuffix("\r")
    assert text is not None
    check_text(text)
    return text


def read_cleared_or_text(clear: bool, text: str | None, file: IO[bytes] | None) -> str | None:
    """The text, or None with `--clear`."""
    if not clear:
        return read_text(text, file)
    if text is not None or file is not None:
        raise click.UsageError("give a text or --clear, not both")
    return None


def read_content(text: str | None, file: IO[bytes] | None, blocks: IO[bytes] | None) -> Any:
    """What a message is to hold: text, or the blocks of `--json-content`."""
    if blocks is None:
        return read_text(text, file)
    if text is not None or file is not None:
        raise click.UsageError("give a text or --json-content, not both")
    return _checked_blocks(read_json(blocks), name_of(blocks))


def _checked_blocks(value: Any, name: str) -> list[Any]:
    """A list of blocks of known types: one whose type is mistyped would be kept, and never show.

    A block of another type has to be meant: it stands in one of the type `other`. Raises
    `InvalidValue`.
    """
    from tapefold import InvalidValue
    from tapefold.domain.content import BLOCKS
    from tapefold.domain.errors import shown

    if not isinstance(value, list):
        raise InvalidValue(f'{name} is no list of blocks; write [{{"type": "text", "text": "…"}}]')
    for number, block in enumerate(value, 1):
        if not isinstance(block, dict):
            raise InvalidValue(f'{name}: block {number} is no object, as {{"type": "text", …}} is')
        kind = block.get("type")
        if not isinstance(kind, str) or kind not in BLOCKS:
            raise InvalidValue(
                f"{name}: block {number} has the type {shown(kind)}; the types are "
                f'{", ".join(BLOCKS)} (a block of any other type is its "value")'
            )
    return value


def read_json(file: IO[bytes]) -> Any:
    """The JSON value that a file holds. Raises `InvalidValue` that says where it is none."""
    from tapefold import InvalidValue

    name = name_of(file)
    try:
        return json.loads(decoded(file.read(), name))
    except json.JSONDecodeError as error:
        raise InvalidValue(
            f"{name} is not JSON (line {error.lineno}, column {error.colno}): {error.msg}"
        ) from None
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        raise InvalidValue(f"{name} cannot be read as JSON: {error}") from None


def decoded(data: bytes, name: str) -> str:
    """Bytes as text. Raises `InvalidValue` that names the first byte that is no UTF-8."""
    from tapefold import InvalidValue

    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidValue(
            f"{name} is not UTF-8 (byte {error.start + 1} is {data[error.start]:#04x}); "
            "convert it first"
        ) from None


def check_text(text: str) -> None:
    """Refuse an argument that is not UTF-8, and text of white space alone."""
    check_argument(text, "the text")
    if not text.strip():
        raise click.UsageError("the text is empty")


def check_argument(text: str, what: str) -> str:
    """Refuse an argument whose bytes are not UTF-8: Python hands them over as lone surrogates."""
    from tapefold import InvalidValue

    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidValue(f"{what} is not UTF-8; convert it first")
    return text


def name_of(file: IO[bytes]) -> str:
    """How a message calls a file."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and not name.startswith("<") else "standard input"
