"""Whether a unified conversation holds what its schema and its rules demand.

`lenient` asks the schema alone; `standard` also the data quality checks and required fields of the mapping
document; `strict` also the further rules of the schema's project, and lets no warning pass.

A document that was made from another source is judged by what that source states. What had to be filled in is
marked in the document (`agent_journal`), or was noted by the reader that inferred it.
"""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from agent_journal.model import ids, timestamps
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agent_journal.notes import Note

Level = Literal["lenient", "standard", "strict"]
LEVELS: tuple[Level, ...] = ("lenient", "standard", "strict")
ROLES = ("user", "assistant", "system", "tool", "function")
SCHEMA = "validation/schemas/unified-1.0.0.schema.json"
# What makes a JSON object a unified conversation, or one that was meant to be.
_SIGNS = frozenset({"schema_version", "conversation_id", "platform", "messages"})
_MIN_SIGNS_COUNT = 3
_MAX_SCHEMA_ERRORS = 100
# Where documents of this program have what the schema cannot hold.
_OWN_FIELD = "agent_journal"
# Required fields that the data quality checks report with errors of their own.
_CHECKED_PATHS = frozenset({"conversation_id", "platform.name", "messages"})
_UNSTATED = "Missing {}: the source does not state it"
# Notes of readers that are errors here, since the mapping document demands what was inferred.
_FAULTS = {Kind.MISSING_FIELD.label: _UNSTATED, Kind.UNKNOWN_ROLE.label: "Invalid {}"}
_FIRST_YEAR = "2020-01-01T00:00:00.000Z"
_HOUR_MS = 3_600_000
_MAX_COST_USD = 100
_MIN_MESSAGES, _MIN_TOKENS = 2, 10
_SECRET = re.compile(
    r"""(?i:api[_-]?key|password|secret|token)["']?\s*[:=]\s*["']?[^\s"'<>{}$*]{8,}"""
    r"""|-----BEGIN [A-Z ]*PRIVATE KEY"""
)


class Result(Struct, frozen=True, kw_only=True):
    """The problems of one conversation."""

    conversation: str | None
    valid: bool
    errors: list[str]
    warnings: list[str]


class _Problems(NamedTuple):
    errors: list[str]
    warnings: list[str]


def is_unified(record: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a unified conversation, or was meant to be one."""
    return len(_SIGNS.intersection(record)) >= _MIN_SIGNS_COUNT


def check(
    document: Any,
    level: Level,
    now: str,
    required: Iterable[str] = (),
    *,
    noted: Iterable[Note] = (),
    unsupported: Iterable[int] = (),
    allows_empty_text: bool = False,
) -> Result:
    """Check a document; after `now` is the future.

    `required` are paths that its platform must have, `a|b` being one of two. `noted` is what its
    reader noted: what the source does not state is an error. `unsupported` are the places of messages whose
    content in the source is neither a text nor a block nor a list of blocks. `allows_empty_text` is whether
    its source writes an empty text for a message without any.
    """
    problems = _Problems([], [])
    if not isinstance(document, dict):
        return Result(conversation=None, valid=False, errors=["it is no JSON object"], warnings=[])
    problems.errors.extend(f"schema: {error}" for error in schema_errors(document))
    # What is no object has no field: so says the mapping document, and places stay those of the file.
    messages = [each if isinstance(each, dict) else {} for each in _list(document.get("messages"))]
    if level != "lenient":
        _standard(document, messages, now, problems)
        _content(messages, problems, allows_empty_text=allows_empty_text)
        problems.errors.extend(f"Message {place} has an unsupported content format" for place in unsupported)
        _roles(messages, problems)
        problems.errors.extend(_missing(document, messages, required))
        problems.errors.extend(_fault(note) for note in noted if note.kind in _FAULTS)
    if level == "strict":
        for rule in _STRICT:
            rule(document, messages, now, problems)
    valid = not problems.errors and not (level == "strict" and problems.warnings)
    name = document.get("conversation_id")
    return Result(
        conversation=name if isinstance(name, str) else None,
        valid=valid,
        errors=problems.errors,
        warnings=problems.warnings,
    )


@cache
def _validator() -> Any:
    import jsonschema_rs  # noqa: PLC0415 (slow to import)
    import msgspec  # noqa: PLC0415

    schema = msgspec.json.decode(pkgutil.get_data("agent_journal", SCHEMA) or b"{}")
    # Draft 7 has no format `uuid`, so it is defined here.
    return jsonschema_rs.Draft7Validator(schema, validate_formats=True, formats={"uuid": ids.is_uuid})


def schema_errors(document: Any) -> Iterator[str]:
    """What the schema has against a document, with the place of each."""
    try:
        errors = _validator().iter_errors(document)
    except (ValueError, RecursionError) as refused:  # deeper, or of larger numbers, than the validator takes
        yield f"it cannot be checked ({refused})"
        return
    for count, error in enumerate(errors):
        if count == _MAX_SCHEMA_ERRORS:
            yield "there are more"
            return
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        yield f"{place.lstrip('.') or 'the document'}: {error.message[:200]}"


# The checks of the mapping document, in its order and its words.


def _standard(
    document: dict[str, Any], messages: list[dict[str, Any]], now: str, problems: _Problems
) -> None:
    platform = document.get("platform")
    if not document.get("conversation_id"):
        problems.errors.append("Missing conversation_id")
    if not (isinstance(platform, dict) and platform.get("name")):
        problems.errors.append("Missing platform name")
    if not messages:
        problems.errors.append("No messages found")
    for place, message in enumerate(messages):
        at = message.get("timestamp")
        if not at:
            problems.errors.append(f"Message {place} missing timestamp")
        if _is_later(at, now):
            problems.warnings.append(f"Message {place} has future timestamp")
    if undated := sum(map(_is_undated, messages)):
        have = "has no timestamp of its own" if undated == 1 else "have no timestamp of their own"
        problems.warnings.append(f"{undated} of {len(messages)} messages {have}")


def _content(messages: list[dict[str, Any]], problems: _Problems, *, allows_empty_text: bool) -> None:
    for place, message in enumerate(messages):
        if not _has_length(message.get("content")):
            problems.errors.append(f"Message {place} has empty content")
        elif _is_filled_in(message):
            target = problems.warnings if allows_empty_text else problems.errors
            target.append(f"Message {place} has empty content")


def _is_filled_in(message: dict[str, Any]) -> bool:
    """Whether a document has an empty text where its source has no content at all, and says so."""
    own_fields = message.get(_OWN_FIELD)
    return isinstance(own_fields, dict) and own_fields.get("empty") is True


def _roles(messages: list[dict[str, Any]], problems: _Problems) -> None:
    for place, message in enumerate(messages):
        if message.get("role") not in ROLES:
            problems.errors.append(f"Message {place} has invalid role: {_word(message)}")


def _has_length(content: Any) -> bool:
    """Whether something has a length that is not zero: of what JSON has, lists and texts."""
    return isinstance(content, list | str) and len(content) > 0


def _word(message: dict[str, Any]) -> str:
    """A role as the document's own language would print it."""
    role = message.get("role", "undefined")
    return "null" if role is None else str(role)


def _missing(
    document: dict[str, Any], messages: list[dict[str, Any]], required: Iterable[str]
) -> Iterator[str]:
    unstated = set(_unstated(document, messages))
    for path in required:
        ways = path.split("|")
        present = [way for way in ways if _has(document, way.split("."))]
        if not present:
            if path not in _CHECKED_PATHS:
                yield f"Missing {' or '.join(ways)}"
        elif unstated.issuperset(present):
            yield _UNSTATED.format(present[0])


def _fault(note: Note) -> str:
    """What a reader noted when it inferred something, as an error."""
    fault = _FAULTS[note.kind].format(note.detail)
    return f"{note.where}: {fault}" if note.where else fault


def _unstated(document: dict[str, Any], messages: list[dict[str, Any]]) -> Iterator[str]:
    """What a document had to fill in, as the schema demands, and says that it did."""
    own_fields = document.get(_OWN_FIELD)
    own = own_fields.get("conversation") if isinstance(own_fields, dict) else None
    if isinstance(own, dict):
        if own.get("started_at", "") is None:
            yield "created_at"
        if own.get("made_id") is True:
            yield from ("conversation_id", "session.session_id")
    if any(map(_is_undated, messages)):
        yield "messages[].timestamp"


def _is_undated(message: dict[str, Any]) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and metadata.get("timestamp_inferred") is True


def _has(document: Any, steps: list[str]) -> bool:
    """Whether there is something at a path; `messages[]` stands for each of them."""
    current = document
    for index, step in enumerate(steps):
        name = step.removesuffix("[]")
        current = current.get(name) if isinstance(current, dict) else None
        if step.endswith("[]") and isinstance(current, list):
            return bool(current) and all(_has(each, steps[index + 1 :]) for each in current)
    return current not in (None, "", [], {})


# The further rules of the schema's project.


def _in_order(
    _document: dict[str, Any], messages: list[dict[str, Any]], _now: str, problems: _Problems
) -> None:
    last: int | None = None
    for place, message in enumerate(messages):
        at = _epoch(message.get("timestamp"))
        if at is not None and last is not None:
            if at < last:
                problems.errors.append(f"Message {place} is older than the one before it")
            elif at - last > _HOUR_MS:
                problems.warnings.append(f"Message {place} follows more than an hour after the one before it")
        last = at if at is not None else last


def _speakers(
    _document: dict[str, Any], messages: list[dict[str, Any]], _now: str, problems: _Problems
) -> None:
    roles = [message.get("role") for message in messages]
    if "user" not in roles:
        problems.errors.append("No user message")
    if len(messages) < _MIN_MESSAGES:
        problems.warnings.append(f"Fewer than {_MIN_MESSAGES} messages")
    asked = False
    for place, role in enumerate(roles):
        if role == "assistant" and not asked:
            problems.warnings.append(f"Message {place}: nobody asked before the assistant answered")
            asked = True  # reported once
        asked = asked or role == "user"


def _tools(_document: dict[str, Any], messages: list[dict[str, Any]], _now: str, problems: _Problems) -> None:
    calls: dict[str, int] = {}
    for place, block in _blocks(messages):
        call_id = block.get("id")
        if block.get("type") == "tool_use" and isinstance(call_id, str):
            calls.setdefault(call_id, place)
    answered: set[str] = set()
    for place, block in _blocks(messages):
        if block.get("type") == "tool_result":
            call_id = block.get("tool_use_id")
            if not isinstance(call_id, str) or call_id not in calls:
                problems.errors.append(f"Message {place} has the result of no known tool call")
            else:
                answered.add(call_id)
    problems.warnings.extend(
        f"Message {place} has a tool call without a result"
        for call_id, place in calls.items()
        if call_id not in answered
    )


def _texts(_document: dict[str, Any], messages: list[dict[str, Any]], _now: str, problems: _Problems) -> None:
    for place, block in _blocks(messages):
        text = block.get("text")
        if block.get("type") == "text" and not (isinstance(text, str) and text.strip()):
            problems.errors.append(f"Message {place} has a blank text")
        if any(map(_SECRET.search, _strings(block))):
            problems.errors.append(f"Message {place} seems to hold a secret")


def _counts(document: dict[str, Any], messages: list[dict[str, Any]], _now: str, problems: _Problems) -> None:
    metrics = document.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    total = 0
    for where, counts in (
        ("Metrics", metrics.get("total_tokens")),
        *((f"Message {place}", message.get("tokens")) for place, message in enumerate(messages)),
    ):
        stated = counts.values() if isinstance(counts, dict) else ()
        numbers = [value for value in stated if _is_number(value)]
        if any(number < 0 for number in numbers):
            problems.errors.append(f"{where} has a negative number of tokens")
        total += sum(numbers)
    if 0 < total < _MIN_TOKENS:
        problems.warnings.append(f"Fewer than {_MIN_TOKENS} tokens")
    cost = metrics.get("total_cost")
    amount = cost.get("amount") if isinstance(cost, dict) else None
    if isinstance(amount, int | float) and amount > _MAX_COST_USD:
        problems.warnings.append(f"It cost more than {_MAX_COST_USD} USD")


def _dates(document: dict[str, Any], _messages: list[dict[str, Any]], now: str, problems: _Problems) -> None:
    created = document.get("created_at")
    if _is_later(_FIRST_YEAR, created):
        problems.warnings.append("Created before 2020")
    if _is_later(created, now):
        problems.warnings.append("Created in the future")


def _sidechain(
    document: dict[str, Any], _messages: list[dict[str, Any]], _now: str, problems: _Problems
) -> None:
    if _has_true(document, "platform", "metadata", "isSidechain") and not _has(
        document, ["session", "parent_conversation_id"]
    ):
        problems.errors.append("A sidechain names no parent conversation")


_STRICT: tuple[Callable[[dict[str, Any], list[dict[str, Any]], str, _Problems], None], ...] = (
    _in_order,
    _speakers,
    _tools,
    _texts,
    _counts,
    _dates,
    _sidechain,
)


def _has_true(document: Any, *steps: str) -> bool:
    for step in steps:
        document = document.get(step) if isinstance(document, dict) else None
    return document is True


def _blocks(messages: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    for place, message in enumerate(messages):
        for block in _list(message.get("content")):
            if isinstance(block, dict):
                yield place, block


def _strings(value: Any) -> Iterator[str]:
    """Every text in a value; a field that holds one, with its name, as in `token: abc`."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, list):
            pending.extend(current)
        elif isinstance(current, dict):
            for name, inner in current.items():
                pending.append(f"{name}: {inner}" if isinstance(inner, str) else inner)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_later(at: Any, than: Any) -> bool:
    first, second = _epoch(at), _epoch(than)
    return first is not None and second is not None and first > second


def _epoch(at: Any) -> int | None:
    return timestamps.epoch_ms(at) if isinstance(at, str) else None
