"""Content of messages: texts and images, with marks for the caches of vendors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import nonempty_str
from agent_journal.model import Media, Part, Text
from agent_journal.readers.dialects.openai_messages import parse_content, parse_data_url

if TYPE_CHECKING:
    from agent_journal.notes import Notes


def parse_parts(content: Any, note: Notes, where: int | str) -> list[Part]:
    """Return the parts of a list of contents."""
    if content.__class__ is not list:
        return parse_content(content, note, where)
    parts: list[Part] = []
    for raw in content:
        if raw.__class__ is not dict:
            parts += parse_content([raw], note, where)
            continue
        rest = {name: value for name, value in raw.items() if name != "cache_prompt" or value}
        if rest.get("type") == "image" and rest.get("image_urls").__class__ is list:
            parts += [_image(url) for url in rest["image_urls"] if nonempty_str(url)]
        else:
            parts += parse_content([rest], note, where)
    return [part for part in parts if not isinstance(part, Text) or part.text or part.extra]


def _image(url: str) -> Media:
    mime, data = parse_data_url(url)
    return Media(kind="image", mime=mime, data=data, ref=None if data else url)


def output_of(parts: list[Part]) -> Any:
    """Return the output of a result: its text if it has nothing else."""
    if not parts:
        return ""
    only = parts[0] if len(parts) == 1 else None
    return only.text if isinstance(only, Text) and not only.extra else parts
