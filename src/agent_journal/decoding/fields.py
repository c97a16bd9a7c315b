"""Fields: what a reader does not take stays.

A record is a dict from outside. A reader moves values out of it; what is left when it is done
becomes `extra`. So forgetting a field keeps it, and losing one takes a visible `drop`.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.notes import Notes


class Fields:
    """A record whose values are moved out one by one.

    `where` is what notes say about its place: a line number or words. The record is changed in place.
    Typed accessors leave a value of another type where it is, with a note; null is like absent.
    """

    __slots__ = ("_data", "_nested", "note", "view", "where")

    def __init__(self, data: dict[str, Any], note: Notes, where: int | str) -> None:
        self._data = data
        self._nested: list[tuple[str, Fields]] | None = None
        self.view: Callable[[str], Any] = data.get
        """The value of a field, which stays. The dict's own method, as it is called for every field."""
        self.note = note
        self.where = where

    def take(self, name: str) -> Any:
        """Move a value of any type out."""
        return self._data.pop(name, None)

    def take_each(self, names: Iterable[str]) -> list[Any]:
        """Move several values out at once."""
        pop = self._data.pop
        return [pop(name, None) for name in names]

    def take_all(self, names: Iterable[str]) -> dict[str, Any]:
        """Move out those of several values that are there, by their names."""
        data = self._data
        return {name: data.pop(name) for name in names if name in data}

    def drop(self, *names: str) -> None:
        """Lose fields on purpose."""
        for name in names:
            self._data.pop(name, None)

    def keep(self, name: str, value: Any) -> None:
        """Put a value (back) among what stays."""
        self._data[name] = value

    def has(self, name: str) -> bool:
        """Whether there is such a field, even if it is null."""
        return name in self._data

    def text(self, name: str) -> str | None:
        """Move a string out."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is str:
            return value
        self._refuse(name, value, "text")
        return None

    def whole(self, name: str) -> int | None:
        """Move an integer out; a float without a fraction counts as one."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is int:
            return value
        if value.__class__ is float and value.is_integer():
            return int(value)
        self._refuse(name, value, "a whole number")
        return None

    def number(self, name: str) -> int | float | None:
        """Move a number out."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is int or value.__class__ is float:
            return value
        self._refuse(name, value, "a number")
        return None

    def decimal(self, name: str) -> float | None:
        """Move a number out that may have a fraction, such as a price."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is float:
            return value
        if value.__class__ is int:
            with suppress(OverflowError):
                return float(value)
        self._refuse(name, value, "a number")
        return None

    def flag(self, name: str) -> bool | None:
        """Move a boolean out."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is bool:
            return value
        self._refuse(name, value, "true or false")
        return None

    def items(self, name: str) -> list[Any] | None:
        """Move a list out."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is list:
            return value
        self._refuse(name, value, "a list")
        return None

    def bag(self, name: str) -> dict[str, Any] | None:
        """Move a whole object out."""
        value = self._data.pop(name, None)
        if value is None or value.__class__ is dict:
            return value
        self._refuse(name, value, "an object")
        return None

    def timestamp(self, name: str) -> str | None:
        """Move a time out, as RFC 3339; one that cannot be understood stays."""
        value = self._data.pop(name, None)
        if value is None:
            return None
        at = timestamps.parse_timestamp(value)
        if at is None:
            self._data[name] = value
            self.note(Kind.BAD_TIME, self.where, f"{name}: {str(value)[:60]!r}")
        elif at is not value and value.__class__ is str and timestamps.is_date(value):
            self.note(Kind.MISSING_TIME, self.where, f"{name} is a date; midnight UTC stands in")
        return at

    def nested(self, name: str) -> Fields | None:
        """Fields of an object inside; what is left of it stays under its name."""
        value = self.bag(name)
        if value is None:
            return None
        inner = Fields(value, self.note, self.where)
        if self._nested is None:
            self._nested = []
        self._nested.append((name, inner))
        return inner

    def rest(self) -> dict[str, Any]:
        """What nobody took."""
        if self._nested is not None:
            for name, inner in self._nested:
                if left := inner.rest():
                    self._data[name] = left
        return self._data

    if not TYPE_CHECKING:  # a type checker that saw this would accept any name

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            from agent_journal.moved import renamed  # noqa: PLC0415 (only for old names)

            return renamed(self, "decoding.fields.Fields", name)

    def _refuse(self, name: str, value: Any, expected: str) -> None:
        self._data[name] = value
        self.note(Kind.WRONG_TYPE, self.where, f"{name} is {type(value).__name__}, expected {expected}")


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in what should be a list of them."""
    if value.__class__ is list:
        for element in value:
            if element.__class__ is dict:
                yield element


def nonempty_str(value: Any) -> str | None:
    """The value if it is a string that is not empty; else None."""
    return value if value.__class__ is str and value else None


def counted(value: Any) -> int | None:
    """A count, as of tokens; None if it is none."""
    return value if value.__class__ is int and value >= 0 else None


if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):  # the import system asks for `__path__`
            raise AttributeError(name)
        from agent_journal.moved import renamed  # noqa: PLC0415 (only for old names)

        return renamed(sys.modules[__name__], "decoding.fields", name)
