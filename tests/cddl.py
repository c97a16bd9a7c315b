"""Checks a decoded agent record against the CDDL of draft -00 (v3.0.0-draft), rule by rule.

Only the record: signed envelopes are CBOR. `check` gives one line per broken rule, with the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any, str], list[str]]

DATE_TIME = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):([0-5][0-9]):(60|[0-5][0-9])"
    r"([.][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
URI = re.compile(r"(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?")


def check(record: Any) -> list[str]:
    """What is wrong with a record; nothing if it is valid."""
    return verifiable_agent_record(record, "record")


def wrong(path: str, rule: str, what: str) -> list[str]:
    return [f"{path}: {rule}: {what}"]


def any_value(_value: Any, _path: str) -> list[str]:
    return []


def tstr(value: Any, path: str) -> list[str]:
    return [] if isinstance(value, str) else wrong(path, "tstr", type(value).__name__)


def uint(value: Any, path: str) -> list[str]:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return [] if is_whole and value >= 0 else wrong(path, "uint", repr(value))


def number(value: Any, path: str) -> list[str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return [] if is_number else wrong(path, "number", repr(value))


def boolean(value: Any, path: str) -> list[str]:
    return [] if isinstance(value, bool) else wrong(path, "bool", repr(value))


def one_of(rule: str, *allowed: str) -> Check:
    def checked(value: Any, path: str) -> list[str]:
        return [] if value in allowed else wrong(path, rule, f"{value!r} is none of {allowed}")

    return checked


def array(of: Check) -> Check:
    def checked(value: Any, path: str) -> list[str]:
        if not isinstance(value, list):
            return wrong(path, "array", type(value).__name__)
        return [error for place, item in enumerate(value) for error in of(item, f"{path}[{place}]")]

    return checked


def mapping(
    rule: str, required: dict[str, Check], optional: dict[str, Check], *, is_open: bool = True
) -> Check:
    """A map; an open one (`* tstr => any`) takes further keys."""

    def checked(value: Any, path: str) -> list[str]:
        if not isinstance(value, dict):
            return wrong(path, rule, f"is {type(value).__name__}, not a map")
        errors = [f"{path}: {rule}: {key} is missing" for key in required if key not in value]
        if not is_open:
            unknown = value.keys() - required.keys() - optional.keys()
            errors += [f"{path}: {rule}: {key} is unknown" for key in sorted(unknown)]
        for key, rule_of_key in (required | optional).items():
            if key in value:
                errors += rule_of_key(value[key], f"{path}.{key}")
        return errors

    return checked


def abstract_timestamp(value: Any, path: str) -> list[str]:
    if isinstance(value, str):
        return [] if DATE_TIME.fullmatch(value) else wrong(path, "abstract-timestamp", repr(value))
    return [] if not uint(value, path) else wrong(path, "abstract-timestamp", repr(value))


def uri(value: Any, path: str) -> list[str]:
    return tstr(value, path) or ([] if URI.fullmatch(value) else wrong(path, "uri-regexp", repr(value)))


# JSON has no bstr, so of `session-id = tstr / bstr` the text is left.
session_id = entry_id = tstr


def entry(value: Any, path: str) -> list[str]:
    """The union of five kinds, told apart by `type`."""
    kind = value.get("type") if isinstance(value, dict) else None
    rule = ENTRIES.get(kind) if isinstance(kind, str) else None
    return wrong(path, "entry", f"type is {kind!r}") if rule is None else rule(value, path)


PLACE: dict[str, Check] = {"timestamp": abstract_timestamp, "id": entry_id, "children": array(entry)}

token_usage = mapping(
    "token-usage",
    {},
    {"input": uint, "output": uint, "cached": uint, "reasoning": uint, "total": uint, "cost": number},
)
message_entry = mapping(
    "message-entry",
    {"type": one_of("message-entry", "user", "assistant")},
    {"content": any_value, "model-id": tstr, "parent-id": entry_id, "token-usage": token_usage, **PLACE},
)
tool_call_entry = mapping(
    "tool-call-entry",
    {"type": one_of("tool-call-entry", "tool-call"), "name": tstr, "input": any_value},
    {"call-id": tstr, **PLACE},
)
tool_result_entry = mapping(
    "tool-result-entry",
    {"type": one_of("tool-result-entry", "tool-result"), "output": any_value},
    {"call-id": tstr, "status": tstr, "is-error": boolean, **PLACE},
)
reasoning_entry = mapping(
    "reasoning-entry",
    {"type": one_of("reasoning-entry", "reasoning"), "content": any_value},
    {"encrypted": tstr, "subject": tstr, **PLACE},
)
event_entry = mapping(
    "event-entry",
    {"type": one_of("event-entry", "system-event"), "event-type": tstr},
    {"data": mapping("event-entry data", {}, {}), **PLACE},
)
ENTRIES: dict[str, Check] = {
    "user": message_entry,
    "assistant": message_entry,
    "tool-call": tool_call_entry,
    "tool-result": tool_result_entry,
    "reasoning": reasoning_entry,
    "system-event": event_entry,
}

vcs_context = mapping("vcs-context", {"type": tstr}, {"revision": tstr, "branch": tstr, "repository": tstr})
environment = mapping("environment", {"working-dir": tstr}, {"vcs": vcs_context, "sandboxes": array(tstr)})
agent_meta = mapping(
    "agent-meta",
    {"model-id": tstr, "model-provider": tstr},
    {"models": array(tstr), "cli-name": tstr, "cli-version": tstr},
)
recording_agent = mapping("recording-agent", {"name": tstr}, {"version": tstr})
session_trace = mapping(
    "session-trace",
    {"session-id": session_id, "agent-meta": agent_meta, "entries": array(entry)},
    {
        "format": tstr,
        "session-start": abstract_timestamp,
        "session-end": abstract_timestamp,
        "environment": environment,
    },
)

contributor = mapping(
    "contributor",
    {"type": one_of("contributor", "human", "ai", "mixed", "unknown")},
    {"model-id": tstr},
    is_open=False,
)
resource = mapping("resource", {"type": tstr, "url": uri}, {}, is_open=False)
line_range = mapping(
    "range",
    {"start-line": uint, "end-line": uint},
    {"content-hash": tstr, "content-hash-alg": tstr, "contributor": contributor},
    is_open=False,
)
conversation = mapping(
    "conversation",
    {"ranges": array(line_range)},
    {"url": uri, "contributor": contributor, "related": array(resource)},
    is_open=False,
)
file = mapping("file", {"path": tstr, "conversations": array(conversation)}, {}, is_open=False)
file_attribution_record = mapping("file-attribution-record", {"files": array(file)}, {}, is_open=False)

verifiable_agent_record = mapping(
    "verifiable-agent-record",
    {"version": tstr, "id": tstr, "session": session_trace},
    {
        "created": abstract_timestamp,
        "file-attribution": file_attribution_record,
        "vcs": vcs_context,
        "recording-agent": recording_agent,
    },
)
