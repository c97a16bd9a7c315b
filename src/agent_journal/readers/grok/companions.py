"""Reads the other records of an export: the account, projects, tasks, and posts of generated media."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Media, Memory, Message, Text, ids
from agent_journal.readers.grok.assets import kind_of
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.values import JsonObject, take_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets

_PROFILE_FIELDS = ("givenName", "familyName", "email", "birthDate")
_POST_IDS = ("id", "_id", "post_id")
_PROJECT_IDS = ("id", "_id", "project_id", "workspace_id")
_TIMES = ("create_time", "created_at", "createTime")
_TITLES = ("name", "title", "prompt", "description")


def identity(account: JsonObject) -> Memory:
    """Convert the account to a memory about the person; all its fields are in `extra`."""
    user = account.get("user")
    profile: JsonObject = user if user.__class__ is dict else {}
    facts = [f"{name}: {value}" for name in _PROFILE_FIELDS if (value := nonempty_str(profile.get(name)))]
    person = next(
        (text for name in ("userId", "user_id", "id") if (text := nonempty_str(profile.get(name)))), None
    )
    return Memory(
        id=ids.made(SOURCE, "identity", person or account),
        made_id=True,
        source=SOURCE,
        kind="identity",
        text=", ".join(facts) or "account",
        about=person,
        extra=account,
    )


def project(record: JsonObject, location: str, note: Notes) -> Iterator[Memory]:
    """Yield a project, and the instructions in it."""
    fields = Fields(record, note, location)
    stated = take_id(fields, *_PROJECT_IDS)
    project_id = stated or ids.made(SOURCE, "project", record)
    at = _at(fields)
    if nonempty_str(fields.view("custom_personality")):
        yield Memory(
            id=ids.made(SOURCE, "instruction", project_id),
            made_id=True,
            source=SOURCE,
            kind="instruction",
            text=fields.text("custom_personality") or "",
            about=project_id,
            at=at,
        )
    texts = [text for name in ("name", "title", "description") if (text := nonempty_str(fields.view(name)))]
    yield Memory(
        id=project_id,
        made_id=stated is None,
        source=SOURCE,
        kind="project",
        text="\n".join(dict.fromkeys(texts)) or project_id,
        about=project_id,
        at=at,
        extra=fields.rest(),
    )


def generic_memory(kind: str, record: Any, location: str, note: Notes) -> Memory:
    """Convert any other record to a memory: a task, or a record of an unknown kind."""
    fields = Fields(record if record.__class__ is dict else {"value": record}, note, location)
    title = next((text for name in _TITLES if (text := nonempty_str(fields.view(name)))), None)
    content_id = ids.made(SOURCE, kind, record)
    stated = take_id(fields, "id", "_id", f"{kind}_id")
    return Memory(
        id=stated or content_id,
        made_id=stated is None,
        source=SOURCE,
        kind=kind,
        text=title or kind,
        at=_at(fields),
        extra=fields.rest(),
    )


def media_post(record: JsonObject, location: str, assets: Assets, note: Notes) -> Conversation:
    """Convert a generated image or video to a small conversation: the prompt, and the result."""
    fields = Fields(record, note, location)
    content_id = ids.made(SOURCE, "media-post", record)
    stated = take_id(fields, *_POST_IDS)
    post_id = stated or content_id
    at = _at(fields)
    timeline: list[Message] = []
    if prompt := fields.text("original_prompt"):
        prompt_id = ids.made(SOURCE, post_id, "prompt")
        timeline.append(Message(id=prompt_id, made_id=True, role="user", at=at, parts=[Text(text=prompt)]))
    kind = kind_of(nonempty_str(fields.view("media_type"))) or "file"
    link = fields.text("link")
    media = assets.media(link or post_id, kind, note)
    answer = Message(
        id=ids.made(SOURCE, post_id, "media"),
        made_id=True,
        parent_id=timeline[0].id if timeline else None,
        role="assistant",
        at=at,
        parts=[media if link or "file" in media.extra else Media(kind=kind)],
    )
    return Conversation(
        id=post_id,
        made_id=stated is None,
        source=SOURCE,
        started_at=at,
        account_id=fields.text("user_id"),
        head_id=answer.id,
        timeline=[*timeline, answer],
        extra=fields.rest(),
    )


def _at(fields: Fields) -> str | None:
    name = next((name for name in _TIMES if fields.view(name) is not None), None)
    return None if name is None else fields.timestamp(name)
