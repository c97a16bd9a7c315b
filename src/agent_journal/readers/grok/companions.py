"""What an export has beside conversations: the account, projects, tasks, and posts of generated media."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Conversation, Media, Memory, Message, Text, ids
from agent_journal.readers.grok.assets import kind_of
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.values import Bag, take_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets

_PROFILE = ("givenName", "familyName", "email", "birthDate")
_POST_IDS = ("id", "_id", "post_id")
_PROJECT_IDS = ("id", "_id", "project_id", "workspace_id")
_TIMES = ("create_time", "created_at", "createTime")
_TITLES = ("name", "title", "prompt", "description")


def identity(account: Bag) -> Memory:
    """The person as the service knows them; sessions and all else stay as they are."""
    user = account.get("user")
    profile: Bag = user if user.__class__ is dict else {}
    told = [f"{name}: {value}" for name in _PROFILE if (value := words(profile.get(name)))]
    person = next(
        (found for name in ("userId", "user_id", "id") if (found := words(profile.get(name)))), None
    )
    return Memory(
        id=ids.made(SOURCE, "identity", person or account),
        made_id=True,
        source=SOURCE,
        kind="identity",
        text=", ".join(told) or "account",
        about=person,
        extra=account,
    )


def project(record: Bag, place: str, note: Notes) -> Iterator[Memory]:
    """A project, and how the model is to behave in it."""
    fields = Fields(record, note, place)
    stated = take_id(fields, *_PROJECT_IDS)
    project_id = stated or ids.made(SOURCE, "project", record)
    at = _at(fields)
    if words(fields.look("custom_personality")):
        yield Memory(
            id=ids.made(SOURCE, "instruction", project_id),
            made_id=True,
            source=SOURCE,
            kind="instruction",
            text=fields.text("custom_personality") or "",
            about=project_id,
            at=at,
        )
    told = [text for name in ("name", "title", "description") if (text := words(fields.look(name)))]
    yield Memory(
        id=project_id,
        made_id=stated is None,
        source=SOURCE,
        kind="project",
        text="\n".join(dict.fromkeys(told)) or project_id,
        about=project_id,
        at=at,
        extra=fields.rest(),
    )


def kept(kind: str, record: Any, place: str, note: Notes) -> Memory:
    """Anything else that the service keeps, as it is: a task, or what we have no word for."""
    fields = Fields(record if record.__class__ is dict else {"value": record}, note, place)
    title = next((text for name in _TITLES if (text := words(fields.look(name)))), None)
    made = ids.made(SOURCE, kind, record)
    stated = take_id(fields, "id", "_id", f"{kind}_id")
    return Memory(
        id=stated or made,
        made_id=stated is None,
        source=SOURCE,
        kind=kind,
        text=title or kind,
        at=_at(fields),
        extra=fields.rest(),
    )


def media_post(record: Bag, place: str, assets: Assets, note: Notes) -> Conversation:
    """A generated image or film as a small conversation: what was asked for, and what came."""
    fields = Fields(record, note, place)
    made = ids.made(SOURCE, "media-post", record)
    stated = take_id(fields, *_POST_IDS)
    post_id = stated or made
    at = _at(fields)
    timeline: list[Message] = []
    if prompt := fields.text("original_prompt"):
        asked = ids.made(SOURCE, post_id, "prompt")
        timeline.append(Message(id=asked, made_id=True, role="user", at=at, parts=[Text(text=prompt)]))
    kind = kind_of(words(fields.look("media_type"))) or "file"
    link = fields.text("link")
    media = assets.media(link or post_id, kind, note)
    shown = Message(
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
        head_id=shown.id,
        timeline=[*timeline, shown],
        extra=fields.rest(),
    )


def _at(fields: Fields) -> str | None:
    name = next((name for name in _TIMES if fields.look(name) is not None), None)
    return None if name is None else fields.moment(name)
