"""Leftover fields: those of a value that a document of some format has no field for.

Every format carries them in the same way: under the program's own key in the document, message or part, by
the names of the model. There they take precedence over what the document states. A field that is added to the
model is carried from then on, without a change to any writer or reader.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, UnsetType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agent_journal.model import Bag

OwnFields = TypeVar("OwnFields", bound=Struct)


class Leftovers:
    """The fields of one type of the model, except those that a writer represents in its own way."""

    def __init__(self, kind: type[Struct], represented: Iterable[str]) -> None:
        excluded = set(represented)
        if unknown := excluded.difference(kind.__struct_fields__):
            raise ValueError(f"{kind.__name__} has no field {min(unknown)!r}")
        fields = [field for field in msgspec.structs.fields(kind) if field.name not in excluded]
        self._names = tuple(field.name for field in fields)
        self._defaults = tuple(_default(field) for field in fields)
        self._values = _values_getter(self._names)
        self._is_single = len(fields) == 1  # its value is no tuple
        self._nothing: Any = self._defaults[0] if self._is_single else self._defaults

    def of(self, value: Struct) -> Bag:
        """Get the leftover fields of a value that differ from their defaults."""
        own_fields: Bag = {}
        self.add(value, own_fields)
        return own_fields

    def add(self, value: Struct, own_fields: Bag) -> None:
        """Add the leftover fields of a value that differ from their defaults."""
        values = self._values(value)
        if values == self._nothing:
            return
        if self._is_single:
            own_fields[self._names[0]] = values
            return
        # Most values are the same object as the default, which is compared quickly.
        for name, stated, default in zip(self._names, values, self._defaults):  # noqa: B905 (faster)
            if stated is not default and stated != default:
                own_fields[name] = stated

    def exist_in(self, value: Struct) -> bool:
        """Whether a value has leftover fields that differ from their defaults."""
        return bool(self._values(value) != self._nothing)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _values_getter(names: Sequence[str]) -> Callable[[Any], Any]:
    """A function that gets the attributes of these names: several of them as a tuple."""
    return attrgetter(*names) if names else lambda _value: ()


def carries(*kinds: type[Struct]) -> Callable[[type[OwnFields]], type[OwnFields]]:
    """Extend a reader's struct of own fields with all fields of `kinds` that it does not define itself."""

    def extend(own: type[OwnFields]) -> type[OwnFields]:
        types: dict[str, Any] = {}
        for kind in kinds:
            for field in msgspec.structs.fields(kind):
                if field.name not in own.__struct_fields__:
                    # Several types may have fields of the same name: `leftover_fields` checks these.
                    types[field.name] = field.type if len(kinds) == 1 else Any
        config = own.__struct_config__
        return msgspec.defstruct(  # type: ignore[return-value] # a subclass
            own.__name__,
            [(name, type_ | UnsetType, UNSET) for name, type_ in types.items()],
            bases=(own,),
            module=own.__module__,
            namespace={"__doc__": own.__doc__},
            kw_only=True,
            frozen=config.frozen,
            gc=config.gc,
            omit_defaults=config.omit_defaults,
            forbid_unknown_fields=config.forbid_unknown_fields,
        )

    return extend


def leftover_fields(own_fields: Struct, kind: type[Struct] | None = None) -> Bag:
    """Get the leftover fields in own fields that `carries` has extended.

    If they are those of several types, `kind` is the type to check them for; raises `ValidationError`.
    """
    names, get, nothing = _carried(own_fields.__class__)
    values = get(own_fields)
    if values == nothing:
        return {}
    fields = {name: value for name, value in zip(names, values, strict=True) if value is not UNSET}
    if kind is not None:
        checked = msgspec.convert(fields, _optional(kind))
        fields = {name: getattr(checked, name) for name in fields}
    return fields


@cache
def _carried(own: type[Struct]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]:
    names = tuple(own.__annotations__)
    get = _values_getter(names)
    return names, get if len(names) != 1 else lambda value: (get(value),), (UNSET,) * len(names)


@cache
def _optional(kind: type[Struct]) -> type[Struct]:
    """The struct with the fields of another one, none of which is required."""
    fields = [(field.name, field.type | UnsetType, UNSET) for field in msgspec.structs.fields(kind)]
    return msgspec.defstruct(kind.__name__, fields, kw_only=True, forbid_unknown_fields=True)
