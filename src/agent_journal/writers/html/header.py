"""What stands above a conversation: what it is, where it is from, how much it took, what belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import redaction
from agent_journal.model import ToolCall, tree
from agent_journal.text import describe
from agent_journal.text.humanize import count, duration
from agent_journal.writers.html.markup import NOTHING, PLACE, Markup, Pattern, element, joined
from agent_journal.writers.html.prose import prose
from agent_journal.writers.html.time_tags import span

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Feedback, Item, Memory
    from agent_journal.writers.html.costs import Bill
    from agent_journal.writers.rendering.pages import Page

_FACT = Pattern(element("dt", "", PLACE), element("dd", "", PLACE))
_RATINGS = {"up": "👍 Liked", "down": "👎 Not liked"}
_RELATED = {"continues": "Continued in", "subagent": "Subagents", "fork": "Forks"}


def header(conversation: Conversation, page: Page, bill: Bill) -> Markup:
    """The head of a conversation."""
    return element(
        "header",
        "about",
        _back(page),
        element("p", "kicker", *_kicker(conversation, page)),
        element("h1", "", describe.title(conversation)),
        element("ul", "amounts", *_amounts(conversation), *bill.total()),
        _relations(conversation, page),
        _secrets(conversation),
        *_summaries(conversation),
        _told_of_all(conversation.feedback),
        _facts(conversation, page),
    )


def memory(item: Memory, page: Page) -> Markup:
    """Something that a service keeps about a person."""
    title = page.run.titles.get(item.source, item.source)
    kicker = [title, " · memory · ", item.kind, *([" · ", span(item.at, None)] if item.at else [])]
    return element(
        "section",
        {"class": "conversation", "id": page.facts.name},
        element(
            "header",
            "about",
            _back(page),
            element("p", "kicker", *kicker),
            element("h1", "", item.about or page.facts.title),
            _secrets(item),
        ),
        element("article", "turn", prose(item.text)),
    )


def _back(page: Page) -> Markup:
    if page.index is None:
        return NOTHING
    return element("p", "back", element("a", {"href": page.index}, "All conversations"))


def _kicker(conversation: Conversation, page: Page) -> list[str]:
    """Where it is from, and when it was."""
    title = page.run.titles.get(conversation.source, conversation.source)
    words: list[str] = [" ".join(filter(None, (title, conversation.app_version)))]
    if conversation.cwd:
        words.append(element("code", "", conversation.cwd))
    if when := span(*describe.span(conversation)):
        words.append(when)
    return [piece for word in words for piece in (" · ", word)][1:]


def _amounts(conversation: Conversation) -> list[Markup]:
    """How much there is of what."""
    messages = [*tree.messages(conversation)]
    calls = sum(isinstance(part, ToolCall) for message in messages for part in message.parts)
    told = [", ".join(describe.models(conversation)), count(len(messages), "message")]
    told += [count(calls, "tool call")] if calls else []
    told += [f"answers {answers}"] if (answers := describe.answers(conversation)) else []
    took = describe.took_ms(*describe.span(conversation))
    told += [f"lasted {duration(took)}"] if took else []
    return [element("li", "", each) for each in told if each]


def _relations(conversation: Conversation, page: Page) -> Markup:
    """The conversations that it came from and that came out of it."""
    lines: list[Markup] = []
    if conversation.link is not None and (address := _parent(conversation, page)) is not None:
        parent = element("a", {"href": address}, conversation.link.conversation_id)
        relation = describe.RELATIONS[conversation.link.relation].capitalize()
        lines.append(element("li", "", f"{relation} ", parent))
    for relation, label in _RELATED.items():
        kin = [(each, at) for each, at in page.children() if each.relation == relation]
        links = [element("a", {"href": at}, each.title or each.id) for each, at in kin]
        if links:
            lines.append(element("li", "", f"{label}: ", *_separated(links)))
    return element("ul", "relations", *lines) if lines else NOTHING


def _parent(conversation: Conversation, page: Page) -> str | None:
    # Within one document, a message of a conversation that is not in it is nowhere.
    return page.parent(conversation, message=page.index is not None)


def _separated(links: list[Markup]) -> list[str]:
    return [piece for each in links for piece in (", ", each)][1:]


def _secrets(item: Item) -> Markup:
    """What was taken out before this was written."""
    told = redaction.told(item)
    return element("p", "redacted", f"Replaced before this was written: {told}.") if told else NOTHING


def _summaries(conversation: Conversation) -> list[Markup]:
    texts = dict.fromkeys(each.text for each in conversation.summaries)
    return [element("div", "summary", prose(each)) for each in texts if each != conversation.title]


def _told_of_all(feedback: list[Feedback]) -> Markup:
    return joined([opinion(each) for each in feedback if each.message_id is None])


def opinion(feedback: Feedback) -> Markup:
    """What the person thought of a message or of all of it."""
    told = [_RATINGS.get(feedback.rating or "", "Feedback"), *([feedback.text] if feedback.text else [])]
    return element("p", "opinion", ": ".join(told))


def _facts(conversation: Conversation, page: Page) -> Markup:
    """Everything else that is known, folded."""
    origin = conversation.origin
    facts: dict[str, Any] = {
        "Source": page.run.titles.get(conversation.source, conversation.source),
        "Id": conversation.id,
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
        pieces.append(_FACT("Tools", joined(_offered(conversation))))
    return element(
        "details",
        "facts",
        element("summary", "", "About this conversation"),
        element("dl", "", *pieces),
    )


def _offered(conversation: Conversation) -> list[Markup]:
    """The tools that the model could use."""
    return [
        element("p", "", element("code", "", tool.name), f" {tool.description or ''}")
        for tool in conversation.tools
    ]
