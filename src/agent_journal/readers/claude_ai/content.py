"""The blocks of a message: text with its sources, thinking, tools and what they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Citation, Media, Other, Part, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai import media
from agent_journal.readers.claude_ai.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

Bag = dict[str, Any]

# Claude's own count of what it may still write; it says nothing about the conversation and is left out.
_DROPPED = "token_budget"
# Blocks of these kinds are known and have no part of their own.
_KEPT_WHOLE = ("flag",)
# What a text block has where there is nothing to say: type, text, both times, flags and citations.
_PLAIN = frozenset({"type", "text", "start_timestamp", "stop_timestamp", "flags", "citations"})


class Scene:
    """A conversation while its messages are read: which calls were made, which results came, what is odd."""

    def __init__(self, conversation_id: str, place: str, told: set[str], note: Notes) -> None:
        self.conversation_id = conversation_id
        self.place = place
        self.note = note
        self.calls: set[str] = set()
        self.answers: list[tuple[str, int | str]] = []
        self.guessed = 0
        self._told = told

    def unknown(self, where: int | str, what: str) -> None:
        """Note a kind that is not known, once per input."""
        if what not in self._told:
            self._told.add(what)
            self.note(Kind.UNKNOWN_TYPE, where, what)

    def note_links(self) -> None:
        """Note results that answer no call that is there, and how many were linked by their place."""
        for call_id, where in self.answers:
            if call_id not in self.calls:
                self.note(Kind.UNLINKED_RESULT, where, call_id)
        if self.guessed:
            self.note(Kind.GUESSED_LINK, self.place, f"{self.guessed} × tool result")


class _Calls:
    """The calls of one message that nothing has answered yet.

    Many exports have neither `id` nor `tool_use_id`, also in 2026: what belongs together is told by name
    and place.
    """

    def __init__(self, message_id: str, scene: Scene) -> None:
        self._message_id = message_id
        self._scene = scene
        self._count = 0
        self._run: list[tuple[str, str]] = []
        self._older: list[tuple[str, str]] = []
        self._is_answering = False

    def add(self, name: str, call_id: str | None) -> str:
        """The id of a call, made if it has none."""
        if self._is_answering:
            self._older += self._run
            self._run, self._is_answering = [], False
        self._count += 1
        if call_id is None:
            call_id = ids.made(self._scene.conversation_id, self._message_id, self._count)
        self._run.append((name, call_id))
        self._scene.calls.add(call_id)
        return call_id

    def answered(self, name: str | None, call_id: str | None, where: int | str) -> str | None:
        """The id of the call that a result answers, found by its place if it names none."""
        self._is_answering = True
        if call_id is not None:
            self._scene.answers.append((call_id, where))
            self._run = [call for call in self._run if call[1] != call_id]
            self._older = [call for call in self._older if call[1] != call_id]
            return call_id
        # Calls that were made together are answered in their order; else it is the last one that is open.
        for calls, place in ((self._run, 0), (self._older, -1)):
            same = [call for call in calls if name in (None, call[0])]
            if same:
                calls.remove(same[place])
                self._scene.guessed += 1
                return same[place][1]
        self._scene.note(Kind.UNLINKED_RESULT, where, name or "")
        return None


def parts(blocks: list[Any], message_id: str, where: str, scene: Scene) -> list[Part]:
    """The parts of a message's content, in its order."""
    calls = _Calls(message_id, scene)
    found: list[Part] = []
    for block in blocks:
        if block.__class__ is dict:
            if (kind := block.get("type")) != _DROPPED:
                found.append(_plain(kind, block) or _part(kind, block, where, calls, scene))
        elif block.__class__ is str:
            found.append(Text(text=block))
        elif block is not None:
            scene.note(Kind.WRONG_TYPE, where, f"a content block is {type(block).__name__}")
            found.append(Other(data=block))
    return found


def _plain(kind: Any, block: Bag) -> Part | None:
    """A text without sources, which most blocks are; else None."""
    if kind != "text" or block.get("citations") or not block.keys() <= _PLAIN:
        return None
    text = block.get("text")
    if text.__class__ is not str:
        return None
    extra = {name: block[name] for name in ("start_timestamp", "stop_timestamp", "flags") if block.get(name)}
    return Text(text=text, extra=extra)


def _part(kind: Any, block: Bag, where: str, calls: _Calls, scene: Scene) -> Part:
    fields = Fields({**block}, scene.note, where)
    fields.drop("type")
    match kind:
        case "text":
            return _text(fields, block)
        case "thinking":
            return _thinking(fields)
        case "tool_use":
            return _call(fields, calls)
        case "tool_result":
            return _result(fields, calls, scene)
        case "voice_note":
            return _voice(fields, block)
        case "image":
            return media.image(fields)
    if kind not in _KEPT_WHOLE:
        scene.unknown(where, f"content block {str(kind)[:40]!r}")
    return Other(data=block, name=kind if isinstance(kind, str) else None)


def _stated(fields: Fields) -> Bag:
    """What nobody took, without the many fields that are null."""
    return {name: value for name, value in fields.rest().items() if value is not None}


def _text(fields: Fields, block: Bag) -> Part:
    text = fields.text("text")
    if text is None:
        return Other(data=block, name="text")
    cited = [_citation(raw, fields) for raw in fields.items("citations") or ()]
    return Text(text=text, citations=cited, extra=_stated(fields))


def _citation(raw: Any, fields: Fields) -> Citation:
    if not isinstance(raw, dict):
        return Citation(extra={"value": raw})
    cited = Fields(raw, fields.note, fields.where)
    details = cited.nested("details")
    title, url = cited.text("title"), cited.text("url")
    if details is not None:
        title, url = title or details.text("title"), url or details.text("url")
    return Citation(
        title=title,
        url=url,
        start=cited.whole("start_index"),
        end=cited.whole("end_index"),
        extra=_stated(cited),
    )


def _thinking(fields: Fields) -> Part:
    """What was thought; `summaries` stays as it is beside the one text that is made of it."""
    summaries = fields.look("summaries")
    rows = summaries if isinstance(summaries, list) else []
    said = [row.get("summary") for row in rows if isinstance(row, dict)]
    if not summaries:
        fields.drop("summaries")
    return Reasoning(
        text=fields.text("thinking") or None,
        summary="\n".join(text for text in said if isinstance(text, str)) or None,
        signature=fields.text("signature"),
        extra=_stated(fields),
    )


def _call(fields: Fields, calls: _Calls) -> Part:
    name = fields.text("name") or ""
    call_id = fields.text("id") or None
    value = fields.take("input")
    extra = _stated(fields)
    if call_id is None:
        extra.setdefault("id", None)  # so that the made one is not taken for the source's
    is_foreign = extra.get("integration_name") or extra.get("mcp_server_url")
    kind = TOOL_KINDS.get(name) or ("mcp" if is_foreign else None)
    return ToolCall(name=name, call_id=calls.add(name, call_id), input=value, kind=kind, extra=extra)


def _result(fields: Fields, calls: _Calls, scene: Scene) -> Part:
    name = fields.text("name")
    call_id = fields.text("tool_use_id") or None
    content = fields.take("content")
    is_error = fields.flag("is_error")
    extra = _stated(fields)
    if call_id is None:
        extra.setdefault("tool_use_id", None)
    return ToolResult(
        call_id=calls.answered(name, call_id, fields.where),
        output=_output(content, fields, scene),
        is_error=is_error,
        name=name,
        extra=extra,
    )


def _output(content: Any, fields: Fields, scene: Scene) -> Any:
    """What a tool answered: a string if that is all."""
    if content is None or content == []:
        return ""
    if content.__class__ is str:
        return content
    items = content if content.__class__ is list else [content]
    found = [_answer(item, fields, scene) for item in items if item is not None]
    match found:
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return found


def _answer(item: Any, fields: Fields, scene: Scene) -> Text | Media | Other:
    if item.__class__ is str:
        return Text(text=item)
    if item.__class__ is not dict:
        return Other(data=item)
    kind = item.get("type")
    inner = Fields({**item}, fields.note, fields.where)
    match kind:
        case "text" if isinstance(item.get("text"), str):
            inner.drop("type")
            return Text(text=inner.take("text"), extra=_stated(inner))
        case "knowledge":
            return _knowledge(inner)
        case "local_resource":
            inner.drop("type")
            return media.resource(inner)
        case "image":
            inner.drop("type")
            return media.image(inner)
    if isinstance(item.get("text"), str) and ("doc_uuid" in item or "url" in item or "uri" in item):
        return _knowledge(inner)
    scene.unknown(fields.where, f"tool result {str(kind)[:40]!r}")
    return Other(data=item, name=kind if isinstance(kind, str) else None)


def _knowledge(fields: Fields) -> Text:
    """A page or document that was found: its text, with where it is from as the source of it."""
    url = fields.text("url") or None
    if url is None:
        url = fields.text("uri")
    title = fields.text("title")
    text = fields.text("text") or ""
    return Text(text=text, citations=[Citation(title=title, url=url)], extra=_stated(fields))


def _voice(fields: Fields, block: Bag) -> Part:
    text = fields.text("transcript")
    if text is None:
        text = fields.text("text")
    if text is None:
        return Other(data=block, name="voice_note")
    fields.keep("type", "voice_note")
    return Text(text=text, extra=_stated(fields))
