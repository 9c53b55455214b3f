"""Frozen values with named fields: what bodies and blocks are.

A record is checked by pydantic when a caller makes one, and behaves as a frozen pydantic model
does. It is none, since importing pydantic and building models takes longer than reading a whole
session: the checks are built when a class first needs them, and reading never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Self,
    TypeVar,
    dataclass_transform,
    get_type_hints,
)

if TYPE_CHECKING:
    from pydantic import BaseModel, GetCoreSchemaHandler
    from pydantic_core import CoreSchema

_REQUIRED: Final = object()
_set = object.__setattr__

Answer = TypeVar("Answer")


def once_a_class(function: Callable[[type[Any]], Answer]) -> Callable[[type[Any]], Answer]:
    """Decorate what is worked out once for each class: `functools.cache`, typed for classes."""
    kept: Any = cache(function)
    answer: Callable[[type[Any]], Answer] = kept
    return answer


class Check:
    """Metadata of an annotation: this function checks the value, instead of pydantic's own.

    `Annotated[str, Check(function)]`. The function answers what is kept, or raises `ValueError`.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """What pydantic asks for when it builds the checks of a class."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.function)


class _Made:
    """A default that is made anew for each record."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


def made_by(*, default_factory: Callable[[], Any]) -> Any:
    """The default of a field that is made anew for each record."""
    return _Made(default_factory)


class RecordField:
    """One field of a class of records."""

    __slots__ = ("_default", "_owner", "name")

    def __init__(self, owner: type[Record], name: str, default: object) -> None:
        self._owner = owner
        self._default = default
        self.name = name

    @property
    def annotation(self) -> Any:
        """Its type, without the check."""
        return get_type_hints(self._owner)[self.name]

    @property
    def checked(self) -> tuple[Any, Any]:
        """Its type with the check, and its default, as pydantic takes them."""
        said = _checked_types(self._owner)[self.name]
        if isinstance(self._default, _Made):
            from pydantic import Field

            return said, Field(default_factory=self._default.factory)
        return said, ... if self._default is _REQUIRED else self._default

    def is_required(self) -> bool:
        """Whether it has no default."""
        return self._default is _REQUIRED

    def default(self) -> Any:
        """Its default; where it has none, something that no value is equal to."""
        return self._default.factory() if isinstance(self._default, _Made) else self._default


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(made_by,))
class Record:
    """Base of the records. The fields are the annotations of a class and of its bases.

    Raises pydantic's `ValidationError`, which is a `ValueError`, for values that do not fit.
    """

    __slots__ = ("__dict__", "_given")

    __hash__ = None  # type: ignore[assignment]

    model_fields: ClassVar[Mapping[str, RecordField]] = {}
    """Name to field, those of the bases first."""

    _given: set[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__
        cls.model_fields = {
            **cls.model_fields,
            **{
                name: RecordField(cls, name, own.get(name, _REQUIRED))
                for name, said in own.get("__annotations__", {}).items()
                if "ClassVar" not in str(said)
            },
        }

    def __init__(self, /, **values: Any) -> None:
        checked = _checks(type(self))(**values)
        _set(self, "__dict__", checked.__dict__)
        _set(self, "_given", checked.model_fields_set)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """So that models of a host's own may have records as fields."""
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were given when it was made."""
        return self._given

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """A record of values that are known to be right; nothing is checked."""
        absent = [name for name in cls.model_fields if name not in values]
        fields = cls.model_fields
        kept = {name: fields[name].default() for name in absent if not fields[name].is_required()}
        return _filled(cls, {**kept, **values}, set(values))

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """A copy with other values in some fields; nothing is checked."""
        changed = update or {}
        fields_set = self._given.union(changed)
        return _filled(type(self), {**self.__dict__, **changed}, fields_set)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; copy it with model_copy()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; copy it with model_copy()")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        values = self.__dict__
        said = ", ".join(f"{n}={values[n]!r}" for n in self.model_fields if n in values)
        return f"{type(self).__name__}({said})"

    def __getstate__(self) -> tuple[dict[str, Any], set[str]]:
        return self.__dict__, self._given

    def __setstate__(self, state: tuple[dict[str, Any], set[str]]) -> None:
        _set(self, "__dict__", state[0])
        _set(self, "_given", state[1])


Kind = TypeVar("Kind", bound=Record)


def _filled(cls: type[Kind], values: dict[str, Any], fields_set: set[str]) -> Kind:
    record = cls.__new__(cls)
    _set(record, "__dict__", values)
    _set(record, "_given", fields_set)
    return record


@once_a_class
def _checked_types(cls: type[Record]) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@once_a_class
def _checks(cls: type[Record]) -> type[BaseModel]:
    """The model that checks the values of a class; built by pydantic once, of the same fields."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {name: field.checked for name, field in cls.model_fields.items()}
    return create_model(cls.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def what_does_not_fit(error: ValueError) -> str:
    """Which field of a record does not fit, and why, out of the error of making it."""
    problems: Iterable[Any] = error.errors(include_url=False) if hasattr(error, "errors") else ()
    for first in problems:
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error)
