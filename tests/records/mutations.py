"""Mutated signatures and records: none may be valid unless payload and claims are those that were signed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import cbor2
import msgspec

from agent_journal.records import canonical_json
from agent_journal.records.signing import record
from tests.records.test_record import KEY, OTHER, PAYLOAD, PUBLIC, RECORD, SIGNED_AT, made, plus_order

_NOW = SIGNED_AT + 3600
_LABELS = (1, 2, 3, 4, 5, 6, 15, 33, 100, 394, "alg", "exp", -1)


class Outcome(NamedTuple):
    """How many were tried, how many refused, and descriptions of those that passed for something else."""

    tried: int
    refused: int
    forged: list[str]


class Attempt(NamedTuple):
    """A signature and a payload as a verifier gets them."""

    signature: bytes
    payload: bytes | None


Mutation = Callable[[random.Random, Attempt], Attempt]


def _original() -> Attempt:
    return Attempt(record.sign(PAYLOAD, KEY, issuer="agent-journal/0.1.0", signed_at=SIGNED_AT), PAYLOAD)


def _flip_bits(pick: random.Random, it: Attempt) -> Attempt:
    data = bytearray(it.signature)
    for _ in range(pick.randint(1, 3)):
        data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
    return it._replace(signature=bytes(data))


def _flip_payload(pick: random.Random, it: Attempt) -> Attempt:
    data = bytearray(it.payload or b"")
    data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
    return it._replace(payload=bytes(data))


def _edit_bytes(pick: random.Random, it: Attempt) -> Attempt:
    data, place = it.signature, pick.randrange(len(it.signature))
    end = place + pick.randint(0, 8)
    return it._replace(signature=data[:place] + pick.randbytes(pick.randint(0, 8)) + data[end:])


def _append(pick: random.Random, it: Attempt) -> Attempt:
    return it._replace(signature=it.signature + pick.choice((b"\x00", b"\xf6", b"\xff", it.signature)))


def _rewrite(
    change: Callable[[random.Random, list[Any]], None],
) -> Callable[[random.Random, Attempt], Attempt]:
    def mutate(pick: random.Random, it: Attempt) -> Attempt:
        parts = list(cbor2.loads(it.signature).value)
        change(pick, parts)
        return it._replace(signature=cbor2.dumps(cbor2.CBORTag(18, parts), canonical=True))

    return mutate


def _change_protected(pick: random.Random, parts: list[Any]) -> None:
    headers = cbor2.loads(parts[0])
    target = pick.choice((headers, headers[15]))
    target[pick.choice(_LABELS)] = pick.choice((-8, -7, 5, "EdDSA", None, [1], b"x", 2**40, PUBLIC_RAW))
    parts[0] = cbor2.dumps(headers, canonical=True)


def _drop_protected(pick: random.Random, parts: list[Any]) -> None:
    headers = cbor2.loads(parts[0])
    headers.pop(pick.choice(list(headers)))
    parts[0] = cbor2.dumps(headers, canonical=True)


def _change_unprotected(pick: random.Random, parts: list[Any]) -> None:
    parts[1][pick.choice(_LABELS)] = pick.choice(
        (-8, -7, "EdDSA", {1: "x", 2: "y", 4: 2**40}, b"x" * 32, PUBLIC_RAW, {1: 1, -1: 6, -2: PUBLIC_RAW})
    )


def _attach(pick: random.Random, parts: list[Any]) -> None:
    parts[2] = pick.choice((PAYLOAD, PAYLOAD + b"\n", b"", OTHER_PAYLOAD, 1, "text"))


def _swap_signature(pick: random.Random, parts: list[Any]) -> None:
    parts[3] = pick.choice(
        (
            bytes(64),
            plus_order(parts[3]),
            KEY.sign(PAYLOAD),
            OTHER.sign(parts[0]),
            parts[3][32:] + parts[3][:32],
        )
    )


def _lengthen(pick: random.Random, it: Attempt) -> Attempt:
    """A length that is indefinite, longer than needed, or huge."""
    huge = b"\xd2\x9b" + b"\xff" * 8
    new = pick.choice((b"\xd2\x9f", b"\xd2\x98\x04", huge, b"\xd8\x12\x84", b"\xd2\xd2\x84"))
    end = b"\xff" if new.endswith(b"\x9f") else b""
    return it._replace(signature=it.signature.replace(b"\xd2\x84", new, 1) + end)


def _repeat_key(pick: random.Random, it: Attempt) -> Attempt:
    protected = cbor2.loads(it.signature).value[0]
    twice = bytes([protected[0] + 1]) + b"\x01" + pick.choice((b"\x27", b"\x26")) + protected[1:]
    parts = cbor2.loads(it.signature).value
    return it._replace(signature=cbor2.dumps(cbor2.CBORTag(18, [twice, *parts[1:]])))


def _swap_payload(pick: random.Random, it: Attempt) -> Attempt:
    payload = pick.choice((OTHER_PAYLOAD, PAYLOAD + b" ", b"", PAYLOAD[:-1], b"null", None))
    return it._replace(payload=payload)


def _swap_number(pick: random.Random, it: Attempt) -> Attempt:
    number = pick.choice(
        (b"1e999", b"null", b"-0", b"1e-999", b"10000000000000000.00000001", b"NaN", b"1e17")
    )
    return it._replace(payload=PAYLOAD.replace(b"1e+16", number))


def _other_signer(_: random.Random, it: Attempt) -> Attempt:
    return it._replace(signature=made(key=OTHER))


OTHER_PAYLOAD = canonical_json.encode(RECORD | {"created": "2026-03-02T10:00:00Z"})
PUBLIC_RAW = PUBLIC.public_bytes_raw()
_MUTATIONS: tuple[Mutation, ...] = (
    *(_flip_bits, _flip_payload, _edit_bytes, _append, _lengthen, _repeat_key, _swap_payload, _swap_number),
    *map(_rewrite, (_change_protected, _drop_protected, _change_unprotected, _attach, _swap_signature)),
    _other_signer,
)


def mutated_signatures(pick: random.Random, count: int) -> Outcome:
    """Try so many mutations, with and without canonicalization."""
    original = _original()
    truth = record.verify(original.signature, PAYLOAD, PUBLIC, now=_NOW)
    assert truth.valid
    refused, forged = 0, []
    for number in range(count):
        mutate = pick.choice(_MUTATIONS)
        attempt, canonicalize = mutate(pick, original), pick.random() < 0.5
        got = record.verify(attempt.signature, attempt.payload, PUBLIC, canonicalize=canonicalize, now=_NOW)
        refused += not got.valid
        if got.valid and not _is_same(attempt, got, truth, canonicalize=canonicalize):
            kind = _MUTATIONS.index(mutate)
            forged.append(f"{number}, kind {kind}: {attempt.signature.hex()} {attempt.payload!r}")
    return Outcome(count, refused, forged)


def _is_same(attempt: Attempt, got: record.Verdict, truth: record.Verdict, *, canonicalize: bool) -> bool:
    payload = attempt.payload
    if payload is None:
        payload = cbor2.loads(attempt.signature).value[2]
    # An independent decoder: the very bytes, or the same value.
    same = payload == PAYLOAD or (canonicalize and msgspec.json.decode(payload) == RECORD)
    return same and got.claims == truth.claims and got.key == truth.key
