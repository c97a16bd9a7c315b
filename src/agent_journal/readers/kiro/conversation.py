"""The state of a conversation, as the databases of the command line hold it and `/save` writes it.

It is a list of exchanges: what was sent (a prompt, or the results of calls), and the answer. The oldest ones
are removed from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Conversation,
    Event,
    Message,
    Other,
    Part,
    Role,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    ids,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.kiro.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_RESPONSE, _TOOL_USE = "Response", "ToolUse"


def conversation(state: Fields, row: Fields, note: Notes, name: str) -> Conversation:
    """Make the conversation of a state and its row in the database."""
    stated_id = nonempty_str(state.take("conversation_id")) or nonempty_str(row.take("conversation_id"))
    row.drop("conversation_id")
    folder = nonempty_str(row.take("key"))
    created_at, updated_at = row.timestamp("created_at"), row.timestamp("updated_at")
    history = state.items("history") or []
    reader = _History(stated_id or ids.made(name, folder, history), note)
    for index, exchange in enumerate(history):
        reader.add(exchange, index)
    waiting = state.take("next_message")
    if waiting is not None:
        reader.add([waiting, None], len(history))
    model_info = state.view("model_info")
    model_id = model_info.get("model_id") if model_info.__class__ is dict else None
    model = nonempty_str(state.take("model")) or nonempty_str(model_id)
    transcript = _unknown_lines(state.take("transcript"), reader.log.entries)
    entries = reader.log.entries
    first, last = tree.span(entries)
    summary = state.view("latest_summary")
    text = nonempty_str(summary[0]) if summary.__class__ is list and summary else None
    rest, row_rest = state.rest(), row.rest()
    tools = _tools(rest)
    return Conversation(
        id=reader.log.session,
        made_id=stated_id is None,
        source=name,
        started_at=created_at or first,
        updated_at=updated_at or last,
        model=first_model(entries) or model,
        cwd=reader.folder or folder,
        os=reader.os,
        shape="list",
        timeline=entries,
        summaries=[Summary(text=text, kind="system")] if text else [],
        tools=tools,
        extra=rest
        | ({"transcript": transcript} if transcript else {})
        | ({"row": row_rest} if row_rest else {}),
    )


class _History:
    """Collects the messages of exchanges."""

    def __init__(self, conversation_id: str, note: Notes) -> None:
        self.log = SessionLog(conversation_id, note, lambda _: False)
        self.folder: str | None = None
        self.os: str | None = None
        self._note = note
        self._environment: Any = None

    def add(self, exchange: Any, index: int) -> None:
        """Add an exchange: an object, or in the oldest versions a pair."""
        where = f"{self.log.session} exchange {index}"
        if exchange.__class__ is list and exchange:
            exchange = dict(zip(("user", "assistant"), exchange, strict=False))
        if exchange.__class__ is not dict:
            self.log.add_value(exchange, where)
            return
        fields = Fields(dict(exchange), self._note, where)
        user, answer = fields.take("user"), fields.take("assistant")
        metadata = fields.take("request_metadata")
        metadata = Fields(dict(metadata) if metadata.__class__ is dict else {}, self._note, where)
        if user is not None:
            self._add_user(user, metadata, where)
        if answer is not None:
            self._add_answer(answer, metadata, where)
        rest = fields.rest()
        if rest:
            self.log.add(Event(id="", name="unknown", data=rest), f"{where} rest")

    def _add_user(self, raw: Any, metadata: Fields, where: str) -> None:
        if raw.__class__ is not dict:
            self.log.add_value(raw, f"{where} user")
            return
        fields = Fields(dict(raw), self._note, where)
        at = fields.timestamp("timestamp") if nonempty_str(fields.view("timestamp")) else None
        self._take_environment(fields)
        parts: list[Part] = []
        if (context := fields.view("additional_context")).__class__ is str:
            fields.drop("additional_context")
            if context:
                parts.append(Text(text=context, injected=True))
        role, more = self._sent(fields.take("content"), where)
        if not fields.view("images"):
            fields.drop("images")
        message = Message(
            id="",
            role=role,
            at=at or metadata.timestamp("request_start_timestamp_ms"),
            parts=[*more, *parts] if role == "tool" else [*parts, *more],
            extra=fields.rest(),
        )
        self.log.add(message, f"{where} user")

    def _take_environment(self, fields: Fields) -> None:
        """Take the folder and system, which each message repeats; only a change stays in a message."""
        environment = fields.view("env_context")
        state = environment.get("env_state") if environment.__class__ is dict else None
        if state.__class__ is not dict:
            return
        self.folder = self.folder or nonempty_str(state.get("current_working_directory"))
        self.os = self.os or nonempty_str(state.get("operating_system"))
        if environment == self._environment or (
            state.keys() <= {"current_working_directory"}
            and (state.get("current_working_directory") == self.folder)
        ):
            fields.drop("env_context")
        self._environment = environment

    def _sent(self, content: Any, where: str) -> tuple[Role, list[Part]]:
        """Return the role and parts of what was sent."""
        form, value = next(iter(content.items())) if _is_tagged(content) else ("", None)
        value = value if value.__class__ is dict else {}
        match form:
            case "Prompt" if value.get("prompt").__class__ is str:
                return "user", [Text(text=value["prompt"])] if value["prompt"] else []
            case "ToolUseResults":
                return "tool", self._results(value.get("tool_use_results"), where)
            case "CancelledToolUses":
                prompt = nonempty_str(value.get("prompt"))
                results = self._results(value.get("tool_use_results"), where)
                if prompt is None:
                    return "tool", results
                return "user", [*results, Text(text=prompt)]
        self._note(Kind.UNKNOWN_TYPE, where, f"content {form[:40]!r}")
        return "user", [Other(data=content, name=form or None)]

    def _results(self, raw: Any, where: str) -> list[Part]:
        return [self._result(result, where) for result in (raw if raw.__class__ is list else [])]

    def _result(self, raw: Any, where: str) -> Part:
        if raw.__class__ is not dict:
            return Other(data=raw, name="tool_result")
        fields = Fields(dict(raw), self._note, where)
        blocks = fields.items("content") or []
        parts = [_block(block) for block in blocks]
        only = parts[0] if len(parts) == 1 else None
        output: Any = only.text if isinstance(only, Text) else parts
        status = fields.view("status")
        if status in ("Success", "Error"):
            fields.drop("status")
        return ToolResult(
            call_id=fields.text("tool_use_id"),
            output=output,
            is_error=status == "Error" if status in ("Success", "Error") else None,
            extra=fields.rest(),
        )

    def _add_answer(self, raw: Any, metadata: Fields, where: str) -> None:
        form, value = next(iter(raw.items())) if _is_tagged(raw) else ("", None)
        if form not in (_RESPONSE, _TOOL_USE) or value.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, where, f"answer {form[:40]!r}")
            self.log.add(Event(id="", name="unknown", data={"assistant": raw}), f"{where} assistant")
            return
        fields = Fields(dict(value), self._note, where)
        content = fields.text("content")
        parts: list[Part] = [Text(text=content)] if content else []
        parts += [_call(call, self._note, where) for call in fields.items("tool_uses") or ()]
        at = metadata.timestamp("stream_end_timestamp_ms")
        metadata.drop("tool_use_ids_and_names")  # the calls have them
        if metadata.view("message_id") == fields.view("message_id"):
            metadata.drop("message_id")
        model = metadata.text("model_id")
        more = metadata.rest()
        message = Message(
            id=fields.text("message_id") or "",
            role="assistant",
            at=at,
            model=model,
            parts=parts,
            extra=fields.rest() | ({"request_metadata": more} if more else {}),
        )
        self.log.add(message, f"{where} assistant")


def _is_tagged(value: Any) -> bool:
    """Whether a value is a tagged one, as Rust writes those of enumerations."""
    return value.__class__ is dict and len(value) == 1


def _block(block: Any) -> Text | Other:
    if _is_tagged(block) and block.get("Text").__class__ is str:
        return Text(text=block["Text"])
    if _is_tagged(block) and "Json" in block:
        return Other(data=block["Json"], name="json")
    return Other(data=block)


def _call(raw: Any, note: Notes, where: str) -> Part:
    if raw.__class__ is not dict:
        return Other(data=raw, name="tool_use")
    fields = Fields(dict(raw), note, where)
    for name in ("name", "args"):
        # The model's own name and arguments, if the tool has aliases.
        if fields.view(f"orig_{name}") == fields.view(name):
            fields.drop(f"orig_{name}")
    name = fields.text("name") or ""
    return ToolCall(
        call_id=fields.text("id"),
        name=name,
        input=fields.take("args"),
        kind=TOOL_KINDS.get(name),
        extra=fields.rest(),
    )


def _unknown_lines(transcript: Any, entries: list[Message | Event]) -> Any:
    """Return the lines of the transcript for people that are not in the messages."""
    if transcript.__class__ is not list:
        return transcript
    known = {
        part.text.strip()
        for entry in entries
        if isinstance(entry, Message)
        for part in entry.parts
        if isinstance(part, Text)
    }
    return [
        line
        for line in transcript
        if line.__class__ is not str
        or line.removeprefix("> ").partition("\n[Tool uses:")[0].replace("> ", "").strip() not in known
    ]


def _tools(rest: dict[str, Any]) -> list[Tool]:
    """Take the tools that were offered, by where they come from."""
    by_origin = rest.get("tools")
    if by_origin.__class__ is not dict or not by_origin:
        return []
    tools: list[Tool] = []
    for origin, offered in by_origin.items():
        for tool in offered if offered.__class__ is list else [None]:
            spec = tool.get("ToolSpecification") if tool.__class__ is dict else None
            if spec.__class__ is not dict or spec.get("name").__class__ is not str:
                return []
            schema = spec.get("input_schema", spec.get("inputSchema"))
            schema = schema["json"] if schema.__class__ is dict and schema.keys() == {"json"} else schema
            description = nonempty_str(spec.get("description"))
            tools.append(
                Tool(name=spec["name"], description=description, parameters=schema, extra={"origin": origin})
            )
    del rest["tools"]
    return tools
