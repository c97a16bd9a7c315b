"""Signing the memories of a Portable AI Memory bundle, and verifying that they are unchanged.

The signature (Ed25519) stands in the memory store itself. It is of the checksum over all memories, the id and
date of the export, and its owner: not of the conversations next to it, nor of the time of signing.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps
from agent_journal.records import canonical_json
from agent_journal.records.pam_integrity import checksum_of
from agent_journal.records.signing import keys
from agent_journal.records.signing.record import Refused, Verdict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ALGORITHM = "Ed25519"
_CANONICALIZATION = "RFC8785"
# What stands before an Ed25519 key in multicodec, and before Base58 in multibase.
_MULTICODEC, _MULTIBASE = b"\xed\x01", "z"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SIGNATURE_BYTES = 64


def sign(text: bytes, key: Ed25519PrivateKey, *, signed_at: str) -> bytes:
    """The memory store with its signature; `signed_at` is the time that it claims."""
    import json  # noqa: PLC0415

    store = _store(text)
    if store.get("signature") is not None:
        raise Refused("it is signed already")
    claims = _claims(store)
    name = multibase(key.public_key())
    store["signature"] = {
        "algorithm": _ALGORITHM,
        "public_key": name,
        "value": base64.urlsafe_b64encode(key.sign(_payload(claims))).decode(),
        "signed_at": _later(signed_at, claims["export_date"]),
        "key_id": f"did:key:{name}#{name}",
    }
    return json.dumps(store, indent=2, ensure_ascii=False).encode() + b"\n"


def verify(text: bytes, key: Ed25519PublicKey) -> Verdict:
    """Whether the memories are those that this very key signed; never an exception."""
    known = keys.fingerprint(key).hex()
    unverified: dict[str, Any] = {}
    try:
        store = _store(text)
        signature = _signature(store)
        unverified = {name: signature[name] for name in ("signed_at", "key_id") if name in signature}
        claims = _claims(store)
        _check(signature, claims, key)
    except (Refused, canonical_json.NotCanonical) as error:
        return Verdict(valid=False, reason=str(error), key=known, unverified=unverified)
    count = len(store["memories"])
    reason = (
        f"{count} {'memory' if count == 1 else 'memories'} unchanged since signed by key {known[:16]}; "
        "conversations are not part of what is signed"
    )
    return Verdict(valid=True, reason=reason, key=known, claims=claims, unverified=unverified)


def multibase(key: Ed25519PublicKey) -> str:
    """A public key in the form that decentralized identifiers have: `z6Mk…`."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    number = int.from_bytes(_MULTICODEC + key.public_bytes(Encoding.Raw, PublicFormat.Raw), "big")
    digits = ""
    while number:
        number, digit = divmod(number, len(_BASE58))
        digits = _BASE58[digit] + digits
    return _MULTIBASE + digits


def _store(text: bytes) -> dict[str, Any]:
    try:
        store = canonical_json.parse(text)
    except canonical_json.NotCanonical as error:
        raise Refused(f"it is no memory store: {error}") from error
    match store:
        case {"schema": "portable-ai-memory", "memories": list(), "owner": {"id": str()}}:
            return dict(store)
    raise Refused("it is no memory store: schema, memories or owner are missing")


def _claims(store: dict[str, Any]) -> dict[str, Any]:
    """What a signature is of; the checksum is computed again."""
    for name in ("export_id", "export_date"):
        if not isinstance(store.get(name), str):
            raise Refused(f"it has no {name}, which a signature needs")
    if timestamps.parse(store["export_date"]) is None:
        raise Refused("its export_date is no time")
    return {
        "checksum": _checksum(store),
        "export_id": store["export_id"],
        "export_date": store["export_date"],
        "owner_id": store["owner"]["id"],
    }


def _checksum(store: dict[str, Any]) -> str:
    memories, integrity = store["memories"], store.get("integrity")
    if not isinstance(integrity, dict):
        raise Refused("it has no checksum of its memories")
    if integrity.get("canonicalization", _CANONICALIZATION) != _CANONICALIZATION:
        raise Refused(f"its checksum is of another form than {_CANONICALIZATION}")
    names = [memory.get("id") if isinstance(memory, dict) else None for memory in memories]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise Refused("its memories have no distinct ids")
    if integrity.get("total_memories") != len(memories):
        raise Refused(f"it has {len(memories)} memories, and says {integrity.get('total_memories')!r}")
    try:
        computed = checksum_of(memories)
    except ValueError as error:
        raise Refused(f"its memories have no canonical form: {error}") from error
    if integrity.get("checksum") != computed:
        raise Refused("its checksum is not that of its memories: one was changed, added or taken out")
    return computed


def _signature(store: dict[str, Any]) -> dict[str, Any]:
    match store.get("signature"):
        case None:
            raise Refused("it is not signed")
        case {"algorithm": str(), "public_key": str(), "value": str(), "signed_at": str()} as signature:
            return dict(signature)
    raise Refused("its signature has not the form that the format demands")


def _check(signature: dict[str, Any], claims: dict[str, Any], key: Ed25519PublicKey) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    if signature["algorithm"] != _ALGORITHM:
        raise Refused(f"its algorithm is {signature['algorithm'][:20]!r}; only {_ALGORITHM} is accepted")
    if weakness := keys.weakness(key):
        raise Refused(f"the key it must be of proves nothing: {weakness}")
    if signature["public_key"] != multibase(key):
        raise Refused("it names another key than the one it must be of")
    if _is_before(signature["signed_at"], claims["export_date"]):
        raise Refused("it claims to be signed before it was exported, or at no time")
    try:
        key.verify(_bytes(signature["value"]), _payload(claims))
    except InvalidSignature as error:
        raise Refused("its memories, id, date or owner are not those that this key signed") from error


def _payload(claims: dict[str, Any]) -> bytes:
    import rfc8785  # noqa: PLC0415

    try:
        return rfc8785.dumps(claims)
    except ValueError as error:  # half a character
        raise Refused(f"what is signed has no canonical form: {error}") from error


def _bytes(value: str) -> bytes:
    """The bytes of a signature; with or without the padding of Base64, and in no second form."""
    padded = value if value.endswith("=") else value + "=" * (-len(value) % 4)
    try:
        signature = base64.urlsafe_b64decode(padded)
    except ValueError as error:
        raise Refused("its value is not in Base64 for addresses") from error
    if len(signature) != _SIGNATURE_BYTES or base64.urlsafe_b64encode(signature).decode() != padded:
        raise Refused(f"its value is not {_SIGNATURE_BYTES} bytes in Base64 for addresses")
    return signature


def _is_before(at: str, other: str) -> bool:
    first, second = timestamps.parse(at), timestamps.parse(other)
    return first is None or second is None or first < second


def _later(at: str, other: str) -> str:
    """The time, or the other if that is later: nothing is signed before it is there."""
    return other if _is_before(at, other) else at
