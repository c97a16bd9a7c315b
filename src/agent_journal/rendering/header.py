"""The header of a conversation: title, source, size, costs and related conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import redaction
from agent_journal.model import ToolCall, tree
from agent_journal.rendering.markdown import prose
from agent_journal.rendering.markup import NOTHING, SLOT, Markup, Template, element, joined
from agent_journal.rendering.time_tags import span
from agent_journal.text import describe
from agent_journal.text.humanize import count, duration

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Feedback, Item, Memory
    from agent_journal.rendering.context import Context
    from agent_journal.rendering.numbers import Costs

_FACT = Template(element("dt", "", SLOT), element("dd", "", SLOT))
_RATINGS = {"up": "👍 Liked", "down": "👎 Disliked"}
_RELATED = {"continues": "Continued in", "subagent": "Subagents", "fork": "Forks"}


def header(conversation: Conversation, context: Context, amounts: list[Markup]) -> Markup:
    """The header of a conversation, with its `amounts` as list items."""
    return element(
        "header",
        "about",
        _back(context),
        element("p", "kicker", *_kicker(conversation, context)),
        element("h1", "", context.title),
        element("ul", "amounts", *amounts),
        _relations(conversation, context),
        _redactions(conversation),
        *_summaries(conversation),
        _overall_feedback(conversation.feedback),
        _facts(conversation, context),
    )


def memory(item: Memory, context: Context) -> Markup:
    """A memory: something a service remembers about the user."""
    title = context.source_title(item.source)
    kicker = [title, " · memory · ", item.kind, *([" · ", span(item.at, None)] if item.at else [])]
    return element(
        "section",
        {"class": "conversation", "id": context.addresses.name},
        element(
            "header",
            "about",
            _back(context),
            element("p", "kicker", *kicker),
            element("h1", "", item.about or context.title),
            _redactions(item),
        ),
        element("article", "turn", prose(item.text)),
    )


def _back(context: Context) -> Markup:
    if context.addresses.index is None:
        return NOTHING
    return element("p", "back", element("a", {"href": context.addresses.index}, "All conversations"))


def _kicker(conversation: Conversation, context: Context) -> list[str]:
    """The source, folder and time of a conversation."""
    title = conversation.product or context.source_title(conversation.source)
    words: list[str] = [" ".join(filter(None, (title, conversation.app_version)))]
    if conversation.cwd:
        words.append(element("code", "", conversation.cwd))
    if when := span(*describe.span(conversation)):
        words.append(when)
    return [piece for word in words for piece in (" · ", word)][1:]


def amounts(conversation: Conversation, costs: Costs) -> list[Markup]:
    """List items with the models, counts, duration, tokens and costs of a whole conversation."""
    messages = [*tree.messages(conversation)]
    calls = sum(isinstance(part, ToolCall) for message in messages for part in message.parts)
    items = [", ".join(describe.models(conversation)), count(len(messages), "message")]
    items += [count(calls, "tool call")] if calls else []
    items += [f"answers {answers}"] if (answers := describe.answers(conversation)) else []
    took_ms = describe.took_ms(*describe.span(conversation))
    items += [f"lasted {duration(took_ms)}"] if took_ms else []
    return [*(element("li", "", item) for item in items if item), *costs.total()]


def _relations(conversation: Conversation, context: Context) -> Markup:
    """Links to the parent conversation, continuations, subagents and forks."""
    lines: list[Markup] = []
    if conversation.link is not None and (address := context.addresses.parent(conversation)) is not None:
        parent = element("a", {"href": address}, conversation.link.conversation_id)
        relation = describe.RELATIONS[conversation.link.relation].capitalize()
        lines.append(element("li", "", f"{relation} ", parent))
    for relation, label in _RELATED.items():
        related = [each for each in context.addresses.related() if each.relation == relation]
        links = [element("a", {"href": each.address}, each.title) for each in related]
        if links:
            lines.append(element("li", "", f"{label}: ", *_comma_separated(links)))
    return element("ul", "relations", *lines) if lines else NOTHING


def _comma_separated(links: list[Markup]) -> list[str]:
    return [piece for link in links for piece in (", ", link)][1:]


def _redactions(item: Item) -> Markup:
    """What was redacted."""
    redactions = redaction.describe_redactions(item)
    return element("p", "redacted", f"Redacted: {redactions}.") if redactions else NOTHING


def _summaries(conversation: Conversation) -> list[Markup]:
    texts = dict.fromkeys(each.text for each in conversation.summaries)
    return [element("div", "summary", prose(each)) for each in texts if each != conversation.title]


def _overall_feedback(feedback: list[Feedback]) -> Markup:
    return joined([feedback_line(each) for each in feedback if each.message_id is None])


def feedback_line(feedback: Feedback) -> Markup:
    """The user's feedback on a message or on the whole conversation."""
    words = [_RATINGS.get(feedback.rating or "", "Feedback"), *([feedback.text] if feedback.text else [])]
    return element("p", "feedback", ": ".join(words))


def _facts(conversation: Conversation, context: Context) -> Markup:
    """All other metadata, folded."""
    origin = conversation.origin
    facts: dict[str, Any] = {
        "Source": conversation.product or context.source_title(conversation.source),
        "ID": conversation.id,
        "Git branch": conversation.git_branch,
        "Git commit": conversation.git_commit,
        "Account": conversation.account_id,
        "Editor": conversation.editor,
        "System": " ".join(filter(None, (conversation.os, conversation.shell))),
        "Tags": ", ".join(conversation.tags),
        "Archived": "yes" if conversation.archived else None,
        "File": origin.file if origin else None,
        "SHA-256": origin.sha256 if origin else None,
    }
    pieces = [_FACT(name, fact) for name, fact in facts.items() if fact]
    if conversation.tools:
        pieces.append(_FACT("Tools", joined(_tool_list(conversation))))
    return element(
        "details",
        "facts",
        element("summary", "", "About this conversation"),
        element("dl", "", *pieces),
    )


def _tool_list(conversation: Conversation) -> list[Markup]:
    """The tools that were offered to the model."""
    return [
        element("p", "", element("code", "", tool.name), f" {tool.description or ''}")
        for tool in conversation.tools
    ]
