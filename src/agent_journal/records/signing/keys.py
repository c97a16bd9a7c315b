"""Ed25519 keys in PEM files that their owner alone can read."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from agent_journal import files
from agent_journal.errors import AgentJournalError, CannotWrite

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PRIVATE, PUBLIC = "signing-key.pem", "signing-key.pub.pem"
_MAX_KEY_BYTES = 1 << 16
_FIELD_MODULUS = 2**255 - 19
# The y coordinates of the eight points whose order divides the cofactor: 1 and -1 (order 1 and 2),
# 0 (order 4), and two that are each other's negative (order 8).
_OCTIC_Y_COORDINATE = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL_ORDER = frozenset(
    {0, 1, _FIELD_MODULUS - 1, _OCTIC_Y_COORDINATE, _FIELD_MODULUS - _OCTIC_Y_COORDINATE}
)


class BadKey(AgentJournalError):
    """A key file that cannot be used."""

    def __init__(self, where: str | Path, reason: str) -> None:
        super().__init__(f"Cannot use the key {where}: {reason}")


def generate(folder: Path) -> tuple[Path, Path]:
    """Make a key; the files of its private and its public half. Nothing is overwritten."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 (slow to import)
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PrivateKey as PrivateKey,
    )

    key = PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(str(folder), (error.strerror or str(error)).lower()) from error
    places = folder / PRIVATE, folder / PUBLIC
    for place in places:
        if place.exists() or place.is_symlink():
            raise CannotWrite(str(place), "there is a key already, and none is ever overwritten")
    for place, pem in zip(places, (private, public), strict=True):
        _create(place, pem)
    return places


def _create(place: Path, pem: bytes) -> None:
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            place.chmod(0o600)  # whatever the umask is
            out.write(pem)
    except OSError as error:
        raise CannotWrite(str(place), (error.strerror or str(error)).lower()) from error


def private_key(place: Path) -> Ed25519PrivateKey:
    """The key to sign with; one that others could have read is refused."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PrivateKey as PrivateKey,
    )
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    pem = _pem(place, secret=True)
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError as error:
        raise BadKey(place, "it is encrypted; give one without a pass phrase") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        if b"PUBLIC KEY" in pem:
            raise BadKey(place, f"it is a public key; sign with {PRIVATE}") from error
        raise BadKey(place, "it is no private key in PEM; 'aj record keygen' makes one") from error
    if not isinstance(key, PrivateKey):
        raise BadKey(place, "it is of another kind; only Ed25519 keys sign records")
    return key


def public_key(place: Path) -> Ed25519PublicKey:
    """The key that a signature must be of."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey as PublicKey,
    )
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    pem = _pem(place, secret=False)
    if b"PRIVATE KEY" in pem:
        raise BadKey(place, f"it is a private key, which nobody needs to verify; give {PUBLIC}")
    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadKey(place, "it is no public key in PEM") from error
    if not isinstance(key, PublicKey):
        raise BadKey(place, "it is of another kind; only Ed25519 keys sign records")
    if reason := weakness(key):
        raise BadKey(place, reason)
    return key


def weakness(key: Ed25519PublicKey) -> str | None:
    """Why a signature by this key would prove nothing; None for every key that was generated properly.

    With a key of small order, one signature may hold for any bytes. A coordinate that is written larger than
    the field is a second form of another key.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    y = int.from_bytes(raw, "little") & ((1 << 255) - 1)  # the highest bit is the sign of x
    if y >= _FIELD_MODULUS:
        return "it is not in the one form that a key has (non-canonical encoding)"
    if y in _SMALL_ORDER:
        return "it is of small order, so that anybody can make signatures that hold for it"
    return None


def fingerprint(key: Ed25519PublicKey) -> bytes:
    """What a key is known by: SHA-256 over its public half as it is stored (SubjectPublicKeyInfo)."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


def _pem(place: Path, *, secret: bool) -> bytes:
    try:
        with files.open_regular(str(place)) as file:
            status = os.fstat(file.fileno())
            if secret and os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise BadKey(place, f"others can read it; close it with: chmod 600 {place}")
            return file.read(_MAX_KEY_BYTES)
    except files.NotRegular as error:
        raise BadKey(place, str(error)) from error
    except OSError as error:
        raise BadKey(place, (error.strerror or str(error)).lower()) from error
