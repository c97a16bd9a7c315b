"""Detects the files of a Takeout by their content, because their names are translated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

SOURCE = "gemini-takeout"
ACTIVITY, PAGE, WORKSPACE, SETTINGS, DOCUMENTED = "activity", "page", "workspace", "settings", "documented"
LOGS = (ACTIVITY, DOCUMENTED, PAGE)
# The brand is the part of the product's name that no language translates.
_BRANDS = ("gemini", "bard")
_SITES = ("gemini.google.com", "bard.google.com")
_SPEAKERS = ("request", "response")
CARD = b'<div class="outer-cell'
# The page of an activity log begins with a stylesheet of over 100 KB.
_PREAMBLE_BYTES = 1 << 20
_GEM_LABELS = (b"<b>Name:</b>", b"<b>Instructions:</b>")
_SETTINGS_FILES = ("gemini_gems_data", "gemini_scheduled_actions_data")
# Attachments are named by their original name and a hash; other files may be another product's.
_LOG_SUFFIXES = (".json", ".html", ".htm")
_DATA_SUFFIXES = (*_LOG_SUFFIXES, ".jsonl", ".csv", ".zip", ".db", ".md")
_MIN_HASH_CHARS = 12
_MAX_CANDIDATE_FILES = 6


def version_of(file: Peek) -> str | None:
    """Get the version of a Takeout file, or None if it is not Gemini's."""
    if file.opening == "<":
        return _version_of_page(file)
    if file.opening == "{":
        return WORKSPACE if _is_conversation(file) else None
    if file.opening != "[":
        return None
    keys = file.keys
    is_documented = "header" in keys and not keys.isdisjoint(("details", "userInteractions"))
    if is_documented or ("time" in keys and ("title" in keys or "header" in keys)):
        return next((version for record in file.records if (version := _version_of_record(record))), None)
    return ACTIVITY if not keys and _is_empty_log(file) else None


def version_of_folder(folder: Peek) -> str | None:
    """Get the version of the log in a folder, if the folder is an export and not just any folder."""
    data_files = [name for name in folder.members if name.lower().endswith(_DATA_SUFFIXES)]
    data_files = [name for name in data_files if not _is_attachment(name)]
    logs = [name for name in data_files if name.lower().endswith(_LOG_SUFFIXES)]
    if not logs or len(logs) > _MAX_CANDIDATE_FILES:
        return None
    versions = [
        version
        for name in logs
        if (file := folder.member(name)) is not None and (version := version_of(file)) in LOGS
    ]
    if not versions:
        return None
    return versions[0] if is_brand(folder.name) or len(data_files) == len(versions) else None


def is_brand(value: Any) -> bool:
    """Whether a text, or one of a list of texts, names the product."""
    if value.__class__ is list:
        return any(is_brand(each) for each in value if each.__class__ is str)
    if value.__class__ is not str:
        return False
    name = value.lower()
    return any(map(name.__contains__, _BRANDS))


def is_gemini_record(record: dict[str, Any]) -> bool:
    """Whether a record is of Gemini: other products use the same envelope."""
    if is_brand(record.get("header")) or is_brand(record.get("products")):
        return True
    urls = [
        record.get("titleUrl"),
        *_urls(record.get("details")),
        *_urls(record.get("subtitles")),
    ]
    return any(url.__class__ is str and any(site in url for site in _SITES) for url in urls)


def is_message_detail(detail: Any) -> bool:
    """Whether a detail is a message in the documented form."""
    if detail.__class__ is not dict or detail.get("value").__class__ is not str:
        return False
    name = detail.get("name")
    return name.__class__ is str and name.lower() in _SPEAKERS


def _urls(items: Any) -> list[Any]:
    if items.__class__ is not list:
        return []
    return [item.get("url") for item in items if item.__class__ is dict]


def _version_of_record(record: dict[str, Any]) -> str | None:
    details = record.get("details")
    if "header" in record and "userInteractions" in record:
        return DOCUMENTED
    if "header" in record and details.__class__ is list and any(map(is_message_detail, details)):
        return DOCUMENTED
    return ACTIVITY if "title" in record and is_gemini_record(record) else None


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
    """Whether a file without records is a log of Gemini, by the name of its folder."""
    return file.value == [] and any(is_brand(step) for step in file.path.split("/")[-2:-1])


def _version_of_page(file: Peek) -> str | None:
    head = file.head
    if all(mark in head for mark in _GEM_LABELS):
        return SETTINGS
    if b"<div" in head and file.name.startswith(_SETTINGS_FILES) and CARD not in head:
        return SETTINGS
    if b"mdl-" not in head:
        return None
    cards = head if CARD in head else file.beyond(CARD, _PREAMBLE_BYTES)
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


def _is_attachment(name: str) -> bool:
    """Whether a name ends with the hash that a Takeout appends to the names of attachments."""
    stem = name.rpartition(".")[0] or name
    suffix = stem.rpartition("-")[2]
    return (
        "-" in stem
        and len(suffix) >= _MIN_HASH_CHARS
        and all(char in "0123456789abcdef" for char in suffix.lower())
    )
