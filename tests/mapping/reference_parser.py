"""The draft's reference parser (-00), its rules written down once more: entries of five agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.inline import save_lines

Entry: TypeAlias = dict[str, Any]
LINE = ("timestamp", "sessionId", "version", "cwd", "gitBranch", "uuid", "type", "message", "parentUuid")
ENVELOPE = (
    *("role", "modelID", "providerID", "model", "time"),
    *("id", "sessionID", "tokens", "cost", "parentID"),
)


def entry_of(kind: str, **values: Any) -> Entry:
    """An entry; what is None is left out."""
    told = {name.replace("_", "-"): value for name, value in values.items()}
    return {"type": kind} | {name: value for name, value in told.items() if value is not None}


def passed(source: dict[str, Any], *consumed: str) -> Entry:
    """The fields that are passed on under their own names."""
    return {name: value for name, value in source.items() if name not in consumed and value is not None}


def claude(path: Path) -> Iterator[Entry]:
    """A session of Claude Code."""
    for line in lines_of(path):
        at, name = line.get("timestamp"), line.get("uuid")
        body = line.get("message", {})
        if line.get("type") == "queue-operation":
            told = entry_of("system-event", timestamp=at, id=name, event_type="queue-operation")
            yield told | passed(line, *LINE, "operation")
        elif body.get("role") in ("user", "assistant"):
            is_answer = body["role"] == "assistant"
            told = entry_of(
                body["role"],
                timestamp=at,
                id=name,
                content=body.get("content", ""),
                parent_id=line.get("parentUuid"),
                model_id=body.get("model") if is_answer else None,
                token_usage=claude_usage(body.get("usage", {})) if is_answer else None,
                children=[*claude_children(body.get("content"), is_answer=is_answer)] or None,
            )
            beside = passed(body, "role", "content", "model", "type", "id", "usage")
            yield told | passed(line, *LINE) | beside


def claude_usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    names = {"input": "input_tokens", "output": "output_tokens", "cached": "cache_read_input_tokens"}
    counts = {ours: usage[theirs] for ours, theirs in names.items() if theirs in usage}
    return counts | passed(usage, *names.values()) or None


def claude_children(content: Any, *, is_answer: bool) -> Iterator[Entry]:
    for block in content if isinstance(content, list) else ():
        match block.get("type"), is_answer:
            case "tool_result", False:
                yield entry_of(
                    "tool-result",
                    call_id=block.get("tool_use_id"),
                    output=block.get("content", ""),
                    status="error" if block.get("is_error") else "success",
                )
            case "tool_use", True:
                yield entry_of(
                    "tool-call",
                    name=block.get("name", "unknown"),
                    input=block.get("input", {}),
                    call_id=block.get("id"),
                )
            case "thinking", True:
                yield entry_of("reasoning", content=block.get("thinking", ""))


def gemini(path: Path) -> Iterator[Entry]:
    """A session of Gemini CLI."""
    consumed = ("type", "timestamp", "content", "id", "model", "thoughts", "toolCalls", "tokens")
    for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
        at, content = message.get("timestamp"), message.get("content", "")
        is_answer = message.get("type", "user") not in ("user", "human")
        told = entry_of(
            "assistant" if is_answer else "user",
            timestamp=at,
            content=content,
            id=message.get("id"),
            model_id=message.get("model") if is_answer else None,
            token_usage=message.get("tokens") if is_answer else None,
            children=[*gemini_children(message, at)] or None if is_answer else None,
        )
        yield told | passed(message, *consumed)


def gemini_children(message: dict[str, Any], at: Any) -> Iterator[Entry]:
    for thought in message.get("thoughts", []):
        told = entry_of("reasoning", content=thought.get("description", ""), subject=thought.get("subject"))
        yield told | passed(thought, "description", "subject")
    for call in message.get("toolCalls", []):
        of_call = {"timestamp": call.get("timestamp", at), "call_id": call.get("id")}
        asked = entry_of("tool-call", name=call.get("name", "unknown"), input=call.get("args", {}), **of_call)
        yield asked | passed(call, "timestamp", "name", "args", "id", "result", "status")
        if call.get("result") is not None:
            yield entry_of("tool-result", output=call["result"], status=call.get("status"), **of_call)


def opencode(path: Path) -> Iterator[Entry]:
    """All sessions in a stream of OpenCode, as one, in the order of its records."""
    records = [record for record in concatenated(path) if "worktree" not in record]
    roles = {record["id"]: record["role"] for record in records if "role" in record and "type" not in record}
    for record in records:
        kind, name = record.get("type"), record.get("id")
        if "role" in record and kind is None:
            yield opencode_envelope(record)
        elif kind == "text":
            role = roles.get(record.get("messageID"), "assistant")
            said = entry_of(
                "user" if role == "user" else "assistant", content=record.get("text", ""), id=name
            )
            yield said | passed(record, "type", "text", "id", "messageID")
        elif kind == "tool":
            yield from opencode_tool(record, record.get("state", {}))
        elif kind == "patch":
            changed = entry_of("tool-result", id=name, output=record.get("diff", ""), status="success")
            yield changed | passed(record, "type", "diff", "id")
        elif kind == "reasoning":
            thought = entry_of("reasoning", content=record.get("text"), id=name)
            yield thought | passed(record, "type", "text", "id")
        elif kind in ("step-start", "step-finish"):
            yield entry_of("system-event", event_type=kind) | passed(record, "type")


def opencode_envelope(record: dict[str, Any]) -> Entry:
    tokens = record.get("tokens")
    usage = passed(tokens) if isinstance(tokens, dict) else {}
    if record.get("cost") is not None:
        usage["cost"] = record["cost"]
    told = entry_of(
        "user" if record["role"] == "user" else "assistant",
        timestamp=record.get("time", {}).get("created"),
        parent_id=record.get("parentID"),
        token_usage=usage or None,
    )
    return told | passed(record, *ENVELOPE)


def opencode_tool(record: dict[str, Any], state: dict[str, Any]) -> Iterator[Entry]:
    time = state.get("time", {})
    call = entry_of(
        "tool-call",
        timestamp=time.get("start"),
        name=record.get("tool", "unknown"),
        input=state.get("input", {}),
        id=record.get("id"),
        call_id=record.get("callID"),
    )
    consumed = ["type", "tool", "callID", "state", "id", "sessionID", "messageID"]
    yield call | passed(state, "input", "output", "status", "time") | passed(record, *consumed)
    output, status = state.get("output"), state.get("status")
    if output is not None or status:
        yield entry_of(
            "tool-result",
            timestamp=time.get("end"),
            output="" if output is None else output,
            status=status,
            call_id=record.get("callID"),
            metadata=state.get("metadata") or None,
        )


CODEX_CALLS = {
    "function_call": ("arguments", "name", "call_id"),
    "custom_tool_call": ("input", "name", "call_id"),
    "web_search_call": ("action",),
}
CODEX_SHOWN = {
    "agent_reasoning": ("reasoning", "text"),
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
}


def codex(path: Path) -> Iterator[Entry]:
    """A rollout of Codex: its items, and the events that show them once more."""
    for line in lines_of(path):
        body = line["payload"]
        kind = body.get("type")
        found = None
        if line["type"] == "response_item":
            found = codex_item(kind, body)
        elif line["type"] == "event_msg" and kind in CODEX_SHOWN:
            shown, words = CODEX_SHOWN[kind]
            found = entry_of(shown, content=body.get(words)) | passed(body, "type", words)
        elif line["type"] == "event_msg" and kind == "token_count":
            # The reference looks for the counts where they are not; here is what it means.
            info = passed(body.get("info") or {})
            counts = codex_usage(info.get("last_token_usage", {})) | info
            found = entry_of("system-event", event_type="token-count", token_usage=counts or None)
            found |= passed(body, "type", "info")
        if found is not None:
            yield found | {"timestamp": line["timestamp"]}


def codex_item(kind: str, body: dict[str, Any]) -> Entry | None:
    if kind == "message":
        speaker = "assistant" if body["role"] == "assistant" else "user"
        return entry_of(speaker, content=body["content"]) | passed(body, "type", "role", "content")
    if kind in CODEX_CALLS:
        given, *names = CODEX_CALLS[kind]
        call = entry_of("tool-call", name=body.get("name", "web_search"), call_id=body.get("call_id"))
        return call | {"input": body[given]} | passed(body, "type", given, *names)
    if kind in ("function_call_output", "custom_tool_call_output"):
        answer = entry_of("tool-result", output=body["output"], call_id=body.get("call_id"))
        return answer | passed(body, "type", "output", "call_id")
    if kind == "reasoning":
        text = "\n".join(piece["text"] for piece in body["summary"])
        thought = entry_of("reasoning", content=text, encrypted=body.get("encrypted_content"))
        return thought | passed(body, "type", "summary", "encrypted_content")
    return None


def codex_usage(counts: dict[str, Any]) -> dict[str, Any]:
    names = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cached": "cached_input_tokens",
        "reasoning": "reasoning_output_tokens",
        "total": "total_tokens",
    }
    return {ours: counts[theirs] for ours, theirs in names.items() if theirs in counts}


def cursor(path: Path) -> Iterator[Entry]:
    """A transcript of Cursor."""
    for line in lines_of(path):
        role = "user" if line.get("role", "user") == "user" else "assistant"
        yield entry_of(role, content=line.get("message", {}).get("content", []))


PARSERS: dict[str, Callable[[Path], Iterator[Entry]]] = {
    "claude-code": claude,
    "codex": codex,
    "gemini-cli": gemini,
    "opencode": opencode,
    "cursor": cursor,
}


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())


def concatenated(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one behind the other."""
    text, decoder, at = path.read_text(encoding="utf-8"), json.JSONDecoder(), 0
    end = len(text.rstrip())
    while at < end:
        while text[at].isspace():
            at += 1
        value, at = decoder.raw_decode(text, at)
        if isinstance(value, dict):
            yield value


def by_session(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Each session of a stream in a file of its own, in the app's order: messages and parts by their ids.

    A stream has them in the order in which they were changed last, and those of all sessions mixed; there a
    message is found long after its parts, and parallel calls as they ended. A message follows its parts.
    """
    sessions: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for record in concatenated(path):
        if "sessionID" in record:
            is_message = "role" in record
            place = (record["id"], "~") if is_message else (record["messageID"], record["id"])
            sessions.setdefault(record["sessionID"], []).append((*place, record))
    for name, records in sessions.items():
        ordered = [record for *_, record in sorted(records, key=lambda one: one[:2])]
        yield name, save_lines(folder, f"{name}.jsonl", ordered)
