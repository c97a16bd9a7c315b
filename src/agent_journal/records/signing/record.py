"""Signing agent records and verifying that they are unchanged: COSE_Sign1, detached, Ed25519.

What is signed is all bytes of the record's file. What stands outside of the signature may be shown, but never
as verified, and where it contradicts what is inside, the signature is refused.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.model import timestamps
from agent_journal.records import canonical_json
from agent_journal.records.signing import cbor, keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

MAX_RECORD_BYTES = 1 << 30
TRACE_FORMAT = "ietf-vac-v3.0"
_RECORD_FORMATS = "ietf-vac-"
_SIGN1, _EDDSA = 18, -8
_ALG, _CRIT, _CONTENT_TYPE, _KID, _CLAIMS = 1, 2, 3, 4, 15
_ISSUER, _SUBJECT, _EXPIRES_AT, _NOT_BEFORE, _ISSUED_AT = 1, 2, 4, 5, 6
# Clocks differ; RFC 7519 allows for a few minutes.
CLOCK_SKEW_S = 60
# The number that the draft's reference tool has for what it calls trace-metadata, until one is assigned.
_TRACE_LABEL_ID = 100
_UNDERSTOOD = frozenset({_ALG, _CRIT, _CONTENT_TYPE, _KID, _CLAIMS})
_JSON = ("application/json", "application/agent-conversation", "application/agent-conversation+json")
_SIGNATURE_BYTES = 64
# From the year 1 to the year 9999.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_CLAIM_NAMES = {
    _ISSUER: "iss",
    _SUBJECT: "sub",
    3: "aud",
    _EXPIRES_AT: "exp",
    _NOT_BEFORE: "nbf",
    _ISSUED_AT: "iat",
    7: "cti",
}
# What trace-metadata may hold, and where the record says the same.
_TRACE_FIELDS = {
    "session-id",
    "agent-vendor",
    "trace-format",
    "timestamp-start",
    "timestamp-end",
    "content-hash",
    "content-hash-alg",
}


class Refused(ValueError):
    """Why a record cannot be signed, or a signature is not valid."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What is known of a signature. `unverified` is what anybody could have added."""

    valid: bool
    reason: str
    key: str
    claims: dict[str, Any] = {}
    unverified: dict[str, Any] = {}


def sign(payload: bytes, key: Ed25519PrivateKey, *, issuer: str, signed_at: int) -> bytes:
    """The detached signature of a record; `issuer` is who records, `signed_at` the time in seconds."""
    import cbor2  # noqa: PLC0415 (slow to import)

    whole = _record(payload)
    form = canonical_json.encode(whole)
    if payload == form + b"\n":
        raise Refused(
            "it ends with a line feed, which is not in its canonical form; write it with aj convert"
        )
    if payload != form:
        raise Refused("it is not in canonical form, so that other programs could not check its signature")
    session: str = whole["session"]["session-id"]
    protected = cbor2.dumps(
        {
            _ALG: _EDDSA,
            _CONTENT_TYPE: "application/json",
            _KID: keys.fingerprint(key.public_key()),
            _CLAIMS: {_ISSUER: issuer, _SUBJECT: session, _ISSUED_AT: signed_at},
        },
        canonical=True,
    )
    unprotected = {_TRACE_LABEL_ID: _trace(whole, payload, signed_at)}
    signature = key.sign(_to_be_signed(protected, payload))
    return cbor2.dumps(cbor2.CBORTag(_SIGN1, [protected, unprotected, None, signature]), canonical=True)


def verify(
    signature: bytes,
    payload: bytes | None,
    key: Ed25519PublicKey,
    *,
    canonicalize: bool = False,
    now: float | None = None,
) -> Verdict:
    """Whether the signature is of these very bytes, by this very key, and in force; never an exception.

    `now` is the time in seconds at which it must be in force; the current time by default.
    """
    result: dict[str, Any] = {"claims": {}, "unverified": {}}
    try:
        reason = _verified(signature, payload, key, result, canonicalize=canonicalize)
        _refuse_outside_validity(result["times"], time.time() if now is None else now)
    except (Refused, cbor.Malformed, canonical_json.NotCanonical) as error:
        return Verdict(
            valid=False, reason=str(error), key=keys.fingerprint(key).hex(), unverified=result["unverified"]
        )
    return Verdict(
        valid=True,
        reason=reason,
        key=keys.fingerprint(key).hex(),
        claims=result["claims"],
        unverified=result["unverified"],
    )


def _verified(
    data: bytes, payload: bytes | None, key: Ed25519PublicKey, result: dict[str, Any], *, canonicalize: bool
) -> str:
    protected, unprotected, attached, signature = _parts(data)
    headers = _protected(protected)
    result["unverified"] = _shown(unprotected)
    _refuse_repeated_headers(headers, unprotected)
    if weakness := keys.weakness(key):
        raise Refused(f"the key it must be of proves nothing: {weakness}")
    payload = _payload(payload, attached)
    if canonicalize:
        payload = canonical_json.encode(canonical_json.parse(payload, exact=True))
    expected = keys.fingerprint(key)
    for kid in (headers.get(_KID), unprotected.get(_KID)):
        if isinstance(kid, bytes) and len(kid) == len(expected) and kid != expected:
            raise Refused("it names another key than the one it must be of")
    _check(signature, protected, payload, key)
    whole = _record(payload)
    claims = headers[_CLAIMS]
    if claims[_SUBJECT] != whole["session"]["session-id"]:
        raise Refused("its claims name another session than the record")
    _refuse_contradictions(unprotected, whole, payload)
    result["claims"] = _named(claims)
    result["times"] = claims
    return _wording(key, claims.get(_ISSUED_AT), canonicalize=canonicalize)


def _parts(data: bytes) -> tuple[bytes, dict[Any, Any], bytes | None, bytes]:
    if data.startswith(b"{"):
        raise Refused("it is JSON, perhaps the record itself; a signature is in a file NAME.sig.cbor")
    tagged = cbor.decode(data)
    if not isinstance(tagged, cbor.Tagged) or tagged.tag != _SIGN1:
        raise Refused("it is no COSE_Sign1 (tag 18)")
    match tagged.value:
        case [bytes(protected), dict(unprotected), None | bytes() as attached, bytes(signature)]:
            return protected, unprotected, attached, signature
    raise Refused("it has not the four parts of a COSE_Sign1")


def _protected(data: bytes) -> dict[Any, Any]:
    headers = cbor.decode(data)
    if not isinstance(headers, dict):
        raise Refused("its protected header is no map")
    algorithm = headers.get(_ALG)
    if algorithm is None:
        raise Refused("its protected header names no algorithm")
    if algorithm != _EDDSA or isinstance(algorithm, bool):
        raise Refused(f"its algorithm is {algorithm!r}; only EdDSA (-8) is accepted")
    if _CRIT in headers:
        _refuse_unknown(headers[_CRIT], headers)
    if headers.get(_CONTENT_TYPE, _JSON[0]) not in _JSON:
        raise Refused("it is of content of another type than a record")
    claims = headers.get(_CLAIMS)
    if not isinstance(claims, dict):
        raise Refused("its protected header has no claims")
    for name in (_ISSUER, _SUBJECT):
        if not isinstance(claims.get(name), str):
            raise Refused(f"its claims have no {_CLAIM_NAMES[name]}")
    for name in (_EXPIRES_AT, _NOT_BEFORE, _ISSUED_AT):
        stated = claims.get(name, 0)
        if not isinstance(stated, int) or isinstance(stated, bool):
            raise Refused(f"its claim {_CLAIM_NAMES[name]} is not a time in whole seconds")
    return headers


def _refuse_outside_validity(claims: dict[Any, Any], now: float) -> None:
    expires, begins = claims.get(_EXPIRES_AT), claims.get(_NOT_BEFORE)
    unchanged = "the bytes are those that this key signed, but the signature"
    if expires is not None and now >= expires + CLOCK_SKEW_S:
        raise Refused(f"{unchanged} expired at {_shown_time(expires)} (claim exp)")
    if begins is not None and now < begins - CLOCK_SKEW_S:
        raise Refused(f"{unchanged} is not valid before {_shown_time(begins)} (claim nbf)")


def _named(claims: dict[Any, Any]) -> dict[str, Any]:
    """The claims by name; a text label may not pass for a claim that has a number."""
    named: dict[str, Any] = {}
    for label, value in claims.items():
        name = _CLAIM_NAMES.get(label, str(_plain(label)))
        if name in named:
            raise Refused(f"its claims state {name[:40]} twice")
        named[name] = _plain(value)
    return named


def _refuse_unknown(critical: Any, headers: dict[Any, Any]) -> None:
    if not isinstance(critical, list) or not critical:
        raise Refused("its crit header is no list of labels")
    for label in critical:
        is_label = isinstance(label, int) and not isinstance(label, bool)
        if not is_label or label not in headers or label not in _UNDERSTOOD:
            raise Refused(f"it demands that {label!r} be understood, which it is not")


def _refuse_repeated_headers(headers: dict[Any, Any], unprotected: dict[Any, Any]) -> None:
    for label in (_ALG, _CRIT, _CLAIMS):
        if label in unprotected:
            raise Refused(f"it states header {label} outside of what is signed")
    if both := sorted(map(str, headers.keys() & unprotected.keys())):
        raise Refused(f"it states header {both[0]} twice, inside and outside of what is signed")


def _payload(given: bytes | None, attached: bytes | None) -> bytes:
    if given is None and attached is None:
        raise Refused("the record that it signs is not next to it; name it with --payload")
    if given is not None and attached is not None and given != attached:
        raise Refused("it carries other bytes than the record that was given")
    payload = given if given is not None else attached
    assert payload is not None  # noqa: S101 (one of them is there)
    return payload


def _check(signature: bytes, protected: bytes, payload: bytes, key: Ed25519PublicKey) -> None:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    if len(signature) != _SIGNATURE_BYTES:
        raise Refused(f"the signature has {len(signature)} bytes, not {_SIGNATURE_BYTES}")
    try:
        key.verify(signature, _to_be_signed(protected, payload))
    except InvalidSignature as error:
        hint = "; they end with a line feed, which --canonicalize ignores" if payload.endswith(b"\n") else ""
        raise Refused(f"the bytes are not those that this key signed{hint}") from error


def _to_be_signed(protected: bytes, payload: bytes) -> bytes:
    import cbor2  # noqa: PLC0415

    return cbor2.dumps(["Signature1", protected, b"", payload])


def _record(payload: bytes) -> dict[str, Any]:
    """The record that the bytes are."""
    if len(payload) > MAX_RECORD_BYTES:
        raise Refused(f"the record is larger than {MAX_RECORD_BYTES >> 30} GiB")
    try:
        whole = canonical_json.parse(payload)
    except canonical_json.NotCanonical as error:
        raise Refused(f"what is signed is no agent record: {error}") from error
    match whole:
        case {
            "version": str(),
            "id": str(),
            "session": {"session-id": str(), "agent-meta": dict(), "entries": list()},
        }:
            return dict(whole)
    raise Refused("what is signed is no agent record: version, id or session are missing")


def _trace(whole: dict[str, Any], payload: bytes, signed_at: int) -> dict[str, Any]:
    session = whole["session"]
    vendor = session["agent-meta"].get("model-provider")
    start = session.get("session-start", whole.get("created"))
    trace = {
        "session-id": session["session-id"],
        "agent-vendor": vendor if isinstance(vendor, str) else "unknown",
        "trace-format": TRACE_FORMAT,
        "timestamp-start": start if _is_moment(start) else timestamps.from_epoch(signed_at),
        "content-hash": hashlib.sha256(payload).hexdigest(),
        "content-hash-alg": "sha-256",
    }
    end = session.get("session-end")
    return trace | ({"timestamp-end": end} if _is_moment(end) else {})


def _is_moment(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _refuse_contradictions(unprotected: dict[Any, Any], whole: dict[str, Any], payload: bytes) -> None:
    trace = unprotected.get(_TRACE_LABEL_ID)
    if trace is None:
        return
    if not isinstance(trace, dict) or not trace.keys() <= _TRACE_FIELDS:
        raise Refused("its trace metadata is not of the form the draft gives it")
    if not str(trace.get("trace-format", TRACE_FORMAT)).startswith(_RECORD_FORMATS):
        raise Refused("its trace metadata describes something else than an agent record")
    session = whole["session"]
    inside = {
        "session-id": session["session-id"],
        "agent-vendor": session["agent-meta"].get("model-provider"),
        "timestamp-start": session.get("session-start", whole.get("created")),
        "timestamp-end": session.get("session-end"),
        "content-hash": hashlib.sha256(payload).hexdigest(),
        "content-hash-alg": "sha-256",
    }
    for name, value in inside.items():
        if value is not None and name in trace and trace[name] != value:
            raise Refused(f"its trace metadata has another {name} than the record")


def _shown(unprotected: dict[Any, Any]) -> dict[str, Any]:
    """What stands outside of the signature, by names where they are known."""
    named = {_TRACE_LABEL_ID: "trace-metadata", 33: "x5chain", 394: "receipts"}
    return {named.get(label, str(label)): _plain(value) for label, value in unprotected.items()}


def _plain(value: Any) -> Any:
    """A value of CBOR as JSON has it; the depth is bounded by the decoder."""
    match value:
        case bytes():
            return value.hex()
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {str(_plain(name)): _plain(each) for name, each in value.items()}
        case cbor.Tagged():
            return {"tag": value.tag, "value": _plain(value.value)}
    return value


def _wording(key: Ed25519PublicKey, issued: int | None, *, canonicalize: bool) -> str:
    when = "at a time that is not stated" if issued is None else f"at the claimed time {_shown_time(issued)}"
    what = "canonical form" if canonicalize else "bytes"
    return f"{what} unchanged since signed by key {keys.fingerprint(key).hex()[:16]} {when}"


def _shown_time(seconds: int) -> str:
    """A time for people; claims state seconds, whatever their size."""
    if _FIRST_SECOND <= seconds <= _LAST_SECOND:
        return timestamps.from_seconds(seconds)
    direction = "after" if seconds > 0 else "before"
    return f"{abs(seconds)} seconds {direction} 1970, which is no date of the calendar"
