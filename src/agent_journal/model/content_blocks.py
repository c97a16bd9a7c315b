"""Message content as agents write it (a text or blocks): written from parts, and read into parts again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal.model import Code, Media, Other, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_journal.model import Bag, Message

Action: TypeAlias = ToolCall | ToolResult | Reasoning
"""A part that some targets write as an entry of its own, next to the content."""

ACTIONS = (ToolCall, ToolResult, Reasoning)
_BLOCK_TYPES = frozenset({"text", "tool_use", "tool_result", "image", "code", "thinking", "document"})
# Actions without ids come in about the same order as their blocks; searching a whole list would be slow.
_MAX_COMPARED_ACTIONS = 16


def unwrap(content: Any) -> tuple[Any, Bag]:
    """Unwrap a single block, or objects with `content`: the text or blocks, and the other fields.

    Other content is returned unchanged.
    """
    wrappers: list[Bag] = []
    inner = content
    while inner.__class__ is dict:
        kind, inner_content = inner.get("type"), inner.get("content")
        is_wrapper = inner_content not in (None, "", 0)
        if "type" in inner and (_is_block(kind) or not is_wrapper):
            return [inner], _nested_fields(wrappers)
        if not is_wrapper:
            return content, {}
        wrappers.append({name: value for name, value in inner.items() if name != "content"})
        inner = inner_content
    if inner.__class__ is str or inner.__class__ is list:
        return inner, _nested_fields(wrappers)
    return content, {}


def unwrapped_parts(content: Any, read: Callable[[Any], list[Any]]) -> list[Any] | None:
    """The parts of a single block or of an object with `content`; None if it is neither.

    The other fields of the object go into `extra` of the first part.
    """
    inner, fields = unwrap(content)
    if inner is content:
        return None
    parts = read(inner)
    if fields and parts:
        first = parts[0]
        parts[0] = replace(first, extra={**first.extra, "content": fields})
    return parts


def _is_block(kind: Any) -> bool:
    """Whether this is a type of block; a block may have `content` of its own."""
    return kind.__class__ is str and (kind in _BLOCK_TYPES or kind.endswith("_result"))


def _nested_fields(wrappers: list[Bag]) -> Bag:
    """The other fields of nested wrappers, nested in the same way."""
    fields: Bag = {}
    for wrapper in reversed(wrappers):
        fields = wrapper | {"content": fields} if fields else wrapper
    return fields


def content_of(message: Message) -> Any:
    """The content of a message as the source had it; None if it has none."""
    return message.native if message.native is not None else of_parts(message.parts)


def of_parts(parts: Sequence[Part]) -> Any:
    """The parts as content: a single text as a string, anything else as blocks."""
    match parts:
        case []:
            return None
        case [Text(text=text)]:
            return text
    return [_block(part) for part in parts]


def exactly(parts: Sequence[Part]) -> Any:
    """The parts as content in plain JSON values; a text with citations or extra fields is a block."""
    if len(parts) == 1:
        only = parts[0]
        if only.__class__ is Text and not only.extra and not only.citations:
            return only.text
    return [_as_json(part) for part in parts] if parts else None


def _as_json(part: Part) -> Any:
    block = msgspec.to_builtins(part) if part.__class__ is Text and part.citations else _block(part)
    return block if block.__class__ is dict else msgspec.to_builtins(block)


def _block(part: Part) -> Any:
    """A part in the form that most agents use, if there is one; else the part itself."""
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


def parts_in(content: Any, actions: Sequence[Action]) -> list[Part]:
    """The parts of a message with this content and these separate actions, which may repeat its blocks.

    Actions that are no blocks of the content come before it if they are reasoning, else after it.
    """
    if content is None:
        return list(actions)
    if content.__class__ is str:
        parts: list[Part] = [Text(text=content)] if content else []
    elif content.__class__ is list:
        parts = [_part(block) for block in content]
    else:
        parts = [Other(data=content)]
    return _merge_actions(parts, actions) if actions else parts


def _merge_actions(parts: list[Part], actions: Sequence[Action]) -> list[Part]:
    """The parts with each action in the place of the block that it repeats."""
    if (
        len(parts) == len(actions) == 1
        and _key(parts[0]) == _key(actions[0])
        and _agree(parts[0], actions[0])
    ):
        return [_merged(parts[0], actions[0])]
    unused: dict[tuple[type, str | None], list[int]] = {}
    for index in reversed(range(len(actions))):
        unused.setdefault(_key(actions[index]), []).append(index)
    used: set[int] = set()
    for position, part in enumerate(parts):
        candidates = unused.get(_key(part), []) if isinstance(part, ACTIONS) else []
        nearest = range(len(candidates) - 1, max(len(candidates) - _MAX_COMPARED_ACTIONS, 0) - 1, -1)
        match = next((at for at in nearest if _agree(part, actions[candidates[at]])), None)
        if match is not None:
            index = candidates.pop(match)
            used.add(index)
            parts[position] = _merged(part, actions[index])
    if len(used) == len(actions):
        return parts
    first_used = min(used, default=len(actions))
    rest = [(action, index < first_used) for index, action in enumerate(actions) if index not in used]
    before = [action for action, is_early in rest if is_early and isinstance(action, Reasoning)]
    after = [action for action, is_early in rest if not (is_early and isinstance(action, Reasoning))]
    return [*before, *parts, *after]


def _key(part: Part) -> tuple[type, str | None]:
    """What an action and the block that repeats it have in common."""
    kind = part.__class__
    return kind, part.call_id if kind is ToolCall or kind is ToolResult else None  # type: ignore[union-attr] # it has one


def _agree(part: Part, action: Action) -> bool:
    """Whether a block and an action of the same key are the same, if no id says so."""
    match part, action:
        case ToolCall(call_id=None), ToolCall():
            return not part.name or part.name == action.name
        case ToolResult(call_id=None), ToolResult():
            return same(part.output, action.output)
        case Reasoning(), Reasoning():
            # Other programs' records have the summary as the text; ours have both, even if one is empty.
            text, action_text = part.text or "", action.text or ""
            return text == action_text or (text or part.summary or "") == (
                action_text or action.summary or ""
            )
    return True


def _merged(block: Part, action: Action) -> Action:
    """The action, with what only its block states."""
    if isinstance(block, Reasoning) and isinstance(action, Reasoning) and action.signature is None:
        action = replace(action, signature=block.signature)
    extra = {} if isinstance(block, Other) else block.extra
    return replace(action, extra=extra | action.extra) if extra else action


def _part(block: Any) -> Part:
    if block.__class__ is str:
        return Text(text=block)
    if block.__class__ is not dict:
        return Other(data=block)
    kind = block.get("type")
    convert = _CONVERTERS.get(kind) if kind is None or kind.__class__ is str else None
    part = None if convert is None else convert(block)
    return Other(data=block, name=kind if kind.__class__ is str else None) if part is None else part


def _text(block: dict[str, Any]) -> Part | None:
    rest = {name: value for name, value in block.items() if name not in ("type", "text")}
    return Text(text=block["text"], extra=rest) if block.get("text").__class__ is str else None


def _model_part(block: dict[str, Any]) -> Part | None:
    """A part of the model in its own JSON; None if the block holds anything else."""
    try:
        part: Part = msgspec.convert(block, _PART)
    except msgspec.ValidationError:
        return None
    return part if same(msgspec.to_builtins(part), block) else None


def _text_or_model_part(block: dict[str, Any]) -> Part | None:
    """A text; one with citations may be a part of the model."""
    return ("citations" in block and _model_part(block)) or _text(block)


def _image(block: dict[str, Any]) -> Part | None:
    """An image that the block contains."""
    match block:
        case {"source": {"type": "base64", "media_type": str(mime), "data": str(data), **more}} if not more:
            return Media(kind="image", mime=mime, data=data, extra=_rest(block, "source"))
    return None


def _call(block: dict[str, Any]) -> Part | None:
    name, call_id = block.get("name"), block.get("id")
    if name.__class__ is not str or not _is_text_or_none(call_id):
        return None
    extra = _rest(block, "name", "id", "input")
    return ToolCall(name=name, call_id=call_id, input=block.get("input"), extra=extra)


def _result(block: dict[str, Any]) -> Part | None:
    call_id, is_error = block.get("tool_use_id"), block.get("is_error")
    if call_id is None and ("call_id" in block or "output" in block):
        return _model_part(block)
    if not _is_text_or_none(call_id) or (is_error is not None and is_error.__class__ is not bool):
        return None
    output, native = tool_output(block.get("content"))
    extra = _rest(block, "tool_use_id", "content", "is_error")
    return ToolResult(call_id=call_id, output=output, is_error=is_error, native=native, extra=extra)


def tool_output(value: Any) -> tuple[Any, Any]:
    """What a tool returned as text or parts, and the value itself unless these represent it exactly."""
    if value is None or value.__class__ is str:
        return value or "", None
    blocks = value if value.__class__ is list else [value]
    parts = [_output_part(block) for block in blocks]
    return parts, None if same(output_as_json(parts), value) else value


def _output_part(block: Any) -> Part:
    part = _part(block)
    return Other(data=block) if isinstance(part, ToolResult) else part  # a result in a result


def output_as_json(output: Any) -> Any:
    """The output of a tool result in plain JSON values."""
    return output if output.__class__ is str else [_as_json(part) for part in output]


def same(one: Any, other: Any) -> bool:
    """Whether values are equal; values nested too deeply to compare are not."""
    try:
        return bool(one == other)
    except RecursionError:
        return False


def _reasoning(block: dict[str, Any]) -> Part | None:
    text, signature = block.get("thinking"), block.get("signature")
    if text.__class__ is not str or not _is_text_or_none(signature):
        return None
    return Reasoning(text=text, signature=signature, extra=_rest(block, "thinking", "signature"))


def _is_text_or_none(value: Any) -> bool:
    return value is None or value.__class__ is str


def _rest(block: dict[str, Any], *taken: str) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "type" and name not in taken}


_PART: Any = Text | Code | Reasoning | ToolCall | Media | Other | ToolResult
_CONVERTERS: dict[Any, Callable[[dict[str, Any]], Part | None]] = {
    None: _text,  # one vendor writes no type
    "text": _text_or_model_part,
    "input_text": _text,
    "output_text": _text,
    "tool_use": _call,
    "tool_result": _result,
    "thinking": _reasoning,
    "image": _image,
    **dict.fromkeys(("code", "reasoning", "tool_call", "media", "other"), _model_part),
}
