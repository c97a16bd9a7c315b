"""A thread as a conversation.

Messages have no times, and only prompts have ids. The tokens of a prompt are those of its last request; what
the thread's total has beyond them becomes a hidden message at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.model import Conversation, Event, Link, Message, Summary, Usage, ids
from agent_journal.readers.dialects.anthropic_blocks import parse_usage
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.zed.messages import ThreadReader

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def from_file(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file with the content of one thread."""
    return conversation(load_document(source, note), Fields({}, note, ""), name)


def conversation(content: Fields, row: Fields, name: str) -> Conversation:
    """Make the conversation of a thread's content and its row in the table."""
    content.drop("ui_scroll_position")
    stated_id = nonempty_str(row.take("id"))
    title = content.text("title") or content.text("summary") or None
    row_title = nonempty_str(row.take("summary"))
    updated_at = content.timestamp("updated_at")
    row_updated_at, created_at = row.timestamp("updated_at"), row.timestamp("created_at")
    thread_id = stated_id or ids.made(name, title, updated_at, content.view("messages"))
    model, provider = _model(content)
    reader = ThreadReader(thread_id, model, content.note)
    usages = content.view("request_token_usage")
    entries = reader.read(content.items("messages") or [], usages)
    if usages.__class__ is dict and len(usages) == sum(_has_usage(entry) for entry in entries):
        content.drop("request_token_usage")
    entries = _with_total(entries, _total(content), thread_id, model)
    summaries = [*reader.summaries, *_summaries(content)]
    folder, branch, commit = _project(content, row)
    link = _link(content, row)
    rest = content.rest()
    row_rest = row.rest()
    return Conversation(
        id=thread_id,
        made_id=stated_id is None,
        source=name,
        title=title or row_title,
        started_at=created_at,
        updated_at=row_updated_at or updated_at,
        model=model,
        cwd=folder,
        git_branch=branch,
        git_commit=commit,
        shape="list",
        link=link,
        timeline=entries,
        summaries=summaries,
        platform={"provider": provider} if provider else {},
        extra=rest | ({"row": row_rest} if row_rest else {}),
    )


def _has_usage(entry: Message | Event) -> bool:
    return isinstance(entry, Message) and entry.usage is not None


def _model(content: Fields) -> tuple[str | None, str | None]:
    model = content.nested("model")
    return (None, None) if model is None else (model.text("model"), model.text("provider"))


def _project(content: Fields, row: Fields) -> tuple[str | None, str | None, str | None]:
    """Return the first folder of the thread's project, and its branch and commit when the thread began."""
    paths = [path for path in (nonempty_str(row.view("folder_paths")) or "").split("\n") if path]
    places = (nonempty_str(row.view("folder_paths_order")) or "").split(",")
    if len(paths) == 1:
        row.drop("folder_paths", "folder_paths_order")
    first = places.index("0") if "0" in places and len(places) == len(paths) else 0
    folder = paths[first] if paths else None
    snapshot = content.view("initial_project_snapshot")
    trees = [*objects(snapshot.get("worktree_snapshots"))] if snapshot.__class__ is dict else []
    own = next((tree for tree in trees if tree.get("worktree_path") == folder), trees[0] if trees else {})
    git = own.get("git_state")
    git = git if git.__class__ is dict else {}
    folder = folder or nonempty_str(own.get("worktree_path"))
    return folder, nonempty_str(git.get("current_branch")), nonempty_str(git.get("head_sha"))


def _link(content: Fields, row: Fields) -> Link | None:
    context = content.view("subagent_context")
    parent = nonempty_str(row.take("parent_id"))
    if parent is None and context.__class__ is dict:
        parent = nonempty_str(context.get("parent_thread_id"))
    return None if parent is None else Link(conversation_id=parent, relation="subagent")


def _summaries(content: Fields) -> list[Summary]:
    text = nonempty_str(content.view("detailed_summary"))
    if text is not None:
        content.drop("detailed_summary")
        return [Summary(text=text)]
    state = content.view("detailed_summary_state")
    state = state.get("Generated") if state.__class__ is dict else None
    text = nonempty_str(state.get("text")) if state.__class__ is dict else None
    return [] if text is None else [Summary(text=text)]


def _total(content: Fields) -> Usage | None:
    total = parse_usage(content.view("cumulative_token_usage"), None)
    if total is not None:
        content.drop("cumulative_token_usage")
    return total


def _with_total(
    entries: list[Message | Event], total: Usage | None, thread_id: str, model: str | None
) -> list[Message | Event]:
    """Add a hidden message with the tokens that the total has and the prompts do not state."""
    if total is None:
        return entries
    stated = [entry.usage for entry in entries if isinstance(entry, Message) and entry.usage is not None]
    left = {
        field: (getattr(total, field) or 0) - sum(getattr(usage, field) or 0 for usage in stated)
        for field in _COUNTS
    }
    if not any(counted(count) for count in left.values()):
        return entries
    more = {field: max(count, 0) for field, count in left.items()}
    usage = replace(total, key=thread_id, **more)
    rest = Message(
        id=f"{thread_id}:usage", made_id=True, role="assistant", model=model, hidden=True, usage=usage
    )
    return [*entries, rest]
