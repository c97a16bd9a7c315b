"""Personal data: addresses, phone, card, account and identity numbers. Replaced only on request."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network

from agent_journal.redaction.rules import Rule

_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
# Prefixes and lengths of cards: Visa, Mastercard, American Express, Discover, JCB, UnionPay.
_CARD = re.compile(
    r"4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|5[1-5][0-9]{14}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}"
    r"|3[47][0-9]{13}|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|62[0-9]{14,17}"
)
_IBAN_LENGTHS = range(15, 35)
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15
# Addresses of services and names of files that have the form of an email address.
_NOT_EMAIL = re.compile(
    r"^(?:git|noreply|no-reply)@|@users\.noreply\.|\.(?:png|jpe?g|svg|webp|js|css|py)\Z", re.IGNORECASE
)


def _digits(text: str) -> str:
    return "".join(character for character in text if "0" <= character <= "9")


def _is_email(_match: re.Match[str], value: str) -> bool:
    return _NOT_EMAIL.search(value) is None


def _is_card(_match: re.Match[str], value: str) -> bool:
    """Whether a value is a card number with a valid check digit (Luhn)."""
    digits = _digits(value)
    if _CARD.fullmatch(digits) is None:
        return False
    values = [int(digit) for digit in reversed(digits)]
    return (sum(values[0::2]) + sum(_LUHN_DOUBLED[digit] for digit in values[1::2])) % 10 == 0


def _is_iban(_match: re.Match[str], value: str) -> bool:
    """Whether an IBAN has a valid checksum (ISO 13616)."""
    account = re.sub(r"[ -]", "", value).upper()
    if len(account) not in _IBAN_LENGTHS:
        return False
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97 == 1


def _is_phone(_match: re.Match[str], value: str) -> bool:
    return _MIN_PHONE_DIGITS <= len(_digits(value)) <= _MAX_PHONE_DIGITS


def _is_ssn(_match: re.Match[str], value: str) -> bool:
    """Whether a social security number can have been issued."""
    area, group, serial = re.split("[- ]", value)
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


def _is_public_address(_match: re.Match[str], value: str) -> bool:
    """Whether an IP address may identify a person: not in a private network, and not a version number."""
    try:
        address = ip_address(value)
    except ValueError:
        return False
    return not any(address in network for network in _PRIVATE_NETWORKS)


# Most addresses that begin with 0 to 9 are version numbers; the others are private or not of a machine.
_PRIVATE_NETWORKS = tuple(
    ip_network(f"{first}/{bits}")
    for first, bits in (
        *(("0.0.0.0", 5), ("8.0.0.0", 7), ("10.0.0.0", 8), ("127.0.0.0", 8), ("169.254.0.0", 16)),  # noqa: S104 (networks)
        *(("172.16.0.0", 12), ("192.168.0.0", 16), ("224.0.0.0", 3)),
    )
)
_ISOLATED = r"(?<![A-Za-z0-9_.+-])"


def _isolated(trigger: str, joining_characters: str = "_.+-") -> str:
    """Restrict a trigger to isolated numbers: ids are full of digits that would be numbers.

    The start of the text, a character that does not join words, or a JSON escape must precede it.
    """
    return rf"(?:^|[^A-Za-z0-9{joining_characters}]|\\[a-z]|\\u[0-9a-fA-F]{{4}})(?:{trigger})"


PERSONAL = (
    Rule(
        kind="email",
        before=r"(?:(?<![A-Za-z0-9_.%+-])|(?<=\\[nrt]))",
        pattern=r"[A-Za-z0-9_][A-Za-z0-9_.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}",
        after=r"(?![A-Za-z0-9_-])",
        trigger=r"[A-Za-z0-9_.%+-]@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2}",
        check=_is_email,
    ),
    Rule(
        kind="iban",
        before=_ISOLATED,
        pattern=r"[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?",
        after=r"(?![A-Za-z0-9])",
        trigger=_isolated(r"[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2}"),
        check=_is_iban,
    ),
    Rule(
        kind="credit-card",
        before=_ISOLATED,
        pattern=r"[2-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}|3[47][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{5}",
        after=r"(?![A-Za-z0-9.])(?!-[0-9])",
        trigger=_isolated(r"[2-6][0-9]{3}(?:[ -]?[0-9]{4}){2}|3[47][0-9]{2}[ -]?[0-9]{6}"),
        check=_is_card,
    ),
    Rule(
        kind="ssn",
        before=_ISOLATED,
        pattern=r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}",
        after=r"(?![A-Za-z0-9-])",
        trigger=_isolated(r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}"),
        check=_is_ssn,
    ),
    Rule(
        kind="phone",
        before=r"(?<![A-Za-z0-9_.+/=-])",
        pattern=(
            # With the country code, or in the notation of North America and most of Europe.
            r"\+[1-9][0-9]{0,2}(?:[ .()-]{0,3}[0-9]{1,5}){2,6}"
            r"|\([0-9]{3}\)[ .-]?[0-9]{3}[ .-][0-9]{4}"
            r"|[2-9][0-9]{2}[ .-][2-9][0-9]{2}[.-][0-9]{4}"
            r"|00[1-9][0-9]{1,2}(?:[ -][0-9]{2,5}){2,5}"
            r"|0[1-9][0-9]{1,4}[ /-]{1,3}[0-9]{3,5}(?:[ -]?[0-9]{2,5}){1,3}"
        ),
        after=r"(?![A-Za-z0-9_=])",
        trigger=_isolated(
            r"\+[1-9][0-9 .()-]{7}|\([0-9]{3}\)[ .-]?[0-9]{3}[ .-]"
            r"|[2-9][0-9]{2}[ .-][2-9][0-9]{2}[.-][0-9]{4}"
            r"|00[1-9][0-9]{1,2}[ -][0-9]{2}|0[1-9][0-9]{1,4}[ /-]{1,3}[0-9]{3}",
            joining_characters="_.+/=-",
        ),
        check=_is_phone,
    ),
    Rule(
        kind="ip-address",
        before=r"(?<![A-Za-z0-9_.@/-])",
        pattern=r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}",
        after=r"(?![A-Za-z0-9_.-])",
        trigger=_isolated(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]", joining_characters="_.@/-"),
        check=_is_public_address,
    ),
)
