"""Converts a document that another program wrote, more or less by the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec.structs import replace

from agent_journal import readers
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Feedback, Link, Message, Summary, Usage, ids, tree
from agent_journal.model.roles import role as role_of
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_usage as usage_of_anthropic
from agent_journal.readers.dialects.openai_messages import parse_usage as usage_of_openai
from agent_journal.readers.unified.content import flattened_rest, parts
from agent_journal.readers.unified.own_documents import OWN_KEY

if TYPE_CHECKING:
    from agent_journal.model import Bag, Event, Relation, Role
    from agent_journal.notes import Notes

SummaryKind: TypeAlias = Literal["automatic", "user_generated", "system"]
_SUMMARY_KINDS: tuple[SummaryKind, ...] = ("automatic", "user_generated", "system")
_RATINGS: dict[float, str] = {5: "up", 0: "down"}
_UNKNOWN_VERSION = "unknown"
_OTHER_PLATFORM = "other"
_VERSIONS = ("1.0.0",)


def convert(record: Bag, note: Notes, where: str) -> Conversation:
    """Convert a document; fields that the model lacks stay in `extra`."""
    fields = Fields(record, note, where)
    if fields.view("schema_version") in _VERSIONS:
        fields.drop("schema_version")
    platform, session = _nested(fields, "platform"), _nested(fields, "session")
    source, platform_metadata = _source(fields, platform)
    conversation_id, made_id = _id(fields, session, source)
    link, is_sidechain = _link(session)
    timeline = _messages(fields, conversation_id, sidechain=is_sidechain)
    is_tree = any(message.parent_id for message in timeline)
    version = platform.text("version")
    context = _nested(fields, "context")
    workspace, environment = _nested(context, "workspace"), _nested(context, "environment")
    return Conversation(
        id=conversation_id,
        made_id=made_id,
        source=source,
        title=_take_title(platform_metadata),
        started_at=fields.timestamp("created_at"),
        updated_at=fields.timestamp("updated_at"),
        app_version=None if version == _UNKNOWN_VERSION else version,
        model=platform.text("model"),
        cwd=workspace.text("path"),
        git_branch=workspace.text("git_branch"),
        git_commit=workspace.text("git_commit"),
        editor=environment.text("editor"),
        os=environment.text("os"),
        shell=environment.text("shell"),
        archived=_archived(fields),
        tags=_tags(fields),
        shape="tree" if is_tree else "list",
        head_id=tree.newest_leaf(timeline) if is_tree else None,
        link=link,
        timeline=_parents_first(timeline, note, where) if is_tree else [*timeline],
        summaries=_summaries(fields),
        feedback=_feedback(fields),
        platform=platform_metadata,
        context=context.bag("custom") or {},
        extra=fields.rest(),
    )


def _nested(fields: Fields, name: str) -> Fields:
    return fields.nested(name) or Fields({}, fields.note, fields.where)


def _source(fields: Fields, platform: Fields) -> tuple[str, Bag]:
    """Get the source, as stated or by the platform's name; also return the platform's metadata."""
    metadata = platform.bag("metadata") or {}
    own_fields = fields.view(OWN_KEY)
    stated = nonempty_str(own_fields.get("source")) if own_fields.__class__ is dict else None
    name = platform.text("name")
    if name == _OTHER_PLATFORM:
        name = nonempty_str(metadata.get("name")) or name
    if stated is not None:
        return stated, metadata
    infos = [reader.INFO for reader in readers.discover().values()]
    matches = [info.name for info in infos if name and info.names.get("unified") == name]
    if len(matches) == 1:
        return matches[0], metadata
    # Several products may have the same platform name.
    return (name or _OTHER_PLATFORM).replace("_", "-"), metadata


def _take_title(metadata: Bag) -> str | None:
    title = nonempty_str(metadata.get("title"))
    if title is not None:
        del metadata["title"]
    return title


def _id(fields: Fields, session: Fields, source: str) -> tuple[str, bool]:
    """Get the conversation's id, and whether it is generated.

    The session's id takes precedence if the conversation's id was generated from it.
    """
    stated, session_id = (
        nonempty_str(fields.view("conversation_id")),
        nonempty_str(session.view("session_id")),
    )
    chosen = stated or session_id
    if session_id is not None and ids.uuid5(f"{source}-{session_id}") == stated:
        chosen = session_id
    for owner, name, value in ((fields, "conversation_id", stated), (session, "session_id", session_id)):
        if value is not None and chosen in (value, session_id):
            owner.drop(name)
    if chosen is not None:
        return chosen, False
    generated = ids.made(source, fields.view("created_at"), fields.view("messages"))
    fields.note(Kind.MISSING_ID, fields.where, f"the conversation is called {generated}")
    return generated, True


def _link(session: Fields) -> tuple[Link | None, bool]:
    """Get the link to the parent; also return whether this is a side chain without a known parent."""
    parent, is_sidechain = session.text("parent_conversation_id"), session.flag("is_sidechain") is True
    if not parent:
        return None, is_sidechain
    message_id = session.text("fork_point")
    relation: Relation = "subagent" if is_sidechain else "continues" if message_id is None else "fork"
    return Link(conversation_id=parent, relation=relation, message_id=message_id), False


def _archived(fields: Fields) -> bool | None:
    if fields.view("status") != "archived":
        return None  # any other status stays
    fields.drop("status")
    return True


def _tags(fields: Fields) -> list[str]:
    tags = fields.view("tags")
    if tags.__class__ is not list or not all(tag.__class__ is str for tag in tags):
        return []
    fields.drop("tags")
    return list(tags)


def _feedback(fields: Fields) -> list[Feedback]:
    stated = fields.bag("rating")
    if not stated:
        return []
    rating = Fields(stated, fields.note, fields.where)
    score = rating.view("score")
    thumbs: Any = _RATINGS.get(score) if score.__class__ in (int, float) else None
    if thumbs is not None:
        rating.drop("score")
    text, at = rating.text("feedback"), rating.timestamp("rated_at")
    return [Feedback(rating=thumbs, text=text, at=at, extra=rating.rest())]


def _summaries(fields: Fields) -> list[Summary]:
    summaries: list[Summary] = []
    invalid: list[Any] = []
    for index, raw in enumerate(fields.items("summaries") or ()):
        if raw.__class__ is dict and raw.get("text").__class__ is str:
            summaries.append(_summary(Fields(raw, fields.note, f"{fields.where} summary {index}")))
        else:
            fields.note(Kind.WRONG_TYPE, fields.where, f"summary {index} has no text")
            invalid.append(raw)
    if invalid:
        fields.keep("summaries", invalid)
    return summaries


def _summary(fields: Fields) -> Summary:
    kind = next((kind for kind in _SUMMARY_KINDS if kind == fields.view("type")), None)
    if kind is not None:
        fields.drop("type")
    covered = fields.view("covers_messages")
    last = covered[-1] if covered.__class__ is list and covered and covered[-1].__class__ is str else None
    if last is not None and len(covered) == 1:
        fields.drop("covers_messages")
    return Summary(
        text=fields.text("text") or "",
        kind=kind or _SUMMARY_KINDS[0],
        at=fields.timestamp("timestamp"),
        message_id=last,
        extra=flattened_rest(fields),
    )


def _messages(fields: Fields, conversation_id: str, *, sidechain: bool) -> list[Message]:
    """Convert the messages; each gets a unique id."""
    messages: list[Message] = []
    invalid: list[Any] = []
    seen_ids: set[str] = set()
    for index, raw in enumerate(fields.items("messages") or ()):
        where = f"{fields.where} message {index}"
        if raw.__class__ is not dict:
            fields.note(Kind.WRONG_TYPE, where, f"a message is {type(raw).__name__}")
            invalid.append(raw)
            continue
        message = Fields(raw, fields.note, where)
        message_id = _message_id(message, seen_ids)
        generated_id = ids.made(conversation_id, index) if message_id is None else None
        messages.append(_message(message, message_id, generated_id, sidechain=sidechain))
    if invalid:
        fields.keep("messages", invalid)
    return messages


def _message_id(fields: Fields, seen_ids: set[str]) -> str | None:
    """Get the stated id of a message if no other message has it."""
    stated = fields.text("message_id")
    if stated in seen_ids:
        fields.note(Kind.DUPLICATE_ID, fields.where, stated[:80])
        fields.keep("message_id", stated)
        return None
    if not stated:
        fields.note(Kind.MISSING_ID, fields.where)
        return None
    seen_ids.add(stated)
    return stated


def _message(fields: Fields, stated_id: str | None, generated_id: str | None, *, sidechain: bool) -> Message:
    message_id, message_parts = stated_id or generated_id or "", parts(fields)
    metadata, parent = _nested(fields, "metadata"), fields.text("parent_message_id")
    response_id = metadata.text("response_id")
    return Message(
        id=message_id,
        made_id=stated_id is None,
        role=_role(fields, metadata),
        parent_id=parent if parent != message_id else None,
        at=_time(fields, metadata),
        model=metadata.text("model_override"),
        stop_reason=metadata.text("stop_reason"),
        hidden=_is_set(metadata, "hidden"),
        sidechain=_is_set(metadata, "sidechain") or sidechain,
        response_id=response_id,
        parts=message_parts,
        usage=_usage(fields, response_id),
        extra=flattened_rest(fields),
    )


def _role(fields: Fields, metadata: Fields) -> Role:
    stated = fields.view("role")
    role = role_of(stated)
    if role == stated or (role is not None and metadata.view("role") == stated):
        fields.drop("role")
    elif role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
    return role or "system"


def _time(fields: Fields, metadata: Fields) -> str | None:
    """Get the time of a message, unless the document says that it is inferred."""
    if not _is_set(metadata, "timestamp_inferred"):
        return fields.timestamp("timestamp")
    fields.drop("timestamp")
    return None


def _is_set(metadata: Fields, name: str) -> bool:
    is_set = metadata.view(name) is True
    if is_set:
        metadata.drop(name)
    return is_set


def _usage(fields: Fields, key: str | None) -> Usage | None:
    """Get the tokens, by the schema's names or by those of a vendor's API, and the cost."""
    if not fields.has("tokens") and not fields.has("cost"):
        return None
    tokens, cost = fields.bag("tokens"), _cost(fields)
    is_openai = tokens is not None and "prompt_tokens" in tokens and "input_tokens" not in tokens
    usage = usage_of_openai(tokens, key) if is_openai else usage_of_anthropic(tokens, key)
    if cost is None:
        return usage
    return Usage(key=key, cost_usd=cost) if usage is None else replace(usage, cost_usd=cost)


def _cost(fields: Fields) -> float | None:
    """Get the cost in dollars; other currencies stay."""
    stated = fields.view("cost")
    if stated.__class__ is not dict or stated.get("currency", "USD") != "USD":
        return None
    cost = _nested(fields, "cost")
    amount = cost.decimal("amount")
    cost.drop("currency")
    return amount


def _parents_first(timeline: list[Message], note: Notes, where: str) -> list[Message | Event]:
    """Order messages so that parents come first; cycles and missing parents are noted, cycles are cut."""
    ordered, cut_ids = tree.in_order(timeline)
    for message_id in cut_ids:
        note(Kind.CYCLE, where, message_id[:80])
    known = {message.id for message in timeline}
    dangling = sum(message.parent_id is not None and message.parent_id not in known for message in timeline)
    if dangling:
        note(Kind.DANGLING_PARENT, where, f"{dangling} × message")
    return [replace(entry, parent_id=None) if entry.id in cut_ids else entry for entry in ordered]
