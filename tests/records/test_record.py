"""Signatures of agent records: those that hold, and each way in which one may not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cbor2
import cwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agent_journal.records import canonical_json
from agent_journal.records.signing import keys, record
from agent_journal.records.signing.record import Refused, Verdict

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key()
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
SESSION = "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10"
RECORD: dict[str, Any] = {
    "version": "3.0.0-draft",
    "id": SESSION,
    "created": "2026-03-01T10:00:00Z",
    "session": {
        "format": "interactive",
        "session-id": SESSION,
        "session-start": "2026-03-01T10:00:00Z",
        "agent-meta": {"model-id": "claude-opus-4-6", "model-provider": "anthropic"},
        "entries": [{"type": "user", "content": "Grüße \U0001f600", "temperature": 1e16}],
    },
}
PAYLOAD = canonical_json.encode(RECORD)
SIGNED_AT = 1_772_359_200


def signed(payload: bytes = PAYLOAD, key: Ed25519PrivateKey = KEY) -> bytes:
    return record.sign(payload, key, issuer="agent-journal/0.1.0", signed_at=SIGNED_AT)


def made(
    protected: Any = None,
    unprotected: Any = None,
    payload: bytes = PAYLOAD,
    *,
    attached: bytes | None = None,
    tag: int = 18,
    key: Ed25519PrivateKey = KEY,
) -> bytes:
    """A signature that is right in all but what is given."""
    if protected is None:
        protected = {1: -8, 3: "application/json", 15: {1: "somebody", 2: SESSION}}
    header = protected if isinstance(protected, bytes) else cbor2.dumps(protected)
    signature = key.sign(cbor2.dumps(["Signature1", header, b"", payload]))
    return cbor2.dumps(cbor2.CBORTag(tag, [header, unprotected or {}, attached, signature]))


def verdict(signature: bytes, payload: bytes | None = PAYLOAD) -> Verdict:
    return record.verify(signature, payload, PUBLIC)


def test_a_signature_holds_for_the_bytes_it_is_of() -> None:
    got = verdict(signed())

    assert got.valid
    fingerprint = hashlib.sha256(
        PUBLIC.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).hexdigest()
    assert fingerprint == got.key
    assert got.reason == (
        f"bytes unchanged since signed by key {fingerprint[:16]} at the claimed time 2026-03-01T10:00:00Z"
    )
    assert {"iss": "agent-journal/0.1.0", "sub": SESSION, "iat": SIGNED_AT} == got.claims
    assert {
        "session-id": SESSION,
        "agent-vendor": "anthropic",
        "trace-format": "ietf-vac-v3.0",
        "timestamp-start": "2026-03-01T10:00:00Z",
        "content-hash": hashlib.sha256(PAYLOAD).hexdigest(),
        "content-hash-alg": "sha-256",
    } == got.unverified["trace-metadata"]


def test_nothing_calls_it_authentic() -> None:
    for module in (record, keys):
        assert "authentic" not in Path(module.__file__ or "").read_text(encoding="utf-8").lower()


def test_the_same_record_and_time_give_the_same_signature() -> None:
    assert signed() == signed()


def test_an_independent_implementation_agrees() -> None:
    pem = PUBLIC.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    key = cwt.COSEKey.from_pem(pem, kid=keys.fingerprint(PUBLIC))
    ours = cwt.COSE.new(alg_auto_inclusion=True, kid_auto_inclusion=True)

    protected, _, payload = ours.decode_with_headers(signed(), key, detached_payload=PAYLOAD)

    assert PAYLOAD == payload
    assert -8 == protected[1]
    with pytest.raises(cwt.VerifyError):
        ours.decode_with_headers(signed(), key, detached_payload=PAYLOAD + b" ")


def test_what_the_draft_s_reference_makes_is_what_we_sign() -> None:
    reference = json.dumps(RECORD, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    assert reference == PAYLOAD
    assert b"1e+16" in PAYLOAD


def test_a_signature_of_the_reference_s_form_holds() -> None:
    trace = {
        "session-id": SESSION,
        "agent-vendor": "anthropic",
        "trace-format": "ietf-vac-v3.0",
        "content-hash": hashlib.sha256(PAYLOAD).hexdigest(),
        "content-hash-alg": "sha-256",
        "timestamp-start": "2026-03-01T10:00:00Z",
    }
    got = verdict(made(unprotected={100: trace}))

    assert got.valid
    assert got.reason.endswith("at a time that is not stated")


def test_the_published_vector_verifies() -> None:
    """A sample that lies beside a developer's checkout; the project does not need it."""
    folder = Path(__file__).parents[3] / "shared/targets/examples/verifiable-agent-record/cose_test_vector"
    if not folder.is_dir():
        pytest.skip("no samples here")
    payload, signature = (folder / "record.json").read_bytes(), (folder / "record.sig.cbor").read_bytes()
    key = keys.public_key(folder / "public_key.pem")

    assert record.verify(signature, payload, key).valid
    assert not record.verify(signature, payload + b" ", key).valid


def test_attached_bytes_must_be_those_that_are_given() -> None:
    attached = made(attached=PAYLOAD)

    assert verdict(attached).valid
    assert verdict(attached, None).valid
    assert "carries other bytes" in verdict(attached, PAYLOAD + b" ").reason


def test_other_spacing_is_other_bytes_unless_canonicalized() -> None:
    spaced = json.dumps(RECORD, indent=2, ensure_ascii=False).encode()
    got = record.verify(signed(), spaced, PUBLIC, canonicalize=True)

    assert "not those that this key signed" in verdict(signed(), spaced).reason
    assert got.valid
    assert got.reason.startswith("canonical form unchanged")
    twice = PAYLOAD.replace(b'{"created"', b'{"created":1,"created"')
    assert "twice" in record.verify(signed(), twice, PUBLIC, canonicalize=True).reason


CLAIMS = {1: "somebody", 2: SESSION}
MISUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "other key": (lambda: made(key=OTHER), "not those that this key signed"),
    "other key named": (lambda: made({1: -8, 4: b"x" * 32, 15: CLAIMS}), "another key"),
    "other key named outside": (lambda: made({1: -8, 15: CLAIMS}, {4: b"x" * 32}), "another key"),
    "no algorithm": (lambda: made({15: CLAIMS}), "no algorithm"),
    "unprotected algorithm": (lambda: made({15: CLAIMS}, {1: -8}), "no algorithm"),
    "algorithm in both": (lambda: made({1: -8, 15: CLAIMS}, {1: -8}), "outside of what is signed"),
    "other algorithm": (lambda: made({1: -7, 15: CLAIMS}), "only EdDSA"),
    "algorithm as text": (lambda: made({1: "EdDSA", 15: CLAIMS}), "only EdDSA"),
    "no claims": (lambda: made({1: -8}), "no claims"),
    "unprotected claims": (lambda: made({1: -8}, {15: CLAIMS}), "no claims"),
    "no issuer": (lambda: made({1: -8, 15: {2: SESSION}}), "no iss"),
    "no subject": (lambda: made({1: -8, 15: {1: "a"}}), "no sub"),
    "time that is true": (lambda: made({1: -8, 15: CLAIMS | {6: True}}), "time"),
    "odd time": (lambda: made({1: -8, 15: CLAIMS | {6: "noon"}}), "time"),
    "other session": (lambda: made({1: -8, 15: {1: "a", 2: "other"}}), "another session"),
    "unknown critical header": (lambda: made({1: -8, 2: [99], 99: 1, 15: CLAIMS}), "understood"),
    "absent critical header": (lambda: made({1: -8, 2: [3], 15: CLAIMS}), "understood"),
    "odd critical header": (lambda: made({1: -8, 2: [[1]], 15: CLAIMS}), "understood"),
    "critical header that is true": (lambda: made({1: -8, 2: [True], 15: CLAIMS}), "understood"),
    "critical header that is one number": (lambda: made({1: -8, 2: 1, 15: CLAIMS}), "no list"),
    "empty critical header": (lambda: made({1: -8, 2: [], 15: CLAIMS}), "no list"),
    "critical header outside": (lambda: made({1: -8, 15: CLAIMS}, {2: [1]}), "outside of what is signed"),
    "other content": (lambda: made({1: -8, 3: "text/html", 15: CLAIMS}), "another type"),
    "odd content": (lambda: made({1: -8, 3: [1], 15: CLAIMS}), "another type"),
    "header twice": (lambda: made({1: -8, 4: b"k", 15: CLAIMS}, {4: b"k"}), "twice"),
    "key twice in unprotected": (
        lambda: made().replace(b"\xa0\xf6", b"\xa2\x18\x63\x01\x18\x63\x01\xf6", 1),
        "twice",
    ),
    "key twice in protected": (lambda: made(b"\xa2\x01\x27\x01\x27"), "twice"),
    "protected is no map": (lambda: made(b"\x80"), "no map"),
    "protected is empty": (lambda: made(b""), "ends too early"),
    "other tag": (lambda: made(tag=98), "tag 18"),
    "no tag": (lambda: cbor2.dumps(cbor2.loads(made()).value), "tag 18"),
    "tag in tag": (lambda: b"\xd2" + made(), "four parts"),
    "three parts": (lambda: cbor2.dumps(cbor2.CBORTag(18, cbor2.loads(made()).value[:3])), "four parts"),
    "trailing byte": (lambda: made() + b"\x00", "follow"),
    "cut": (lambda: made()[:-1], "ends too early"),
    "indefinite array": (lambda: made().replace(b"\xd2\x84", b"\xd2\x9f", 1) + b"\xff", "not stated"),
    "long length": (lambda: made().replace(b"\xd2\x84", b"\xd2\x98\x04", 1), "longer than it needs"),
    "bomb": (lambda: b"\x81" * 10_000, "nested"),
    "no bytes": (lambda: b"", "ends too early"),
    "short signature": (lambda: with_signature(made(), lambda old: old[:-1]), "63 bytes"),
    "long signature": (lambda: with_signature(made(), lambda old: old + b"\0"), "65 bytes"),
    "malleable signature": (lambda: with_signature(made(), plus_order), "not those that this key signed"),
    "signature of nothing": (
        lambda: with_signature(made(), lambda _: bytes(64)),
        "not those that this key",
    ),
    "other trace session": (lambda: made(unprotected={100: {"session-id": "x"}}), "another session-id"),
    "other trace vendor": (lambda: made(unprotected={100: {"agent-vendor": "x"}}), "another agent-vendor"),
    "other trace time": (lambda: made(unprotected={100: {"timestamp-start": 5}}), "another timestamp-start"),
    "other trace hash": (lambda: made(unprotected={100: {"content-hash": "00"}}), "another content-hash"),
    "other hash algorithm": (
        lambda: made(unprotected={100: {"content-hash-alg": "md5"}}),
        "content-hash-alg",
    ),
    "trace of another format": (
        lambda: made(unprotected={100: {"trace-format": "claude-jsonl"}}),
        "something else than an agent record",
    ),
    "trace of no format": (lambda: made(unprotected={100: {"trace-format": 3}}), "something else"),
    "unknown trace field": (lambda: made(unprotected={100: {"verified": True}}), "not of the form"),
    "odd trace": (lambda: made(unprotected={100: [1]}), "not of the form"),
}


def with_signature(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    *rest, signature = cbor2.loads(data).value
    return cbor2.dumps(cbor2.CBORTag(18, [*rest, change(signature)]))


def plus_order(signature: bytes) -> bytes:
    """The same signature with the group's order added: some verifiers accept both."""
    order = 2**252 + 27742317777372353535851937790883648493
    scalar = int.from_bytes(signature[32:], "little") + order
    return signature[:32] + scalar.to_bytes(32, "little")


@pytest.mark.parametrize("name", MISUSED)
def test_what_is_malformed_or_misused_is_refused_with_a_reason(name: str) -> None:
    make, reason = MISUSED[name]
    got = verdict(make())

    assert not got.valid
    assert reason in got.reason
    assert {} == got.claims


def test_a_detached_signature_needs_its_record() -> None:
    assert "--payload" in verdict(signed(), None).reason


@pytest.mark.parametrize(
    "payload",
    [
        PAYLOAD.replace(b"anthropic", b"anthropiC"),
        PAYLOAD + b" ",
        b" " + PAYLOAD,
        PAYLOAD[:-1],
        b"",
        PAYLOAD.replace(b'"id"', b'"i\\u0064"'),
    ],
)
def test_other_bytes_are_refused(payload: bytes) -> None:
    assert "not those that this key signed" in verdict(signed(), payload).reason


@pytest.mark.parametrize(
    "payload",
    [
        b"hello",
        b"[]",
        b"{}",
        b'{"version":"1","id":"x","session":{}}',
        b'{"id":"a","id":"a"}',
        b"\xff",
        b"[" * 100_000,
        b"NaN",
        b'"\\ud800"',
    ],
)
def test_what_is_no_record_is_neither_signed_nor_verified(payload: bytes) -> None:
    with pytest.raises(Refused, match="no agent record"):
        signed(payload)
    assert "no agent record" in verdict(made(payload=payload), payload).reason


@pytest.mark.parametrize(
    "payload",
    [
        json.dumps(RECORD).encode(),
        PAYLOAD + b"\n",
        PAYLOAD.replace(b"Gr", b"\\u0047r"),
        b"\xef\xbb\xbf" + PAYLOAD,
    ],
)
def test_a_record_in_another_form_is_not_signed(payload: bytes) -> None:
    with pytest.raises(Refused, match=r"canonical|no agent record"):
        signed(payload)


@pytest.mark.parametrize("issued", [0, -1, 2**63 - 1, 2**64 - 1, -(2**64), 253_402_300_800])
def test_any_whole_number_may_be_the_claimed_time(issued: int) -> None:
    got = verdict(made({1: -8, 15: CLAIMS | {6: issued}}))

    assert got.valid
    assert issued == got.claims["iat"]
