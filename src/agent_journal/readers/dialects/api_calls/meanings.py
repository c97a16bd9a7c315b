"""What makes two messages the same: a number for what each means, whatever form it has."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

# What tells the forms of messages apart: of one that is nothing but a role and a text these two, else a hash.
Form: TypeAlias = bytes | tuple[str, str]

_FIELDS_OF_PLAIN = 2
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class Meanings:
    """Numbers for what messages mean: the same number for two that say the same in another form."""

    def __init__(self) -> None:
        self._by_form: dict[tuple[str, bytes], int] = {}
        self._by_meaning: dict[bytes | tuple[str, str | None], int] = {}
        self._is_hashed = False
        self.size = 0
        """About how many bytes all that was ever said has."""

    def of(self, raw: Any, language: str, meaning: Callable[[Any], Any]) -> tuple[int, Form]:
        """The number of what a value means, and its form. Each form is thought about once."""
        try:
            data = _encode(raw)
            form = _hash(data)
            number = self._by_form.get((language, form))
            if number is None:
                number = self._number(meaning(raw))
                self._by_form[language, form] = number
                self.size += len(data)
        except RecursionError:
            # Nested too deeply to be compared: it is like no other.
            form = len(self._by_meaning).to_bytes(16, "big")
            number = self._by_meaning.setdefault(form, len(self._by_meaning))
        return number, form

    def of_plain(self, raw: Any) -> tuple[int, Form] | None:
        """The same of a message that is nothing but a role and a text under `content`; else None."""
        if raw.__class__ is not dict or len(raw) != _FIELDS_OF_PLAIN:
            return None
        role, content = raw.get("role"), raw.get("content")
        if role.__class__ is not str or content.__class__ is not str:
            return None
        key = _hash_of_plain(role, content) if self._is_hashed else (role, content or None)
        numbers = self._by_meaning
        count = len(numbers)
        number = numbers.setdefault(key, count)
        if number == count:
            self.size += len(content)
        return number, (role, content)

    def _number(self, meant: Any) -> int:
        numbers = self._by_meaning
        match meant:
            case [str(role), str() | None as text]:
                key = _hash_of_plain(role, text) if self._is_hashed else (role, text)
                return numbers.setdefault(key, len(numbers))
        return numbers.setdefault(_hash(_encode_sorted(meant)), len(numbers))

    def hold_no_texts(self) -> None:
        """From now on tell texts apart by their hashes: those of a large log do not fit into memory."""
        if not self._is_hashed:
            self._is_hashed = True
            self._by_meaning = {
                key if isinstance(key, bytes) else _hash_of_plain(*key): number
                for key, number in self._by_meaning.items()
            }


# A request repeats the first message of its dialogue, and what was answered before it.
@lru_cache(maxsize=64)
def _hash_of_plain(role: str, text: str | None) -> bytes:
    """The hash of a role and a text; as bytes they are like no JSON, of which the other hashes are."""
    return _hash(f"{len(role)}\0{role}\0{text or ''}".encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def hash_of(raw: Any, form: Form) -> bytes:
    """The hash of a form, which ids are made of."""
    return form if isinstance(form, bytes) else _hash(_encode(raw))
