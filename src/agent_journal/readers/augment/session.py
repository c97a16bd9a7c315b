"""A session as a conversation: turns with nodes of a request and nodes of its response.

The results of calls are in the next turn's request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import (
    Conversation,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.augment import TOOL_KINDS
from agent_journal.readers.dialects.anthropic_blocks import parse_usage
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.dialects.session_log import SessionLog, first_model

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Usage
    from agent_journal.notes import Notes

_THOUGHTS = ("content", "thinking", "text", "summary")


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    document = load_document(source, note)
    log = SessionLog(document.text("sessionId") or source.name.removesuffix(".json"), note, "turn".__eq__)
    state = document.view("agentState")
    model = nonempty_str(state.get("modelId")) if state.__class__ is dict else None
    reader = _Turns(log, model, note)
    for index, turn in enumerate(document.items("chatHistory") or ()):
        reader.add(turn, f"chatHistory[{index}]")
    entries = log.entries
    first, last = tree.span(entries)
    created_at, updated_at = document.timestamp("created"), document.timestamp("modified")
    return Conversation(
        id=log.session,
        source=name,
        title=document.text("customTitle") or None,
        started_at=created_at or first,
        updated_at=updated_at or last,
        model=first_model(entries) or model,
        cwd=reader.folder,
        shape="list",
        timeline=entries,
        extra=document.rest(),
    )


class _Turns:
    """Collects the messages of turns."""

    def __init__(self, log: SessionLog, model: str | None, note: Notes) -> None:
        self.folder: str | None = None
        self._log = log
        self._model = model
        self._note = note

    def add(self, raw: Any, where: str) -> None:
        """Add a turn."""
        if raw.__class__ is not dict or raw.get("exchange").__class__ is not dict:
            self._log.add_value(raw, where)
            return
        turn = Fields(dict(raw), self._note, where)
        exchange = Fields(dict(turn.take("exchange")), self._note, where)
        request = exchange.text("request_id")
        base = request or f"{self._log.session}:{where}"
        self._add_request(exchange, base, where)
        at = turn.timestamp("finishedAt")
        parts, usage = self._response(exchange, base, where)
        model = exchange.text("model_id") or self._model
        rest = exchange.rest() | turn.rest()
        if parts or usage is not None:
            message = Message(
                id=base,
                role="assistant",
                at=at,
                model=model,
                response_id=request,
                parts=parts,
                usage=usage,
                extra=rest,
            )
            self._log.add(message, where)
        elif rest.keys() - {"completed", "sequenceId"} or request:
            data = rest | ({"request_id": request} if request else {})
            self._log.add_event("turn", data, where, at=at)

    def _add_request(self, exchange: Fields, base: str, where: str) -> None:
        typed = exchange.text("request_message") or ""
        parts: list[Part] = []
        results: list[Part] = []
        for node in exchange.items("request_nodes") or ():
            self._add_request_node(node, typed, parts, results, where)
        if results:
            self._log.add(
                Message(id=f"{base}:results", made_id=True, role="tool", parts=results), f"{where} results"
            )
        if typed:
            parts.insert(0, Text(text=typed))
        if parts:
            self._log.add(
                Message(id=f"{base}:request", made_id=True, role="user", parts=parts), f"{where} request"
            )

    def _add_request_node(
        self, raw: Any, typed: str, parts: list[Part], results: list[Part], where: str
    ) -> None:
        node = raw if raw.__class__ is dict else {}
        text, result, image = (node.get(name) for name in ("text_node", "tool_result_node", "image_node"))
        state = node.get("ide_state_node")
        if text.__class__ is dict and text.get("content").__class__ is str:
            if text["content"] and text["content"] != typed:
                parts.append(Text(text=text["content"]))
        elif result.__class__ is dict:
            fields = Fields(dict(result), self._note, where)
            content = fields.take("content")
            results.append(
                ToolResult(
                    call_id=fields.text("tool_use_id"),
                    output=content if content.__class__ is str else [Other(data=content)] if content else "",
                    is_error=fields.flag("is_error"),
                    extra=fields.rest(),
                )
            )
        elif image.__class__ is dict:
            data = nonempty_str(image.get("image_data"))
            rest = {name: value for name, value in image.items() if name != "image_data"}
            parts.append(Media(kind="image", data=data, extra=rest))
        elif state.__class__ is dict:
            self.folder = self.folder or _folder(state)
        else:
            parts.append(Other(data=raw, name="request_node"))

    def _response(self, exchange: Fields, base: str, where: str) -> tuple[list[Part], Usage | None]:
        shown = exchange.text("response_text") or ""
        parts: list[Part] = []
        usage: Usage | None = None
        for raw in exchange.items("response_nodes") or ():
            node = raw if raw.__class__ is dict else {}
            tokens = node.get("token_usage")
            if tokens.__class__ is dict:
                usage = usage or parse_usage(tokens, base)
            elif (part := self._response_node(raw, node, where)) is not None:
                parts.append(part)
        texts = "".join(part.text for part in parts if isinstance(part, Text))
        if shown and shown.strip() not in texts:
            parts.append(Text(text=shown))
        return parts, usage

    def _response_node(self, raw: Any, node: dict[str, Any], where: str) -> Part | None:
        call, thought, text = node.get("tool_use"), node.get("thinking"), node.get("content")
        if call.__class__ is dict:
            fields = Fields(dict(call), self._note, where)
            name = fields.text("tool_name") or ""
            return ToolCall(
                call_id=fields.text("tool_use_id"),
                name=name,
                input=fields.take("input_json"),
                kind="agent" if name.startswith("sub-agent-") else TOOL_KINDS.get(name),
                extra=fields.rest(),
            )
        if thought.__class__ is dict:
            fields = Fields(dict(thought), self._note, where)
            name = next((name for name in _THOUGHTS if nonempty_str(fields.view(name))), "content")
            return Reasoning(text=fields.text(name), extra=fields.rest())
        if text.__class__ is str:
            return Text(text=text) if text else None
        if node.keys() <= {"id", "type", "content"} and node:
            return None
        self._note(Kind.UNKNOWN_TYPE, where, "a node of a response")
        return Other(data=raw, name="response_node")


def _folder(state: dict[str, Any]) -> str | None:
    """Return the folder of the terminal, else the first one of the project."""
    terminal = state.get("current_terminal")
    if terminal.__class__ is dict and (folder := nonempty_str(terminal.get("current_working_directory"))):
        return folder
    folders = (
        nonempty_str(folder.get("folder_root") or folder.get("repository_root"))
        for folder in objects(state.get("workspace_folders"))
    )
    return next((folder for folder in folders if folder), None)
