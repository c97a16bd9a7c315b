"""How the files of a Takeout look: they are told by what is in them, as their names are translated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

SOURCE = "gemini-takeout"
ACTIVITY, PAGE, WORKSPACE, SETTINGS, DOCUMENTED = "activity", "page", "workspace", "settings", "documented"
LOGS = (ACTIVITY, DOCUMENTED, PAGE)
# The brand is the part of the product's name that no language translates.
_BRANDS = ("gemini", "bard")
_ADDRESSES = ("gemini.google.com", "bard.google.com")
_SPEAKERS = ("request", "response")
CARD = b'<div class="outer-cell'
# The page of an activity log opens with a style sheet of over 100 KB.
_PREAMBLE = 1 << 20
_GEMS = (b"<b>Name:</b>", b"<b>Instructions:</b>")
_SETTINGS_FILES = ("gemini_gems_data", "gemini_scheduled_actions_data")
# Attachments are called by their name and a hash; what else may lie there is another product's.
_MAY_BE_LOGS = (".json", ".html", ".htm")
_MAY_BE_OTHERS = (*_MAY_BE_LOGS, ".jsonl", ".csv", ".zip", ".db", ".md")
_HASH = 12
_MOST_LOOKED_AT = 6


def version_of(file: Peek) -> str | None:
    """What a file of a Takeout is, or None if it is none of Gemini's."""
    if file.opening == "<":
        return _of_page(file)
    if file.opening == "{":
        return WORKSPACE if _is_conversation(file) else None
    if file.opening != "[":
        return None
    keys = file.keys
    is_documented = "header" in keys and not keys.isdisjoint(("details", "userInteractions"))
    if is_documented or ("time" in keys and ("title" in keys or "header" in keys)):
        return next((seen for record in file.records if (seen := _of_record(record))), None)
    return ACTIVITY if not keys and _is_empty_log(file) else None


def version_of_folder(folder: Peek) -> str | None:
    """What the log in a folder is, if the folder is that log's and not just some place it lies in."""
    others = [name for name in folder.members if name.lower().endswith(_MAY_BE_OTHERS)]
    others = [name for name in others if not _is_attached(name)]
    logs = [name for name in others if name.lower().endswith(_MAY_BE_LOGS)]
    if not logs or len(logs) > _MOST_LOOKED_AT:
        return None
    seen = [
        version
        for name in logs
        if (file := folder.member(name)) is not None and (version := version_of(file)) in LOGS
    ]
    if not seen:
        return None
    return seen[0] if is_brand(folder.name) or len(others) == len(seen) else None


def is_brand(value: Any) -> bool:
    """Whether a text, or one of a list of texts, names the product."""
    if value.__class__ is list:
        return any(is_brand(each) for each in value if each.__class__ is str)
    if value.__class__ is not str:
        return False
    name = value.lower()
    return any(map(name.__contains__, _BRANDS))


def is_ours(record: dict[str, Any]) -> bool:
    """Whether a record is of Gemini: other products have the same envelope."""
    if is_brand(record.get("header")) or is_brand(record.get("products")):
        return True
    listed = [
        record.get("titleUrl"),
        *_addresses(record.get("details")),
        *_addresses(record.get("subtitles")),
    ]
    return any(url.__class__ is str and any(site in url for site in _ADDRESSES) for url in listed)


def is_said(detail: Any) -> bool:
    """Whether a detail is what somebody said, as the documented form has it."""
    if detail.__class__ is not dict or detail.get("value").__class__ is not str:
        return False
    name = detail.get("name")
    return name.__class__ is str and name.lower() in _SPEAKERS


def _addresses(listed: Any) -> list[Any]:
    if listed.__class__ is not list:
        return []
    return [each.get("url") for each in listed if each.__class__ is dict]


def _of_record(record: dict[str, Any]) -> str | None:
    details = record.get("details")
    if "header" in record and "userInteractions" in record:
        return DOCUMENTED
    if "header" in record and details.__class__ is list and any(map(is_said, details)):
        return DOCUMENTED
    return ACTIVITY if "title" in record and is_ours(record) else None


def _is_conversation(file: Peek) -> bool:
    """Whether a document is a conversation of Gemini in Workspace."""
    if "conversation_turns" not in file.keys:
        return False
    turns = file.records[0].get("conversation_turns")
    if turns.__class__ is not list:
        return False
    keys = {key for turn in turns if turn.__class__ is dict for key in turn}
    return not keys.isdisjoint({"user_turn", "system_turn"}) or (not turns and "creation_time" in file.keys)


def _is_empty_log(file: Peek) -> bool:
    """Whether a file without a record is the log of Gemini, which only its folder tells."""
    return file.value == [] and any(is_brand(step) for step in file.path.split("/")[-2:-1])


def _of_page(file: Peek) -> str | None:
    head = file.head
    if all(mark in head for mark in _GEMS):
        return SETTINGS
    if b"<div" in head and file.name.startswith(_SETTINGS_FILES) and CARD not in head:
        return SETTINGS
    if b"mdl-" not in head:
        return None
    cards = head if CARD in head else file.beyond(CARD, _PREAMBLE)
    if not cards:
        return PAGE if any(is_brand(step) for step in file.path.split("/")[-2:-1]) else None
    return PAGE if _names_brand(cards[cards.index(CARD) :]) else None


def _names_brand(cards: bytes) -> bool:
    """Whether the heading of one of the first cards names the product."""
    for card in cards.split(CARD)[1:]:
        heading = card.partition(b"header-cell")[2].partition(b"</div>")[0].lower()
        if any(brand.encode() in heading for brand in _BRANDS):
            return True
    return False


def _is_attached(name: str) -> bool:
    """Whether a name ends with the hash that a Takeout puts behind the names of attachments."""
    stem = name.rpartition(".")[0] or name
    mark = stem.rpartition("-")[2]
    return "-" in stem and len(mark) >= _HASH and all(c in "0123456789abcdef" for c in mark.lower())
