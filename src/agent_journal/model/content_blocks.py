"""A message's content as agents write it, a text or blocks: made of parts, and read as parts again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal.model import Code, Media, Other, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.model import Bag, Message

Deed: TypeAlias = ToolCall | ToolResult | Reasoning
"""A part that some targets keep beside the content, as an entry of its own."""

DEEDS = (ToolCall, ToolResult, Reasoning)
_BLOCK_TYPES = frozenset({"text", "tool_use", "tool_result", "image", "code", "thinking", "document"})
# Deeds without ids are told in about the same order; looking further would take long in a long list.
_NEAR = 16


def unwrap(content: Any) -> tuple[Any, Bag]:
    """A text or blocks out of one block or of objects that hold content, and what stands beside it there.

    Content that is none of these is given back as it is.
    """
    holders: list[Bag] = []
    inner = content
    while inner.__class__ is dict:
        kind, held = inner.get("type"), inner.get("content")
        is_holder = held not in (None, "", 0)
        if "type" in inner and (_is_block(kind) or not is_holder):
            return [inner], _beside(holders)
        if not is_holder:
            return content, {}
        holders.append({name: value for name, value in inner.items() if name != "content"})
        inner = held
    if inner.__class__ is str or inner.__class__ is list:
        return inner, _beside(holders)
    return content, {}


def unwrapped_parts(content: Any, read: Callable[[Any], list[Any]]) -> list[Any] | None:
    """The parts of one block or of an object that holds content; None if it is neither.

    What the object says beside its content stays with the first part.
    """
    inner, beside = unwrap(content)
    if inner is content:
        return None
    parts = read(inner)
    if beside and parts:
        first = parts[0]
        parts[0] = replace(first, extra={**first.extra, "content": beside})
    return parts


def _is_block(kind: Any) -> bool:
    """Whether a type is that of a block, which may have content of its own."""
    return kind.__class__ is str and (kind in _BLOCK_TYPES or kind.endswith("_result"))


def _beside(holders: list[Bag]) -> Bag:
    """What objects that hold one another say beside that."""
    beside: Bag = {}
    for holder in reversed(holders):
        beside = holder | {"content": beside} if beside else holder
    return beside


def content_of(message: Message) -> Any:
    """The content of a message as the source had it; None if it has none."""
    return message.native if message.native is not None else of_parts(message.parts)


def of_parts(parts: Sequence[Part]) -> Any:
    """Content that the parts tell: one text as it is, else blocks."""
    match parts:
        case []:
            return None
        case [Text(text=text)]:
            return text
    return [_block(part) for part in parts]


def exactly(parts: Sequence[Part]) -> Any:
    """The same in values of JSON alone; a text that says more than its words is a block."""
    if len(parts) == 1:
        only = parts[0]
        if only.__class__ is Text and not only.extra and not only.citations:
            return only.text
    return [_as_json(part) for part in parts] if parts else None


def _as_json(part: Part) -> Any:
    block = msgspec.to_builtins(part) if part.__class__ is Text and part.citations else _block(part)
    return block if block.__class__ is dict else msgspec.to_builtins(block)


def _block(part: Part) -> Any:
    """A part in the form that most agents have, where there is one."""
    block: dict[str, Any]
    match part:
        case Text():
            block = {"type": "text", "text": part.text}
        case ToolCall():
            block = {"type": "tool_use"}
            if part.call_id is not None:
                block["id"] = part.call_id
            block["name"] = part.name
            if part.input is not None:
                block["input"] = part.input
        case ToolResult(output=str()):
            block = {"type": "tool_result"}
            if part.call_id is not None:
                block["tool_use_id"] = part.call_id
            block["content"] = part.output
            if part.is_error is not None:
                block["is_error"] = part.is_error
        case Reasoning(text=str()):
            block = {"type": "thinking", "thinking": part.text}
            if part.signature is not None:
                block["signature"] = part.signature
        case _:
            return part
    return block | part.extra | block if part.extra else block


def parts_in(content: Any, deeds: Sequence[Deed]) -> list[Part]:
    """The parts of content, where calls, results and thoughts are also told beside it.

    Those that are no blocks of the content are before it if they are thoughts, else behind it.
    """
    if content is None:
        return list(deeds)
    if content.__class__ is str:
        said: list[Part] = [Text(text=content)] if content else []
    elif content.__class__ is list:
        said = [_part(block) for block in content]
    else:
        said = [Other(data=content)]
    return _joined(said, deeds) if deeds else said


def _joined(said: list[Part], deeds: Sequence[Deed]) -> list[Part]:
    """The parts of the content, each deed among them as it is told beside it."""
    if len(said) == len(deeds) == 1 and _key(said[0]) == _key(deeds[0]) and _agree(said[0], deeds[0]):
        return [_merged(said[0], deeds[0])]
    places: dict[tuple[type, str | None], list[int]] = {}
    for place in reversed(range(len(deeds))):
        places.setdefault(_key(deeds[place]), []).append(place)
    used: set[int] = set()
    for place, part in enumerate(said):
        left = places.get(_key(part), []) if isinstance(part, DEEDS) else []
        near = range(len(left) - 1, max(len(left) - _NEAR, 0) - 1, -1)
        found = next((index for index in near if _agree(part, deeds[left[index]])), None)
        if found is not None:
            deed = left.pop(found)
            used.add(deed)
            said[place] = _merged(part, deeds[deed])
    if len(used) == len(deeds):
        return said
    first = min(used, default=len(deeds))
    rest = [(deed, place < first) for place, deed in enumerate(deeds) if place not in used]
    before = [deed for deed, is_first in rest if is_first and isinstance(deed, Reasoning)]
    behind = [deed for deed, is_first in rest if not (is_first and isinstance(deed, Reasoning))]
    return [*before, *said, *behind]


def _key(deed: Part) -> tuple[type, str | None]:
    """What a deed is known by, in the content and beside it."""
    kind = deed.__class__
    return kind, deed.call_id if kind is ToolCall or kind is ToolResult else None  # type: ignore[union-attr] # it has one


def _agree(part: Part, deed: Deed) -> bool:
    """Whether what is told twice is the same, where no id says so."""
    match part, deed:
        case ToolCall(call_id=None), ToolCall():
            return not part.name or part.name == deed.name
        case ToolResult(call_id=None), ToolResult():
            return same(part.output, deed.output)
        case Reasoning(), Reasoning():
            # Records of others have the summary for the text; ours have both, also where one is empty.
            told, beside = part.text or "", deed.text or ""
            return told == beside or (told or part.summary or "") == (beside or deed.summary or "")
    return True


def _merged(block: Part, deed: Deed) -> Deed:
    """What is told beside the content, with what only its block says."""
    if isinstance(block, Reasoning) and isinstance(deed, Reasoning) and deed.signature is None:
        deed = replace(deed, signature=block.signature)
    extra = {} if isinstance(block, Other) else block.extra
    return replace(deed, extra=extra | deed.extra) if extra else deed


def _part(block: Any) -> Part:
    if block.__class__ is str:
        return Text(text=block)
    if block.__class__ is not dict:
        return Other(data=block)
    kind = block.get("type")
    make = _KINDS.get(kind) if kind is None or kind.__class__ is str else None
    part = None if make is None else make(block)
    return Other(data=block, name=kind if kind.__class__ is str else None) if part is None else part


def _text(block: dict[str, Any]) -> Part | None:
    rest = {name: value for name, value in block.items() if name not in ("type", "text")}
    return Text(text=block["text"], extra=rest) if block.get("text").__class__ is str else None


def _of_ours(block: dict[str, Any]) -> Part | None:
    """A part of the model, if the block says nothing else."""
    try:
        part: Part = msgspec.convert(block, _OURS)
    except msgspec.ValidationError:
        return None
    return part if same(msgspec.to_builtins(part), block) else None


def _some_text(block: dict[str, Any]) -> Part | None:
    """A text; one with citations may be ours."""
    return ("citations" in block and _of_ours(block)) or _text(block)


def _image(block: dict[str, Any]) -> Part | None:
    """A picture that is in the block."""
    match block:
        case {"source": {"type": "base64", "media_type": str(mime), "data": str(data), **more}} if not more:
            return Media(kind="image", mime=mime, data=data, extra=_left(block, "source"))
    return None


def _call(block: dict[str, Any]) -> Part | None:
    name, call_id = block.get("name"), block.get("id")
    if name.__class__ is not str or not _is_text_or_none(call_id):
        return None
    extra = _left(block, "name", "id", "input")
    return ToolCall(name=name, call_id=call_id, input=block.get("input"), extra=extra)


def _result(block: dict[str, Any]) -> Part | None:
    call_id, is_error = block.get("tool_use_id"), block.get("is_error")
    if call_id is None and ("call_id" in block or "output" in block):
        return _of_ours(block)
    if not _is_text_or_none(call_id) or (is_error is not None and is_error.__class__ is not bool):
        return None
    output, native = answer(block.get("content"))
    extra = _left(block, "tool_use_id", "content", "is_error")
    return ToolResult(call_id=call_id, output=output, is_error=is_error, native=native, extra=extra)


def answer(value: Any) -> tuple[Any, Any]:
    """What a tool gave, as words or parts; and the value itself unless they tell it exactly."""
    if value is None or value.__class__ is str:
        return value or "", None
    blocks = value if value.__class__ is list else [value]
    parts = [_given(block) for block in blocks]
    return parts, None if same(answered(parts), value) else value


def _given(block: Any) -> Part:
    part = _part(block)
    return Other(data=block) if isinstance(part, ToolResult) else part  # a result in a result


def answered(output: Any) -> Any:
    """The output of a result in values of JSON."""
    return output if output.__class__ is str else [_as_json(part) for part in output]


def same(one: Any, other: Any) -> bool:
    """Whether values are equal; those that are nested too deeply to tell are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def _thought(block: dict[str, Any]) -> Part | None:
    text, signature = block.get("thinking"), block.get("signature")
    if text.__class__ is not str or not _is_text_or_none(signature):
        return None
    return Reasoning(text=text, signature=signature, extra=_left(block, "thinking", "signature"))


def _is_text_or_none(value: Any) -> bool:
    return value is None or value.__class__ is str


def _left(block: dict[str, Any], *taken: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "type" and name not in taken}


_OURS: Any = Text | Code | Reasoning | ToolCall | Media | Other | ToolResult
_KINDS: dict[Any, Callable[[dict[str, Any]], Part | None]] = {
    None: _text,  # as one vendor writes it
    "text": _some_text,
    "input_text": _text,
    "output_text": _text,
    "tool_use": _call,
    "tool_result": _result,
    "thinking": _thought,
    "image": _image,
    **dict.fromkeys(("code", "reasoning", "tool_call", "media", "other"), _of_ours),
}
