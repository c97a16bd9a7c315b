"""Rich text: the document of the input field, in which some old messages have their only words."""

from __future__ import annotations

from typing import Any

from agent_journal.readers.cursor.values import parsed

_BREAKS = ("paragraph", "linebreak", "code")


def plain(document: Any) -> str:
    """The words of a document: JSON of its tree in a string, or mere text."""
    if not isinstance(document, str) or not document:
        return ""
    tree = parsed(document)
    if not isinstance(tree, dict):
        return document.strip()
    words: list[str] = []
    pending: list[Any] = [tree.get("root", tree)]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if words and node.get("type") in _BREAKS:
            words.append("\n")
        if isinstance(text := node.get("text"), str):
            words.append(text)
        children = node.get("children")
        pending += reversed(children) if isinstance(children, list) else ()
    return "".join(words).strip()
