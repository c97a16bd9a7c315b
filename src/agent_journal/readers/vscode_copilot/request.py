"""One request: the user's prompt and the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import Fields
from agent_journal.model import Message, Text, ids
from agent_journal.readers.vscode_copilot.attachments import convert_variable
from agent_journal.readers.vscode_copilot.response import Response

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes

# Fields of a request that belong to the prompt; all others belong to the answer.
_PROMPT_KEYS = (
    "message",
    "variableData",
    "confirmation",
    "modeInfo",
    "slashCommand",
    "modelConfiguration",
    "editedFileEvents",
    "locationData",
    "attachedContext",
    "attempt",
    "isSystemInitiated",
    "systemInitiatedLabel",
    "requestSource",
    "requestHiddenFromTranscript",
    "terminalExecutionId",
    "origin",
    "workingDirectory",
)
_NO_ATTACHMENTS: dict[str, Any] = {"variables": []}


class Turn(NamedTuple):
    """A prompt and its answer."""

    prompt: Message
    response: Response


def read_turn(raw: Bag, note: Notes, where: str, *, is_removed: bool) -> Turn:
    """Read a request as a turn; `is_removed` if the user removed it later."""
    request = Fields(raw, note, where)
    hidden = is_removed or _is_hidden(request)
    prompt = _prompt_message(request, hidden=hidden)
    return Turn(prompt, Response(request, prompt, hidden=hidden))


def _is_hidden(request: Fields) -> bool:
    """Whether the user removed it, or the editor does not show it."""
    view = request.view
    return bool(view("isHidden") or view("shouldBeRemovedOnSend") or view("hiddenFromTranscript"))


def _prompt_message(request: Fields, *, hidden: bool) -> Message:
    prompt = Fields(request.take_all(_PROMPT_KEYS), request.note, request.where)
    stated_id, at = request.text("requestId"), request.timestamp("timestamp")
    message_id = stated_id or ids.made(str(request.where), prompt.view("message"))
    parts = [*_take_text(prompt), *_take_attachments(prompt)]
    return Message(
        id=message_id,
        made_id=not stated_id,
        role="user",
        at=at,
        hidden=hidden or prompt.view("requestHiddenFromTranscript") is True,
        parts=parts,
        extra=prompt.rest(),
    )


def _take_text(prompt: Fields) -> list[Part]:
    """Take the user's text; the oldest files have it as a plain string."""
    if isinstance(prompt.view("message"), str):
        text = prompt.text("message")
    else:
        message = prompt.nested("message")
        text = None if message is None else message.text("text") or _join_parts(message.view("parts"))
    return [Text(text=text)] if text else []


def _join_parts(parts: Any) -> str:
    """Join the text of the parts that a prompt was split into."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _take_attachments(prompt: Fields) -> list[Part]:
    if prompt.view("variableData") == _NO_ATTACHMENTS:
        prompt.drop("variableData")
        return []
    variables = prompt.nested("variableData")
    if variables is None:
        return []
    return [convert_variable(raw, variables) for raw in variables.items("variables") or ()]
