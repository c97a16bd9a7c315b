"""One request: what the person asked, and what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import Fields
from agent_journal.model import Message, Text, ids
from agent_journal.readers.vscode_copilot.attachments import attachment
from agent_journal.readers.vscode_copilot.response import Response

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes

# What a request says about the prompt; all else it says is about the answer.
_OF_THE_PROMPT = (
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
_NOTHING_ATTACHED: dict[str, Any] = {"variables": []}


class Turn(NamedTuple):
    """A prompt and its answer."""

    asked: Message
    response: Response


def turn(raw: Bag, note: Notes, where: str, *, taken_back: bool) -> Turn:
    """The turn that a request is; `taken_back` if the person removed it later."""
    request = Fields(raw, note, where)
    hidden = taken_back or _is_hidden(request)
    asked = _asked(request, hidden=hidden)
    return Turn(asked, Response(request, asked, hidden=hidden))


def _is_hidden(request: Fields) -> bool:
    """Whether the person took it back, or the editor shows none of it."""
    look = request.look
    return bool(look("isHidden") or look("shouldBeRemovedOnSend") or look("hiddenFromTranscript"))


def _asked(request: Fields, *, hidden: bool) -> Message:
    prompt = Fields(request.take_all(_OF_THE_PROMPT), request.note, request.where)
    said_id, at = request.text("requestId"), request.moment("timestamp")
    message_id = said_id or ids.made(str(request.where), prompt.look("message"))
    parts = [*_said(prompt), *_beside(prompt)]
    return Message(
        id=message_id,
        made_id=not said_id,
        role="user",
        at=at,
        hidden=hidden or prompt.look("requestHiddenFromTranscript") is True,
        parts=parts,
        extra=prompt.rest(),
    )


def _said(prompt: Fields) -> list[Part]:
    """What was typed; the oldest files have it as a plain text."""
    if isinstance(prompt.look("message"), str):
        text = prompt.text("message")
    else:
        message = prompt.nested("message")
        text = None if message is None else message.text("text") or _pieces(message.look("parts"))
    return [Text(text=text)] if text else []


def _pieces(parts: Any) -> str:
    """The text of the parts that a prompt was taken apart into."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _beside(prompt: Fields) -> list[Part]:
    if prompt.look("variableData") == _NOTHING_ATTACHED:
        prompt.drop("variableData")
        return []
    variables = prompt.nested("variableData")
    if variables is None:
        return []
    return [attachment(raw, variables) for raw in variables.items("variables") or ()]
