"""`aj record` as a person uses it, and what it says about keys that will not do."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from agent_journal.records.signing import keys

EXAMPLE = Path(__file__).parents[2] / "examples" / "claude-code"


def aj(folder: Path, *arguments: str, umask: int = 0o022) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1772359200"},
        umask=umask,
    )


@pytest.fixture
def records(tmp_path: Path) -> Path:
    assert aj(tmp_path, "convert", str(EXAMPLE), "-t", "agent-record", "-o", "records/").returncode == 0
    assert aj(tmp_path, "record", "keygen", "-o", "keys").returncode == 0
    return tmp_path


def test_from_a_conversation_to_a_verified_record(records: Path) -> None:
    files = sorted(path.name for path in (records / "records").iterdir())
    names = [f"records/{name}" for name in files]
    done = aj(records, "record", "sign", "--key", "keys/signing-key.pem", *names)
    signatures = done.stdout.split()
    checked = aj(records, "record", "verify", "--key", "keys/signing-key.pub.pem", "--json", *signatures)
    verdicts = [json.loads(line) for line in checked.stdout.splitlines()]

    assert done.returncode == checked.returncode == 0
    assert len(names) == len(verdicts) == 2
    assert all(verdict["valid"] for verdict in verdicts)
    assert {"agent-journal/" + verdict["claims"]["iss"].split("/")[1] for verdict in verdicts} == {
        verdict["claims"]["iss"] for verdict in verdicts
    }
    assert all(
        {"file", "valid", "reason", "key", "claims", "unverified"} == verdict.keys() for verdict in verdicts
    )


def test_a_changed_record_is_reported_and_fails(records: Path) -> None:
    place = min((records / "records").iterdir())
    aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place), "-o", "a.sig")
    place.write_bytes(place.read_bytes().replace(b"recipes", b"Recipes"))
    done = aj(
        records, "record", "verify", "--key", "keys/signing-key.pub.pem", "--payload", str(place), "a.sig"
    )

    assert done.returncode == 1
    assert done.stdout.startswith("a.sig: NOT VALID: the bytes are not those that this key signed")


def test_all_bytes_of_the_file_are_signed(records: Path) -> None:
    place = min((records / "records").iterdir())
    aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place), "-o", "a.sig")
    verify = ("record", "verify", "--key", "keys/signing-key.pub.pem", "--payload", str(place))
    done = aj(records, *verify, "--json", "a.sig")
    hashed = json.loads(done.stdout)["unverified"]["trace-metadata"]["content-hash"]
    assert (0, hashlib.sha256(place.read_bytes()).hexdigest()) == (done.returncode, hashed)

    place.write_bytes(place.read_bytes() + b"\n")
    longer = aj(records, *verify, "a.sig")

    assert 1 == longer.returncode
    assert "NOT VALID: the bytes are not those that this key signed; they end with a line" in longer.stdout
    assert 0 == aj(records, *verify, "--canonicalize", "a.sig").returncode


def test_a_record_that_ends_with_a_line_feed_is_not_signed(records: Path) -> None:
    place = min((records / "records").iterdir())
    place.write_bytes(place.read_bytes() + b"\n")
    done = aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place))

    assert (1, 1) == (done.returncode, done.stderr.count("\n"))
    assert "it ends with a line feed, which is not in its canonical form" in done.stderr


@pytest.mark.parametrize("target", ["agent-record", "agent-record-v3"])
def test_what_is_written_to_one_file_can_be_signed(records: Path, target: str) -> None:
    session = min(EXAMPLE.rglob("*.jsonl"))
    aj(records, "convert", str(session), "-t", target, "-o", "one.json")
    done = aj(records, "record", "sign", "--key", "keys/signing-key.pem", "one.json")

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_keys_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    aj(tmp_path, "record", "keygen", "-o", "keys", umask=umask)

    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "keys").iterdir()}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_keys_are_made_where_no_file_takes_permissions_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fchmod", raising=False)  # as on Windows before Python 3.13

    assert all(place.stat().st_size for place in keys.generate(tmp_path / "keys"))


def test_no_key_is_overwritten(tmp_path: Path) -> None:
    aj(tmp_path, "record", "keygen", "-o", "keys")
    before = (tmp_path / "keys" / "signing-key.pem").read_bytes()
    done = aj(tmp_path, "record", "keygen", "-o", "keys")

    assert done.returncode == 1
    assert "none is ever overwritten" in done.stderr
    assert before == (tmp_path / "keys" / "signing-key.pem").read_bytes()


def unusable(folder: Path) -> dict[str, bytes]:
    ed25519 = Ed25519PrivateKey.generate()
    large = rsa.generate_private_key(65537, 2048)
    return {
        "rsa": large.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "encrypted": ed25519.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")),
        "public": (folder / "keys" / "signing-key.pub.pem").read_bytes(),
        "empty": b"",
        "text": b"hello",
    }


def test_keys_that_will_not_do_are_reported_in_one_line(records: Path) -> None:
    place = str(min((records / "records").iterdir()))
    for name, pem in unusable(records).items():
        path = records / f"{name}.pem"
        path.write_bytes(pem)
        path.chmod(0o600)
        done = aj(records, "record", "sign", "--key", str(path), place)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), name
        assert "Cannot use the key" in done.stderr
    for mode in (0o640, 0o604):
        (records / "keys" / "signing-key.pem").chmod(mode)
        done = aj(records, "record", "sign", "--key", "keys/signing-key.pem", place)
        assert done.returncode == 1
        assert "chmod 600" in done.stderr
    done = aj(records, "record", "sign", "--key", "missing.pem", place)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_a_private_key_is_not_needed_to_verify(records: Path) -> None:
    done = aj(records, "record", "verify", "--key", "keys/signing-key.pem", "x.sig.cbor")

    assert done.returncode == 1
    assert "private key" in done.stderr


def test_what_cannot_be_read_or_written_is_reported_in_one_line(records: Path) -> None:
    places = [str(path) for path in sorted((records / "records").iterdir())]
    (records / "file").touch()
    (records / "README.md").write_text("Tea\n", encoding="utf-8")
    sign = ("record", "sign", "--key", "keys/signing-key.pem")
    verify = ("record", "verify", "--key", "keys/signing-key.pub.pem")
    for arguments, said in (
        ((*sign, "missing.json"), "Cannot read missing.json"),
        ((*sign, "records"), "Cannot read records"),
        ((*sign, "README.md"), "Cannot sign README.md: what is signed is no agent record"),
        ((*sign, places[0], "-o", "nowhere/a.sig"), "Cannot write nowhere/a.sig"),
        ((*sign, *places, "-o", "file/"), "Cannot write file"),
        ((*sign, places[0], places[0], "-o", "signatures/"), "Two records have the same name"),
        ((*sign, "a", "a.json"), "Two records have the same name"),
        ((*verify, "missing.sig.cbor"), "Cannot read missing.sig.cbor"),
        ((*verify, "/dev/zero"), "Cannot read /dev/zero: it is a device, not a regular file"),
        ((*verify, "--payload", "missing.json", "file"), "Cannot read missing.json"),
        (
            ("record", "verify", "--key", "file", "file"),
            "Cannot use the key file: it is no public key in PEM",
        ),
    ):
        done = aj(records, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), arguments
        assert said in done.stderr


def test_a_folder_for_one_signature_is_a_folder(records: Path) -> None:
    place = min((records / "records").iterdir())
    done = aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place), "-o", "signatures/")

    assert 0 == done.returncode
    assert [f"{place.stem}.sig.cbor"] == [path.name for path in (records / "signatures").iterdir()]


def test_each_signature_has_its_verdict_and_one_that_is_refused_fails(records: Path) -> None:
    place = min((records / "records").iterdir())
    aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place), "-o", "a.sig.cbor")
    aj(records, "record", "keygen", "-o", "others")
    good = (records / "a.sig.cbor").read_bytes()
    (records / "a.json").write_bytes(place.read_bytes())
    for name, data in (("cut", good[:-1]), ("longer", good + b"\0"), ("empty", b""), ("text", b"hello")):
        (records / f"{name}.sig.cbor").write_bytes(data)
        (records / f"{name}.json").write_bytes(place.read_bytes())
    names = [f"{name}.sig.cbor" for name in ("a", "cut", "longer", "empty", "text")]
    done = aj(records, "record", "verify", "--key", "keys/signing-key.pub.pem", *names)
    told = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    other = aj(records, "record", "verify", "--key", "others/signing-key.pub.pem", "a.sig.cbor")

    assert done.returncode == other.returncode == 1
    assert told[0].startswith("a.sig.cbor: valid: bytes unchanged since signed by key")
    assert [
        "cut.sig.cbor: NOT VALID: it ends too early",
        "longer.sig.cbor: NOT VALID: 1 bytes follow it",
        "empty.sig.cbor: NOT VALID: it ends too early",
        "text.sig.cbor: NOT VALID: it ends too early",
    ] == told[1:]
    assert other.stdout.startswith("a.sig.cbor: NOT VALID: it names another key than the one it must be of")
    assert "claim" not in other.stdout


def test_what_is_no_signature_is_not_called_a_cut_one(records: Path) -> None:
    place = min((records / "records").iterdir())
    aj(records, "record", "sign", "--key", "keys/signing-key.pem", str(place), "-o", "alone/")
    (alone,) = (records / "alone").iterdir()
    done = aj(records, "record", "verify", "--key", "keys/signing-key.pub.pem", str(place), str(alone))

    assert done.returncode == 1
    assert f"{place.name}: NOT VALID: it is JSON, perhaps the record itself; a signature is" in done.stdout
    assert (
        f"{alone.name}: NOT VALID: the record that it signs is not next to it; name it with --payload"
        in done.stdout
    )
