"""Signatures of memory stores: those that hold, each way in which one may not, and the commands."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from agent_journal.records.signing import bundle
from agent_journal.records.signing.record import Refused
from tests import pam_bundle
from tests.records.test_commands import aj

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
SIGNED_AT = "2026-11-02T00:00:00Z"
BUNDLE = Path(__file__).parents[1] / "writers" / "pam" / "expected"
STORE = (BUNDLE / "memory-store.json").read_bytes()
Change = Callable[[dict[str, Any]], Any]


def signed(text: bytes = STORE, key: Ed25519PrivateKey = KEY) -> dict[str, Any]:
    store: dict[str, Any] = json.loads(bundle.sign(text, key, signed_at=SIGNED_AT))
    return store


def verdict(store: dict[str, Any], key: Ed25519PrivateKey = KEY) -> tuple[bool, str]:
    found = bundle.verify(json.dumps(store).encode(), key.public_key())
    return found.valid, found.reason


def checksum(store: dict[str, Any]) -> str:
    memories = sorted(store["memories"], key=lambda memory: memory["id"])
    return f"sha256:{hashlib.sha256(rfc8785.dumps(memories)).hexdigest()}"


def test_it_is_of_the_canonical_form_of_checksum_id_date_and_owner() -> None:
    store = signed()
    payload = {
        "checksum": checksum(store),
        "export_id": store["export_id"],
        "export_date": "2026-11-01T12:00:00Z",
        "owner_id": "account-9",
    }
    value = base64.urlsafe_b64decode(store["signature"]["value"])

    KEY.public_key().verify(value, rfc8785.dumps(payload))
    assert (True, "1 memory unchanged since signed by key") == (verdict(store)[0], verdict(store)[1][:38])
    assert [] == pam_bundle.document_errors(store)
    assert store["signature"]["value"].endswith("==")


def test_the_key_is_named_as_identifiers_name_it() -> None:
    """The example of the did:key method, whose key is also known in Base58."""
    number = 0
    for character in "B12NYF8RrR3h41TDCTJojY59usg3mbtbjnFs7Eud1Y6u":
        number = number * 58 + bundle._BASE58.index(character)
    name = bundle.multibase(Ed25519PublicKey.from_public_bytes(number.to_bytes(32, "big")))
    own = signed()["signature"]

    assert name == "z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH"
    assert own["key_id"] == f"did:key:{own['public_key']}#{own['public_key']}"


def test_spaces_order_of_keys_and_padding_do_not_matter() -> None:
    store = signed()
    store["signature"]["value"] = store["signature"]["value"].rstrip("=")
    again = {name: store[name] for name in reversed(store)}

    assert verdict(again)[0]


def test_it_is_never_signed_before_it_is_exported() -> None:
    early = json.loads(bundle.sign(STORE, KEY, signed_at="2020-01-01T00:00:00Z"))

    assert early["signature"]["signed_at"] == "2026-11-01T12:00:00Z"
    assert verdict(early)[0]


def put(*path: Any, value: Any) -> Change:
    def change(store: dict[str, Any]) -> None:
        inner: Any = store
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return change


def with_checksum(change: Change) -> Change:
    """A change by somebody who knows how checksums are made."""

    def careful(store: dict[str, Any]) -> None:
        change(store)
        store["integrity"]["checksum"] = checksum(store)
        store["integrity"]["total_memories"] = len(store["memories"])

    return careful


NOT_SIGNED = "are not those that this key signed"
REFUSED: list[tuple[Change, str]] = [
    (put("memories", 0, "content", value="Prefers cups."), "its checksum is not that of its memories"),
    (with_checksum(put("memories", 0, "content", value="Prefers cups.")), NOT_SIGNED),
    (with_checksum(lambda store: store["memories"].clear()), NOT_SIGNED),
    (lambda store: store["memories"].append({"id": "x"}), "it has 2 memories, and says 1"),
    (lambda store: store["memories"].append(store["memories"][0]), "no distinct ids"),
    (put("memories", 0, "id", value=4), "no distinct ids"),
    (put("memories", 0, value="text"), "no distinct ids"),
    (put("memories", 0, "metadata", value={"n": 2**60}), "no canonical form"),
    (put("export_id", value="another"), NOT_SIGNED),
    (put("export_date", value="2026-11-01T13:00:00Z"), NOT_SIGNED),
    (put("owner", "id", value="somebody"), NOT_SIGNED),
    (put("export_id", value=None), "it has no export_id"),
    (put("export_date", value="yesterday"), "its export_date is no time"),
    (put("owner", value={}), "it is no memory store"),
    (put("memories", value={}), "it is no memory store"),
    (put("schema", value="else"), "it is no memory store"),
    (put("integrity", value=None), "it has no checksum"),
    (put("integrity", "canonicalization", value="JSON"), "another form than RFC8785"),
    (put("integrity", "total_memories", value="1"), "it has 1 memories, and says '1'"),
    (put("signature", value=None), "it is not signed"),
    (lambda store: store.pop("signature"), "it is not signed"),
    (put("signature", value="yes"), "has not the form"),
    (put("signature", "value", value=1), "has not the form"),
    (put("signature", "algorithm", value="RS256"), "its algorithm is 'RS256'"),
    (put("signature", "public_key", value="z6Mk"), "it names another key"),
    (put("signature", "signed_at", value="2020-01-01T00:00:00Z"), "signed before it was exported"),
    (put("signature", "signed_at", value="soon"), "or at no time"),
    (put("signature", "value", value="A" * 86 + "=="), NOT_SIGNED),
    (put("signature", "value", value="A" * 85 + "B=="), "in Base64"),
    (put("signature", "value", value="AAAA"), "in Base64"),
    (put("signature", "value", value="ä"), "in Base64"),
    (put("signature", "value", value="A"), "in Base64"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(change: Change, reason: str) -> None:
    store = signed()
    change(store)
    is_valid, why = verdict(store)

    assert not is_valid
    assert reason in why
    assert "\n" not in why


def test_another_key_is_refused_also_if_it_claims_to_be_this_one() -> None:
    store = signed(key=OTHER)
    assert "it names another key" in verdict(store)[1]
    store["signature"]["public_key"] = bundle.multibase(KEY.public_key())

    assert NOT_SIGNED in verdict(store)[1]


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\xff", b"[" * 100_000, b'"\\ud800"']
)
def test_what_is_no_store_is_reported_and_never_raises(text: bytes) -> None:
    assert not bundle.verify(text, KEY.public_key()).valid
    with pytest.raises(Refused, match="no memory store"):
        bundle.sign(text, KEY, signed_at=SIGNED_AT)


def test_half_a_character_has_no_canonical_form() -> None:
    store = json.loads(STORE) | {"export_id": "\ud800"}
    with pytest.raises(Refused, match="canonical form"):
        bundle.sign(json.dumps(store).encode(), KEY, signed_at=SIGNED_AT)


def test_what_is_signed_or_contradicts_itself_is_not_signed() -> None:
    with pytest.raises(Refused, match="signed already"):
        signed(json.dumps(signed()).encode())
    broken = json.loads(STORE)
    broken["memories"] = []
    with pytest.raises(Refused, match="0 memories"):
        signed(json.dumps(broken).encode())


# The commands.


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    shutil.copytree(BUNDLE, tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        for name, data in pam_bundle.files_of(BUNDLE).items():
            archive.writestr(name, data)
    shutil.copy(BUNDLE / "memory-store.json", tmp_path / "store.json")
    assert aj(tmp_path, "record", "keygen", "-o", "keys").returncode == 0
    return tmp_path


def test_folders_zips_and_stores_are_signed_in_their_place(bundles: Path) -> None:
    names = ["folder", "bundle.zip", "store.json"]
    done = aj(bundles, "record", "sign-bundle", "--key", "keys/signing-key.pem", *names)
    checked = aj(bundles, "record", "verify-bundle", "--key", "keys/signing-key.pub.pem", "--json", *names)
    verdicts = [json.loads(line) for line in checked.stdout.splitlines()]
    before = pam_bundle.files_of(BUNDLE)
    zipped = pam_bundle.unzipped((bundles / "bundle.zip").read_bytes())

    assert (done.returncode, done.stdout.split(), done.stderr) == (0, names, "")
    assert checked.returncode == 0
    assert [True] * 3 == [found["valid"] for found in verdicts]
    assert {"checksum", "export_id", "export_date", "owner_id"} == verdicts[0]["claims"].keys()
    assert {"signed_at", "key_id"} == verdicts[0]["unverified"].keys()
    assert zipped.keys() == before.keys()
    assert {"memory-store.json"} == {name for name, data in before.items() if zipped[name] != data}
    assert zipped == pam_bundle.files_of(bundles / "folder")
    assert [] == pam_bundle.errors(zipped)


def test_a_changed_memory_is_reported_and_fails(bundles: Path) -> None:
    aj(bundles, "record", "sign-bundle", "--key", "keys/signing-key.pem", "folder")
    place = bundles / "folder" / "memory-store.json"
    place.write_bytes(place.read_bytes().replace(b"metric", b"other"))
    done = aj(bundles, "record", "verify-bundle", "--key", "keys/signing-key.pub.pem", "folder")

    assert done.returncode == 1
    assert done.stdout.startswith("folder: NOT VALID: its checksum is not that of its memories")


@pytest.mark.parametrize("command", ["sign-bundle", "verify-bundle"])
@pytest.mark.parametrize("place", ["missing", "keys", "empty.zip"])
def test_what_is_no_bundle_is_reported_in_one_line(bundles: Path, command: str, place: str) -> None:
    with zipfile.ZipFile(bundles / "empty.zip", "w") as archive:
        archive.writestr("a", b"")
    key = "keys/signing-key.pem" if command == "sign-bundle" else "keys/signing-key.pub.pem"
    done = aj(bundles, "record", command, "--key", key, place)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert place in done.stderr
