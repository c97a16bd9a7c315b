"""Attacks on signatures: weak keys, numbers out of range, times, special files and many mutations."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agent_journal import files
from agent_journal.errors import CannotWrite
from agent_journal.records.signing import bundle, keys, record
from tests.records import test_bundle
from tests.records.test_record import CLAIMS, PAYLOAD, PUBLIC, SIGNED_AT, made, signed

FIELD = 2**255 - 19
CURVE = -121665 * pow(121666, -1, FIELD) % FIELD


# ── Numbers ──


def canonicalized(payload: bytes, original: bytes) -> record.Verdict:
    signature = made({1: -8, 15: CLAIMS}, payload=original)
    return record.verify(signature, payload, PUBLIC, canonicalize=True)


@pytest.mark.parametrize(
    ("written", "signed_as", "reason"),
    [
        (b"1e999", b"null", "too large"),
        (b"-1e999", b"null", "too large"),
        (b"1" + b"0" * 400 + b".0", b"null", "too large"),
        (b"NaN", b"null", "no number of JSON"),
        (b"Infinity", b"null", "no number of JSON"),
        (b"1e-999", b"0.0", "too small"),
        (b"1e-99999999999999999999999", b"0.0", "too small"),
        (b"0.1000000000000000055511151231257827", b"0.1", "more digits"),
        (b"9007199254740992.99999", b"9007199254740992.0", "more digits"),
        (b"-0", b"0", "-0"),
        (b'"\\ud800"', b'"?"', "half a character"),
        (b'{"a":1,"\\u0061":1}', b'{"a":1}', "twice"),
        (b"1" * 5_000, b"1", "not JSON"),
    ],
)
def test_canonical_form_never_stands_for_another_value(written: bytes, signed_as: bytes, reason: str) -> None:
    original = PAYLOAD.replace(b"1e+16", signed_as)
    verdict = canonicalized(
        original.replace(b'"temperature":' + signed_as, b'"temperature":' + written), original
    )

    assert record.verify(made(payload=original), original, PUBLIC, canonicalize=True).valid
    assert not verdict.valid
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("written", "signed_as"),
    [
        (b"10000000000000000e0", b"1e+16"),
        (b"0.10", b"0.1"),
        (b"0.10000000000000001", b"0.1"),
        (b"-0.0", b"-0.0"),
        (b"123456789012345678901234567890", b"123456789012345678901234567890"),
        (b"1772359200123456789", b"1772359200123456789"),
    ],
)
def test_canonical_form_keeps_numbers_of_equal_value(written: bytes, signed_as: bytes) -> None:
    original = PAYLOAD.replace(b"1e+16", signed_as)

    assert canonicalized(PAYLOAD.replace(b"1e+16", written), original).valid


def test_integers_beyond_a_double_differ_in_canonical_form() -> None:
    original = PAYLOAD.replace(b"1e+16", b"9007199254740993")

    assert not canonicalized(PAYLOAD.replace(b"1e+16", b"9007199254740992"), original).valid


def test_a_record_with_a_number_out_of_range_is_not_signed() -> None:
    with pytest.raises(record.Refused, match="too large"):
        signed(PAYLOAD.replace(b"1e+16", b"1e999"))


# ── Times ──


def at(now: float, **claims: Any) -> record.Verdict:
    labels = {"exp": 4, "nbf": 5, "iat": 6}
    stated = {labels[name]: value for name, value in claims.items()}
    return record.verify(made({1: -8, 15: CLAIMS | stated}), PAYLOAD, PUBLIC, now=now)


def test_an_expired_signature_is_refused() -> None:
    verdict = at(SIGNED_AT + 3600, exp=SIGNED_AT)

    assert not verdict.valid
    assert verdict.reason == (
        "the bytes are those that this key signed, "
        "but the signature expired at 2026-03-01T10:00:00Z (claim exp)"
    )
    assert {} == verdict.claims


def test_a_signature_is_refused_before_its_time() -> None:
    verdict = at(SIGNED_AT - 3600, nbf=SIGNED_AT)

    assert not verdict.valid
    assert verdict.reason.endswith("is not valid before 2026-03-01T10:00:00Z (claim nbf)")


@pytest.mark.parametrize(
    ("claims", "seconds", "is_valid"),
    [
        ({"exp": SIGNED_AT}, record.CLOCK_SKEW_S - 1, True),
        ({"exp": SIGNED_AT}, record.CLOCK_SKEW_S, False),
        ({"nbf": SIGNED_AT}, -record.CLOCK_SKEW_S, True),
        ({"nbf": SIGNED_AT}, -record.CLOCK_SKEW_S - 1, False),
        ({"exp": SIGNED_AT + 100, "nbf": SIGNED_AT}, 50, True),
        ({"exp": SIGNED_AT - 500, "nbf": SIGNED_AT + 500}, 0, False),
        ({"exp": -1}, 0, False),
        ({"nbf": -1}, 0, True),
        ({"exp": 2**64 - 1}, 0, True),
        ({"nbf": 2**64 - 1}, 0, False),
        ({"exp": -(2**64)}, 0, False),
    ],
)
def test_clocks_may_differ_a_little(claims: dict[str, int], seconds: int, is_valid: bool) -> None:
    assert at(SIGNED_AT + seconds, **claims).valid is is_valid


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("value", ["2030-01-01", True, None, [1], 2**70, b"\x01"])
def test_a_time_of_another_type_is_refused(name: str, value: Any) -> None:
    verdict = at(SIGNED_AT, **{name: value})

    assert not verdict.valid
    assert verdict.reason == f"its claim {name} is not a time in whole seconds"


@pytest.mark.parametrize("value", [1.5, float("inf"), float("nan")])
def test_a_time_that_is_a_float_is_refused(value: float) -> None:
    assert "float" in at(SIGNED_AT, exp=value).reason


def test_the_current_time_counts() -> None:
    expired = made({1: -8, 15: CLAIMS | {4: 1}})

    assert "expired at 1970-01-01T00:00:01Z" in record.verify(expired, PAYLOAD, PUBLIC).reason


@pytest.mark.parametrize(
    ("issued", "shown"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "253402300800 seconds after 1970, which is no date of the calendar"),
        (1_772_359_200_000, "1772359200000 seconds after 1970, which is no date of the calendar"),
        (-62_135_596_801, "62135596801 seconds before 1970, which is no date of the calendar"),
        (2**64 - 1, "18446744073709551615 seconds after 1970, which is no date of the calendar"),
    ],
)
def test_a_claimed_time_is_in_seconds_whatever_its_size(issued: int, shown: str) -> None:
    assert at(SIGNED_AT, iat=issued).reason.endswith(f"at the claimed time {shown}")


def test_a_text_does_not_pass_for_a_claim_that_has_a_number() -> None:
    verdict = record.verify(made({1: -8, 15: CLAIMS | {"iss": "Anthropic"}}), PAYLOAD, PUBLIC)

    assert verdict.reason == "its claims state iss twice"


# ── Keys ──


def square_root(value: int) -> int | None:
    root = pow(value, (FIELD + 3) // 8, FIELD)
    for candidate in (root, root * pow(2, (FIELD - 1) // 4, FIELD) % FIELD):
        if candidate * candidate % FIELD == value % FIELD:
            return candidate
    return None


def doubled(point: tuple[int, int]) -> tuple[int, int]:
    x, y = point
    product = CURVE * x * x * y * y
    return (
        2 * x * y * pow(1 + product, -1, FIELD) % FIELD,
        (y * y + x * x) * pow(1 - product, -1, FIELD) % FIELD,
    )


def torsion_points() -> Iterator[tuple[int, int]]:
    """The points that become neutral when doubled three times, found by the curve's own equations."""
    root = square_root(4 + 4 * CURVE)
    assert root is not None
    candidates = {0, 1, FIELD - 1}
    for sign in (1, -1):
        y = square_root((-2 + sign * root) * pow(2 * CURVE, -1, FIELD) % FIELD)
        candidates |= set() if y is None else {y, FIELD - y}
    for y in candidates:
        x = square_root((y * y - 1) * pow(CURVE * y * y + 1, -1, FIELD) % FIELD)
        assert x is not None
        for point in {(x, y), (-x % FIELD, y)}:
            assert doubled(doubled(doubled(point))) == (0, 1)
            yield point


def encodings_of_small_order() -> list[bytes]:
    found = set()
    for _, y in torsion_points():
        for form in (y, y + FIELD):
            if form < 2**255:
                found |= {(form | sign << 255).to_bytes(32, "little") for sign in (0, 1)}
    return sorted(found)


WEAK = encodings_of_small_order()
NOT_CANONICAL = [
    (FIELD + extra | sign << 255).to_bytes(32, "little") for extra in range(19) for sign in (0, 1)
]


def pem_of(raw: bytes) -> bytes:
    key = Ed25519PublicKey.from_public_bytes(raw)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def test_there_are_eight_points_of_small_order_in_fourteen_encodings() -> None:
    assert len(list(torsion_points())) == 8
    assert len(WEAK) == 14


@pytest.mark.parametrize("raw", WEAK + NOT_CANONICAL, ids=bytes.hex)
def test_a_weak_key_is_refused(raw: bytes, tmp_path: Path) -> None:
    place = tmp_path / "weak.pem"
    place.write_bytes(pem_of(raw))
    # With the neutral element as key and as R, this "signature" holds for any bytes.
    forged = cbor2.loads(made()).value
    forged[3] = (1).to_bytes(32, "little") + bytes(32)
    signature = cbor2.dumps(cbor2.CBORTag(18, forged))

    verdict = record.verify(signature, PAYLOAD, Ed25519PublicKey.from_public_bytes(raw))

    with pytest.raises(keys.BadKey, match=r"small order|non-canonical"):
        keys.public_key(place)
    assert not verdict.valid
    assert "proves nothing" in verdict.reason


@pytest.mark.parametrize("raw", WEAK[:3], ids=bytes.hex)
def test_a_weak_key_verifies_no_bundle(raw: bytes) -> None:
    store = json.dumps(test_bundle.signed()).encode()

    assert "proves nothing" in bundle.verify(store, Ed25519PublicKey.from_public_bytes(raw)).reason
    assert bundle.verify(store, test_bundle.KEY.public_key()).valid


def test_generated_keys_are_not_weak() -> None:
    assert keys.weakness(PUBLIC) is None


# ── Files that are none ──


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", "record", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


@pytest.fixture
def special_files(tmp_path: Path) -> Path:
    private, public = keys.generate(tmp_path)
    (tmp_path / "r.json").write_bytes(PAYLOAD)
    (tmp_path / "r.sig.cbor").write_bytes(
        record.sign(PAYLOAD, keys.private_key(private), issuer="test", signed_at=SIGNED_AT)
    )
    assert public.exists()
    os.mkfifo(tmp_path / "pipe", 0o600)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize(
    "command",
    [
        ("verify", "--key", "signing-key.pub.pem", "SPECIAL"),
        ("verify", "--key", "signing-key.pub.pem", "--payload", "SPECIAL", "r.sig.cbor"),
        ("verify", "--key", "SPECIAL", "r.sig.cbor"),
        ("sign", "--key", "signing-key.pem", "SPECIAL"),
        ("sign", "--key", "SPECIAL", "r.json"),
        ("verify-bundle", "--key", "signing-key.pub.pem", "SPECIAL"),
        ("sign-bundle", "--key", "signing-key.pem", "SPECIAL"),
        ("keygen", "-o", "SPECIAL"),
    ],
    ids=" ".join,
)
def test_no_command_waits_for_a_pipe(special_files: Path, command: tuple[str, ...]) -> None:
    done = run(special_files, *("pipe" if each == "SPECIAL" else each for each in command))

    assert done.returncode == 1, done.stdout
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("aj: Cannot ")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize(
    ("special", "reason"),
    [("pipe", "pipe"), ("socket", "socket"), ("/dev/zero", "device"), (".", "folder")],
)
def test_only_regular_files_are_opened(special_files: Path, special: str, reason: str) -> None:
    with pytest.raises(files.NotRegular, match=f"it is a {reason}, not a "):
        files.open_regular(str(special_files / special))


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_a_signature_does_not_replace_a_pipe(special_files: Path) -> None:
    done = run(special_files, "sign", "--key", "signing-key.pem", "-o", "pipe", "r.json")

    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert "Cannot write pipe: it is a pipe, not a regular file" in done.stderr
    assert (special_files / "pipe").is_fifo()
    with pytest.raises(CannotWrite, match="socket"):
        files.write_regular(str(special_files / "socket"), b"")
