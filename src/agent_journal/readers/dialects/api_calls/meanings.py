"""Numbers messages by their normalized value: equal messages in different forms have the same number."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

# Identifies the form of a message: role and text if it has nothing else, otherwise a hash.
Form: TypeAlias = bytes | tuple[str, str]

_PLAIN_MESSAGE_FIELD_COUNT = 2
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


class Meanings:
    """Numbers for the normalized values of messages."""

    def __init__(self) -> None:
        self._by_form: dict[tuple[str, bytes], int] = {}
        self._by_meaning: dict[bytes | tuple[str, str | None], int] = {}
        self._is_hashed = False
        self.size = 0
        """The approximate size in bytes of all distinct messages."""

    def of(self, raw: Any, dialect: str, normalize: Callable[[Any], Any]) -> tuple[int, Form]:
        """Return the number of a value and its form. Each form is normalized only once."""
        try:
            data = _encode(raw)
            form = _hash(data)
            number = self._by_form.get((dialect, form))
            if number is None:
                number = self._number(normalize(raw))
                self._by_form[dialect, form] = number
                self.size += len(data)
        except RecursionError:
            # Nested too deeply to be compared: it is equal to no other.
            form = len(self._by_meaning).to_bytes(16, "big")
            number = self._by_meaning.setdefault(form, len(self._by_meaning))
        return number, form

    def of_plain(self, raw: Any) -> tuple[int, Form] | None:
        """Return the same for a message with only a role and a text in `content`; else None."""
        if raw.__class__ is not dict or len(raw) != _PLAIN_MESSAGE_FIELD_COUNT:
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

    def _number(self, normalized: Any) -> int:
        numbers = self._by_meaning
        match normalized:
            case [str(role), str() | None as text]:
                key = _hash_of_plain(role, text) if self._is_hashed else (role, text)
                return numbers.setdefault(key, len(numbers))
        return numbers.setdefault(_hash(_encode_sorted(normalized)), len(numbers))

    def store_hashes_only(self) -> None:
        """Store hashes instead of texts from now on: the texts of a large log do not fit into memory."""
        if not self._is_hashed:
            self._is_hashed = True
            self._by_meaning = {
                key if isinstance(key, bytes) else _hash_of_plain(*key): number
                for key, number in self._by_meaning.items()
            }


# A request repeats the first message of its dialogue and the previous answer.
@lru_cache(maxsize=64)
def _hash_of_plain(role: str, text: str | None) -> bytes:
    """Return the hash of a role and a text; its input is never JSON, unlike that of other hashes."""
    return _hash(f"{len(role)}\0{role}\0{text or ''}".encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def hash_of(raw: Any, form: Form) -> bytes:
    """Return the hash of a form, for generated ids."""
    return form if isinstance(form, bytes) else _hash(_encode(raw))
