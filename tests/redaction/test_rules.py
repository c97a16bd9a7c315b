"""Every rule has its credentials and finds them wherever they stand; what only looks like one stays."""

from __future__ import annotations

import pytest

from tests.redaction import zoo
from tests.redaction.redacting import redacted_text


def label(credential: zoo.Credential) -> str:
    return f"{credential.kind}-{credential.text.replace(credential.secret, '…')[:30]}"


@pytest.mark.parametrize("credential", [*zoo.STANDING_ALONE, *zoo.IN_CONTEXT], ids=label)
def test_credentials_are_replaced_by_their_kind(credential: zoo.Credential) -> None:
    expected = credential.text.replace(credential.secret, f"[REDACTED:{credential.kind}]")
    first = zoo.some(zoo.UPPER, 16, "pair")

    assert expected.replace(f"AKIA{first}", "[REDACTED:aws-access-key]") == redacted_text(credential.text)


@pytest.mark.parametrize("decoy", zoo.DECOYS)
def test_decoys_stay(decoy: str) -> None:
    assert decoy == redacted_text(decoy)


@pytest.mark.parametrize("credential", zoo.PERSONAL, ids=label)
def test_personal_data_is_replaced_if_asked(credential: zoo.Credential) -> None:
    expected = credential.text.replace(credential.secret, f"[REDACTED:{credential.kind}]")

    assert credential.text == redacted_text(credential.text)
    assert expected == redacted_text(credential.text, personal=True)


@pytest.mark.parametrize("decoy", [*zoo.DECOYS, *zoo.PERSONAL_DECOYS])
def test_decoys_of_personal_data_stay(decoy: str) -> None:
    assert decoy == redacted_text(decoy, personal=True)


@pytest.mark.parametrize("line", ["\x1b[32m{}\x1b[0m", "key.pem:7:{}", "key.pem-7-{}", "│ {} │", "    7→{}"])
def test_a_private_key_is_found_with_line_prefixes(line: str) -> None:
    key = next(secret for kind, secret in zoo.TOKENS if kind == "private-key")
    shown = "\n".join(line.format(each) for each in key.splitlines())
    redacted = redacted_text(shown)

    assert not [each for each in key.splitlines()[1:-1] if each in redacted]
